// Which keys do what.

import { find, h } from "../dom.js";
import { Part } from "../part.js";
import { recall, remember } from "../prefs.js";

const KEYS = [
  ["Enter", "send"], ["Shift+Enter", "newline"], ["Esc", "pause"], ["Ctrl+K", "palette"], ["F6", "panes"], ["/", "composer"],
  ["[ ]", "sessions"], ["J K", "rows"], ["A E R", "card"], ["Alt+← →", "queue"], ["?", "help"],
];

export class HelpDialog extends Part {
  connectedCallback() {
    document.addEventListener("moot-help", () => /** @type {HTMLDialogElement} */ (find(this, "dialog")).showModal());
  }

  /** @param {Translate} t */
  build(t) {
    const dialog = h("dialog", { "aria-labelledby": "help-title" });
    const letters = h("input", { type: "checkbox", checked: recall("letters") !== "off", onchange: (event) => remember("letters", event.target.checked ? null : "off") });
    dialog.append(
      h("header", {}, h("h2", { id: "help-title", text: t("help") }), h("button", { type: "button", class: "ghost", text: "✕", "aria-label": t("close"), onclick: () => /** @type {HTMLDialogElement} */ (dialog).close() })),
      h("dl", {}, ...KEYS.flatMap(([key, name]) => [h("dt", {}, h("kbd", { text: key })), h("dd", { text: t(`key.${name}`) })])),
      h("label", { class: "letters" }, letters, h("span", { text: t("letters") })));
    this.append(dialog);
  }
}
