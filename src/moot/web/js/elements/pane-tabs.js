// On a narrow screen one pane is shown at a time; these choose which.

import { h, keyed, set } from "../dom.js";
import { Part } from "../part.js";

const PANES = ["sessions", "talk", "inspector"];

/** @param {string} pane */
export function showPane(pane) {
  document.documentElement.dataset.pane = pane;
}

export class PaneTabs extends Part {
  /** @param {App} app */
  render(app) {
    const current = document.documentElement.dataset.pane ?? "talk";
    this.setAttribute("role", "navigation");
    this.setAttribute("aria-label", app.t("panes"));
    const questions = app.view?.questions.length ?? 0;
    keyed(this, PANES, (pane) => pane, (pane) => h("button", {
      onclick: () => { showPane(pane); app.changed(); },
    }));
    PANES.forEach((pane, at) => set(this.children[at], {
      text: app.t(`pane.${pane}`) + (pane === "talk" && questions ? ` (${questions})` : ""),
      "aria-pressed": String(pane === current),
    }));
  }
}
