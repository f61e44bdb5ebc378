// What is shown before a session is open.

import { find, h, set, tell } from "../dom.js";
import { Part } from "../part.js";

export class StartPage extends Part {
  /** @param {Translate} t */
  build(t) {
    this.append(h("h2", {}), h("button", { class: "primary new", text: t("new_session"), onclick: () => tell("new") }), h("p", { text: t("scripted.all") }));
  }

  /** @param {App} app */
  render({ t, tape, teams, sessions, mayCreate }) {
    set(this, { hidden: !!tape });
    set(find(this, "h2"), { text: t(sessions.length ? "pick_session" : "no_sessions") });
    set(find(this, ".new"), { hidden: !mayCreate });
    set(find(this, "p"), { hidden: !mayCreate || !teams.length || !teams.every((each) => each.scripted) });
  }
}
