// On a narrow screen one pane is shown at a time; these choose which.

import { h, keyed, set } from "../dom.js";
import { icon } from "../icons.js";
import { Part } from "../part.js";
import { countNeeds } from "../view/needs.ts";

const PANES = ["sessions", "talk", "inspector"];
/** @type {Record<string, string>} */
const ICONS = { sessions: "inbox", talk: "chat", inspector: "work" };

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
    const badges = { sessions: countNeeds(app.sessions, app.me?.member ?? null), talk: app.tape ? app.view?.questions.length ?? 0 : 0, inspector: 0 };
    keyed(this, PANES, (pane) => `${pane} ${app.language}`, (pane) => h("button", {
      onclick: () => {
        showPane(pane);
        if (pane === "sessions") void app.listing.lookIntoInbox();
        app.changed();
      },
    }, icon(ICONS[pane]), h("span", { text: app.t(`pane.${pane}`) }), h("span", { class: "badge" })));
    PANES.forEach((pane, at) => {
      const count = badges[/** @type {keyof typeof badges} */ (pane)];
      set(this.children[at], { "aria-pressed": String(pane === current) });
      set(/** @type {Element} */ (this.children[at].lastElementChild), { text: String(count), hidden: !count });
    });
  }
}
