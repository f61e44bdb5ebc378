// Commands on their way: each counts once, and outlives a reload of the page until it is answered.

import { recallJson, remember } from "./prefs.js";

const KEPT = 50;

export class Outbox {
  /** @type {Map<string, Sent>} */
  #sent = new Map();

  /** @param {import("./link/socket.js").Socket} socket */
  constructor(socket) {
    this.socket = socket;
  }

  /** Sent as soon as there is a link. Raises RangeError if it is too long. @param {CommandName} event @param {object} fields @param {string | null} session @returns {string} its id */
  send(event, fields, session) {
    const id = `w_${Date.now().toString(36)}_${Math.random().toString(36).slice(2, 10)}`;
    this.socket.send(id, event, fields, session);
    this.#sent.set(id, { id, event, fields, session, seq: 0 });
    this.#keep();
    return id;
  }

  /** What was not answered when the page was left. */
  resend() {
    for (const each of /** @type {Sent[]} */ (recallJson("unsent", []))) {
      this.#sent.set(each.id, each);
      this.socket.send(each.id, each.event, each.fields, each.session);
    }
  }

  /** @param {string} id */
  get(id) {
    return this.#sent.get(id);
  }

  /** Those of a session that are not in its log yet, in order. @param {Tape | null} tape */
  unsentOf(tape) {
    const seq = tape?.seq ?? 0;
    return [...this.#sent.values()].filter((each) => each.session === tape?.id && (each.seq || each.shown || Infinity) > seq);
  }

  /** A message may be in the log before it is known to be accepted: it is not shown twice. @param {Frame} frame */
  recognise({ event, session_id, seq = 0, metadata: said }) {
    if (event !== "message.posted" || !this.#sent.size) return;
    const text = (said.raw ?? said.text).trim();
    const own = [...this.#sent.values()].find((each) => !each.seq && !each.shown && each.session === session_id && each.fields.content?.trim() === text);
    if (own) this.#sent.set(own.id, { ...own, shown: seq });
  }

  /** It is done; a message stays until its event is here. @param {{command_id: string, seq: number}} done @param {Tape | null} tape */
  finish({ command_id, seq }, tape) {
    const command = this.#sent.get(command_id);
    if (command) this.#sent.set(command_id, { ...command, seq });
    const isShown = tape?.id !== command?.session || (tape?.seq ?? 0) >= seq;
    if (isShown || command?.event !== "user.message") this.#sent.delete(command_id);
    this.#keep();
  }

  /** It was refused. @param {string} id @returns {Sent | undefined} the command */
  drop(id) {
    const command = this.#sent.get(id);
    this.#sent.delete(id);
    this.#keep();
    return command;
  }

  #keep() {
    const left = [...this.#sent.values()].filter((each) => !each.seq && each.session);
    remember("unsent", left.length ? JSON.stringify(left.slice(-KEPT)) : null);
  }
}
