// One session as this page has it: its frames, its view, its conversation, the rows of its timeline.

import { Walks } from "./machine/walks.js";
import { Conversation } from "./view/conversation.js";
import { merge } from "./view/merge.js";
import { Rows } from "./view/rows.js";

const STREAMED = new Set(["turn.delta", "solver.delta", "turn.thinking"]);

export class Tape {
  /** @param {string} id */
  constructor(id) {
    this.id = id;
    /** @type {Frame[]} */
    this.frames = [];
    /** @type {View | null} as the server projects it; null before it has come */
    this.view = null;
    this.conversation = new Conversation();
    this.rows = new Rows();
    this.walks = new Walks();
    /** @type {{code: string, sentence: string} | null} why it is followed no more */
    this.ended = null;
  }

  /** The last event that is here. */
  get seq() {
    return this.frames.length;
  }

  /** @param {Frame} frame */
  push(frame) {
    if (frame.event === "session.view") this.#show(frame.metadata);
    else if (frame.seq == null) {
      if (STREAMED.has(frame.event)) this.conversation.stream(frame);
    } else if (frame.seq > this.seq) {
      this.frames.push(frame);
      this.rows.push(frame);
      this.conversation.push(frame);
    }
  }

  /** @param {Wire.ViewChanged} change */
  #show({ view, whole }) {
    const shown = /** @type {View} */ (merge(whole ? {} : this.view, view));
    this.view = shown;
    this.conversation.settle(shown);
    this.walks.see(shown);
  }

  /** What was had does not count: the whole history follows. */
  forget() {
    Object.assign(this, new Tape(this.id));
  }
}
