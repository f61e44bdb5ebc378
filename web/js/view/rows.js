// The rows of the timeline: one for each of the twelve names, started and ended in one row, grouped by what a human said.

import { ENDS, OUTCOMES, ROWS } from "./telling.generated.js";

export class Rows {
  constructor() {
    /** @type {Row[]} */
    this.list = [];
    /** @type {Map<string, string>} of tasks, by their ids */
    this.titles = new Map();
    /** @type {Map<string, number>} */
    this.open = new Map();
    this.version = 0;
  }

  /** @param {Frame} frame */
  push(frame) {
    const said = frame.metadata ?? {};
    for (const { id, title } of said.tasks ?? []) this.titles.set(id, title);
    const end = ENDS[frame.event], kind = ROWS[frame.event];
    if (end && this.#close(end, frame)) return;
    if (!kind || (kind.timeline && !frame.timeline)) return; // messages of AIs are in the conversation
    const { category, begins, outcome } = kind;
    if (begins) this.open.set(keyOf(begins, said), this.list.length);
    this.version++;
    this.list.push({
      seq: frame.seq ?? 0, name: frame.timeline ?? frame.event, event: frame.event, category, at: frame.timestamp,
      member: frame.source?.member ?? said.member ?? undefined, frame, isHead: category === "input",
      title: said.task?.title ?? this.titles.get(said.task_id) ?? said.task_id ?? "",
      ...(outcome ? { outcome } : {}),
    });
  }

  /** @param {RowEnd} end @param {Frame} frame */
  #close(end, frame) {
    const { span, outcome = frameOutcome(frame), replaces } = end;
    const key = keyOf(span, frame.metadata ?? {}), at = this.open.get(key);
    if (at === undefined) return false;
    this.open.delete(key);
    const row = this.list[at];
    const category = outcome === "failed" ? "errors" : row.category;
    this.list[at] = { ...row, frame: replaces ? frame : row.frame, category, endedAt: frame.timestamp, endSeq: frame.seq, outcome };
    this.version++;
    return true;
  }
}

/** @param {[string, string]} span @param {any} said */
const keyOf = ([name, field], said) => `${name} ${field.split(".").reduce((value, part) => value?.[part], said)}`;

/** @param {Frame} frame */
const frameOutcome = ({ metadata: { outcome } }) => OUTCOMES[outcome] ?? outcome;
