// One session as this page has it: its frames, their fold, and the rows of its timeline.

import { Rows } from "./view/rows.js";
import { EMPTY, reduce } from "./view/view.js";

const SNAPSHOT = 500; // frames between two views that are kept, so that moving through a replay is quick

export class Tape {
  /** @param {string} id */
  constructor(id) {
    this.id = id;
    this.view = EMPTY;
    /** @type {Frame[]} */
    this.frames = [];
    this.rows = new Rows();
    /** @type {View[]} */
    this.snapshots = [EMPTY];
    /** @type {{code: string, sentence: string} | null} why it is followed no more */
    this.ended = null;
  }

  /** @param {Frame} frame */
  push(frame) {
    const before = this.view;
    this.view = reduce(before, frame);
    if (frame.seq == null || this.view === before) return;
    this.frames.push(frame);
    this.rows.push(frame);
    if (this.frames.length % SNAPSHOT === 0) this.snapshots.push(this.view);
  }

  /** What was had does not count: the whole history follows. */
  forget() {
    Object.assign(this, new Tape(this.id));
  }

  /** The view as it was after an event. @param {number} seq */
  at(seq) {
    const start = Math.min(Math.floor(seq / SNAPSHOT), this.snapshots.length - 1);
    return this.frames.slice(start * SNAPSHOT, seq).reduce(reduce, this.snapshots[start]);
  }
}
