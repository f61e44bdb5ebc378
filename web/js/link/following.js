// One session that is followed: how far it is, and whether a frame is what comes next. Unlike protocol/following.py it
// does not recompute hashes: it only sends the last one when it reconnects, and the server compares it.

const RESTARTS = 3; // when the same event is missing again and again

export class Following {
  /** @param {string} sessionId @param {Head} [head] what is had already; hash "" = not known */
  constructor(sessionId, head) {
    this.sessionId = sessionId;
    this.head = head ?? { seq: 0, hash: "" };
    this.ackedSeq = this.head.seq;
    /** @type {number | null} asked where to go on, not answered: what comes now does not count */
    this.askedAt = null;
    this.restarts = 0;
    this.missingSeq = 0;
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
   * @param {Frame} frame
   * @returns {"next" | "old" | "hole"}
   */
  judge(frame) {
    const seq = frame.seq ?? 0, hash = frame.hash ?? "";
    if (this.askedAt !== null || seq <= this.head.seq) return "old";
    if (seq > this.head.seq + 1) return "hole";
    this.head = { seq, hash };
    if (seq > this.missingSeq) this.restarts = 0;
    return "next";
  }

  forget() {
    this.head = { seq: 0, hash: "" };
    this.ackedSeq = 0;
  }

  /** Whether asking again is worth it: not when the same event was missing several times. */
  mayRestart() {
    this.missingSeq = Math.max(this.missingSeq, this.head.seq + 1);
    this.restarts += 1;
    return this.restarts <= RESTARTS;
  }
}
