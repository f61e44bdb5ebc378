// What a screen reader says: who begins, a message once it is finished, whose turn it is; errors at once.

import { h } from "../dom.js";
import { Part } from "../part.js";
import { nameOf } from "../view/names.js";
import { noteText } from "../view/note-text.js";

const SPOKEN_CHARS = 200;
const LOSS_MS = 5_000;

export class LiveRegion extends Part {
  polite = h("p", { "aria-live": "polite" });
  assertive = h("p", { "aria-live": "assertive" });
  /** @type {{id: string, seq: number, view: View} | null} */
  #before = null;
  #isLossSaid = false;

  build() {
    this.append(this.polite, this.assertive);
    this.#before = null;
  }

  /** @param {App} app @param {View | null} view */
  render(app, view) {
    const before = this.#before, { tape, seq, t } = app;
    this.#before = view && tape ? { id: tape.id, seq, view } : null;
    if (!view || !tape || !before || app.replay || before.id !== tape.id) return;
    const said = [], was = before.view, isBurst = seq - before.seq > 200; // of what came all at once only the end is told
    for (const turn of isBurst ? [] : view.running) {
      if (!was.running.some((each) => each.turn_id === turn.turn_id)) said.push(t("live.acts", { name: nameOf(view, turn.member) }));
    }
    for (const { kind, item } of isBurst ? [] : tape.conversation.items.slice(-5).filter((each) => each.seq > before.seq)) {
      if (kind === "message") said.push(`${nameOf(view, item.metadata.member)}: ${item.text.slice(0, SPOKEN_CHARS)}`);
      if (kind === "notice") said.push(noteText(app, kind, item).text);
    }
    for (const each of view.questions) if (!was.questions.some((asked) => asked.step_id === each.step_id)) said.push(`${t("live.asks")} ${each.text}`);
    if (view.waiting_for && was.status !== "paused") {
      const isMine = view.waiting_for === app.speaksAs;
      said.push(isMine ? t("live.your_turn") : t("status.waiting", { name: nameOf(view, view.waiting_for) }));
    }
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
