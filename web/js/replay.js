// Going through a session again: its view after one event, as the server projects it.

import { api } from "./api.js";

const SPEEDS = [1, 4, 16];
const LONGEST_MS = 2_000; // a night between two messages is not waited for

export class Replay {
  #isLoading = false;
  #shown = 0;

  /** @param {Tape} tape @param {Language} language @param {() => void} changed */
  constructor(tape, language, changed) {
    this.tape = tape;
    this.language = language;
    this.changed = changed;
    this.seq = this.#shown = tape.seq;
    this.view = tape.view;
    this.speed = 1;
    /** @type {ReturnType<typeof setTimeout> | null} */
    this.timer = null;
  }

  get isPlaying() {
    return this.timer !== null;
  }

  get last() {
    return this.tape.seq;
  }

  /** When the event happened. */
  get at() {
    return this.tape.frames[this.seq - 1]?.timestamp ?? "";
  }

  /** @param {number} seq */
  go(seq) {
    this.seq = Math.max(1, Math.min(seq, this.last));
    void this.#load();
    this.changed();
  }

  /** One request at a time; whoever moves on meanwhile is shown the newest place alone. */
  async #load() {
    if (this.#isLoading) return;
    this.#isLoading = true;
    try {
      while (this.#shown !== this.seq) {
        const { seq } = this, { state } = await api.session(this.tape.id, seq, this.language);
        this.view = state;
        this.#shown = seq;
        this.changed();
      }
    } catch {
      // the connection line says what is wrong; the next move asks again
    } finally {
      this.#isLoading = false;
    }
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
