// Commands that wait for an answer. Each keeps its id and its text, so that sending it again does no harm.

export const ANSWER_S = 30; // without an answer for so long, a command is sent again
export const SENDS = 10;
export const RETRY_S = 1; // doubled each time, when the server says that trying again can help
const RETRIES = 5;
const COMMANDS = 1000;

export class Unanswered {
  constructor() {
    /** @type {Map<string, Waiting>} */
    this.waiting = new Map();
  }

  /** The same command again is the one that waits already.
   * @param {string} commandId @param {string} event @param {string | null} sessionId @param {object} fields */
  add(commandId, event, sessionId, fields) {
    const place = sessionId === null ? {} : { session_id: sessionId };
    const text = JSON.stringify({ event, ...place, ...fields, command_id: commandId });
    const known = this.waiting.get(commandId);
    if (known?.text === text) return known;
    if (known) throw new Error(`command id ${commandId} is in use for another command`);
    if (this.waiting.size >= COMMANDS) throw new Error(`${COMMANDS} commands wait for an answer already`);
    const waiting = { commandId, event, sessionId, text, due: -Infinity, sends: 0, retries: 0 };
    this.waiting.set(commandId, waiting);
    return waiting;
  }

  /** @param {string} commandId */
  find(commandId) {
    return this.waiting.get(commandId);
  }

  /** @param {string} commandId */
  remove(commandId) {
    this.waiting.delete(commandId);
  }

  /** Those to send now, in the order they were given; each counts as sent. @param {number} now */
  due(now) {
    const found = [...this.waiting.values()].filter((each) => each.due <= now);
    for (const each of found) {
      each.due = now + ANSWER_S;
      each.sends += 1;
    }
    return found;
  }

  /** Whatever was on its way is lost, or its answer is. */
  linkIsNew() {
    for (const each of this.waiting.values()) each.due = -Infinity;
  }

  /** Try one a little later; false when it was put off too often. @param {number} now @param {Waiting} waiting */
  putOff(now, waiting) {
    waiting.due = now + RETRY_S * 2 ** waiting.retries;
    waiting.retries += 1;
    return waiting.retries <= RETRIES;
  }

  /** The server dropped a frame without saying which. @param {number} now */
  putAllOff(now) {
    for (const each of this.waiting.values()) each.due = Math.min(each.due, now + RETRY_S);
  }
}
