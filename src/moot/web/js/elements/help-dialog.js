// Which keys do what.

import { dialogHead, find, h, hear } from "../dom.js";
import { Part } from "../part.js";
import { recall, remember } from "../prefs.js";

/** What can be chosen: its word, where it is remembered, and what is remembered when it is not as usual. */
const CHOICES = [["letters", "letters", "off", true], ["ctrl_enter", "enter", "breaks", false]];
const KEYS = [
  ["Enter", "send"], ["Shift+Enter", "newline"], ["Esc", "pause"], ["Ctrl+K", "palette"], ["F6", "panes"], ["F2", "rename"], ["/", "composer"],
  ["[ ]", "sessions"], ["J K", "rows"], ["A E R", "card"], ["Alt+← →", "queue"], ["?", "help"],
];

export class HelpDialog extends Part {
  connectedCallback() {
    hear("help", () => find(this, "dialog").showModal());
  }

  /** @param {Translate} t */
  build(t) {
    const choices = CHOICES.map(([name, key, other, usual]) => h("label", {}, h("input", {
      type: "checkbox", checked: (recall(String(key)) !== other) === usual,
      onchange: (event) => { remember(String(key), event.target.checked === usual ? null : String(other)); this.app.changed(); },
    }), h("span", { text: t(String(name)) })));
    this.append(h("dialog", { "aria-labelledby": "help-title" },
      dialogHead(t, "help-title", t("help")),
      h("dl", {}, ...KEYS.flatMap(([key, name]) => [h("dt", {}, h("kbd", { text: key })), h("dd", { text: t(`key.${name}`) })])),
      h("div", { class: "choices" }, ...choices)));
  }
}
