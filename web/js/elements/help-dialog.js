// Which keys do what.

import { dialogHead, find, h, hear } from "../dom.js";
import { Part } from "../part.js";

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
    this.append(h("dialog", { "aria-labelledby": "help-title" },
      dialogHead(t, "help-title", t("help")),
      h("dl", {}, ...KEYS.flatMap(([key, name]) => [h("dt", {}, h("kbd", { text: key })), h("dd", { text: t(`key.${name}`) })]))));
  }
}
