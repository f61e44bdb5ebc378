// What a screen reader says: who begins, a message once it is finished, whose turn it is; errors at once.

import { h } from "../dom.js";
import { Part } from "../part.js";
import { withoutDecision } from "../view/supervisor.js";
import { nameOf } from "../view/names.js";

const SPOKEN_CHARS = 200;
const LOSS_MS = 5_000;

export class LiveRegion extends Part {
  polite = h("p", { "aria-live": "polite" });
  assertive = h("p", { "aria-live": "assertive" });
  /** @type {View | null} */
  #before = null;
  #isLossSaid = false;

  build() {
    this.append(this.polite, this.assertive);
    this.#before = null;
  }

  /** @param {App} app @param {View | null} view */
  render(app, view) {
    const before = this.#before;
    this.#before = view;
    if (!view || !before || app.replay || before.session_id !== view.session_id || view.seq - before.seq > 200) return;
    const said = [];
    for (const turn of view.running) {
      if (!before.running.some((each) => each.turn_id === turn.turn_id)) said.push(app.t("live.acts", { name: turn.name }));
    }
    for (const line of view.messages.slice(-3)) {
      const text = view.flow === "supervisor" ? withoutDecision(line.text) : line.text;
      if (line.seq > before.seq && text) said.push(`${line.name}: ${text.slice(0, SPOKEN_CHARS)}`);
    }
    for (const notice of view.notices.slice(-2)) if (notice.seq > before.seq) said.push(notice.text);
    for (const each of view.questions) if (each.seq > before.seq) said.push(`${app.t("live.asks")} ${each.text}`);
    const isMine = view.waiting_for !== null && view.waiting_for === app.speaksAs;
    if (isMine && view.seq > before.seq && before.status !== "paused") said.push(app.t("live.your_turn"));
    else if (view.waiting_for && before.status !== "paused") said.push(app.t("status.waiting", { name: nameOf(view, view.waiting_for) }));
    if (said.length) this.polite.textContent = said.join("\n");
  }

  tick() {
    const { state, since } = this.app.connection;
    const isLost = state !== "CONNECTED" && this.app.me !== null && Date.now() - since > LOSS_MS;
    if (isLost && !this.#isLossSaid) this.assertive.textContent = this.app.t("live.lost");
    if (!isLost && this.#isLossSaid) this.assertive.textContent = this.app.t("live.back");
    this.#isLossSaid = isLost;
  }
}
