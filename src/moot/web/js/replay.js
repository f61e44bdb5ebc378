// Going through a session again: everything shown is folded from its log up to one event.

const SPEEDS = [1, 4, 16];
const LONGEST_MS = 2_000; // a night between two messages is not waited for

export class Replay {
  /** @param {Tape} tape @param {() => void} changed */
  constructor(tape, changed) {
    this.tape = tape;
    this.changed = changed;
    this.seq = tape.view.seq;
    this.view = tape.view;
    this.speed = 1;
    /** @type {ReturnType<typeof setTimeout> | null} */
    this.timer = null;
  }

  get isPlaying() {
    return this.timer !== null;
  }

  get last() {
    return this.tape.view.seq;
  }

  /** @param {number} seq */
  go(seq) {
    this.seq = Math.max(1, Math.min(seq, this.last));
    this.view = this.tape.at(this.seq);
    this.changed();
  }

  play() {
    if (this.isPlaying) return this.stop();
    if (this.seq >= this.last) this.go(1);
    this.#wait();
    this.changed();
  }

  stop() {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.changed();
  }

  faster() {
    this.speed = SPEEDS[(SPEEDS.indexOf(this.speed) + 1) % SPEEDS.length];
    this.changed();
  }

  #wait() {
    const now = this.tape.frames[this.seq - 1], next = this.tape.frames[this.seq];
    if (!now || !next) return this.stop();
    const gap = Math.min(LONGEST_MS, Date.parse(next.timestamp) - Date.parse(now.timestamp));
    this.timer = setTimeout(() => {
      this.go(this.seq + 1);
      this.#wait();
    }, Math.max(30, gap / this.speed));
  }
}
