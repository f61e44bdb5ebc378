// One session that is followed: how far it is, and whether a frame is what comes next (protocol/following.py).

import { storedText } from "./raw.js";
import { sha256 } from "./sha256.js";

const RESTARTS = 3; // of the history, when the same place does not verify again and again

export class Following {
  /** @param {string} sessionId @param {Head} [head] what is had already; hash "" = not known */
  constructor(sessionId, head) {
    this.sessionId = sessionId;
    this.head = head ?? { seq: 0, hash: "" };
    this.ackedSeq = this.head.seq;
    /** @type {number | null} asked where to go on, not answered: what comes now does not count */
    this.askedAt = null;
    this.restarts = 0;
    this.brokenAt = 0;
  }

  get unacked() {
    return this.head.seq - this.ackedSeq;
  }

  /** The frame that asks for what is missing. @param {number} now */
  ask(now) {
    this.askedAt = now;
    const session_id = this.sessionId;
    if (!this.head.seq) return { event: "user.reconnect", session_id };
    const frame = { event: "user.reconnect_with_state", session_id, last_seq: this.head.seq };
    return this.head.hash ? { ...frame, state_checksum: this.head.hash } : frame;
  }

  /**
   * Whether this is the next event; only then the cursor moves.
   * @param {Frame} frame @param {string} text
   * @returns {"next" | "old" | "hole" | "broken"}
   */
  judge(frame, text) {
    const seq = frame.seq ?? 0, hash = frame.hash ?? "";
    if (this.askedAt !== null || seq <= this.head.seq) return "old";
    if (seq > this.head.seq + 1) return "hole";
    const stored = storedText(text, frame);
    const isKnown = this.head.hash !== "" || this.head.seq === 0;
    if (stored === null || (isKnown && sha256(this.head.hash + stored) !== hash)) return "broken";
    this.head = { seq, hash };
    if (seq > this.brokenAt) this.restarts = 0;
    return "next";
  }

  forget() {
    this.head = { seq: 0, hash: "" };
    this.ackedSeq = 0;
  }

  /** Whether asking for the history again is worth it: not when it broke at the same place several times. */
  mayRestart() {
    this.brokenAt = Math.max(this.brokenAt, this.head.seq + 1);
    this.restarts += 1;
    return this.restarts <= RESTARTS;
  }
}
