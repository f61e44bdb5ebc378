// Where each machine of a session stands, and how it came there as far as this page has seen it.

import { slotName } from "../view/names.js";

export class Walks {
  /** @type {Map<string, Walk>} */
  #walks = new Map();

  /** @param {View} view */
  see(view) {
    for (const { id, state } of statesOf(view)) this.walk(id, state);
  }

  /** @param {string} id @param {string} state @returns {Walk} */
  walk(id, state) {
    const before = this.#walks.get(id);
    if (before?.state === state) return before;
    const seen = before && !before.seen.includes(state) ? [...before.seen, state] : before?.seen ?? [state];
    const walk = { state, from: before?.state ?? "", trigger: "", seen };
    this.#walks.set(id, walk);
    return walk;
  }
}

/** @param {View} view @returns {{id: string, machine: string, about: string, state: string}[]} */
function statesOf(view) {
  /** @type {[string, string, string, string][]} machine, key, what it is about, state */
  const states = [["session", "", "", view.status]];
  const { work } = view;
  if (work) {
    states.unshift(["workflow", "", "", work.status]);
    for (const id of work.order) states.push(["task", id, work.tasks[id].task.title, work.tasks[id].state]);
    for (const [id, state] of Object.entries(work.slots)) states.push(["agent", id, slotName(view, id), state]);
  }
  if (view.is_steered) states.push(["input_routing", "", "", view.input_routing], ["interrupt", "", "", view.interrupt]);
  return states.map(([machine, key, about, state]) => ({ id: `${machine} ${key}`, machine, about, state }));
}

/** @param {App} app @returns {Lit[]} */
export function walks({ view, tape, replay, connection, machines, seq }) {
  const states = view ? statesOf(view) : [];
  const lit = states.map(({ id, machine, about, state }) => {
    const walk = machine === "workflow" ? workflow(tape, seq, state) : tape && !replay ? tape.walks.walk(id, state) : begin(state);
    const rows = machines.find((each) => each.name === machine)?.transitions.filter((/** @type {Wire.Transition} */ row) => row.from === walk.from && row.to === walk.state) ?? [];
    return { id, machine, about, walk: rows.length === 1 && !walk.trigger ? { ...walk, trigger: rows[0].trigger } : walk };
  });
  return [...lit, { id: "connection ", machine: "connection", about: "", walk: begin(connection.state) }];
}

/** @param {string} state @returns {Walk} */
const begin = (state) => ({ state, from: "", trigger: "", seen: [state] });

/** The log tells every move of the workflow. @param {Tape | null} tape @param {number} seq @param {string} state @returns {Walk} */
function workflow(tape, seq, state) {
  const moves = (tape?.frames ?? []).filter((frame) => frame.event === "workflow.changed" && (frame.seq ?? 0) <= seq).map((frame) => frame.metadata);
  const ours = moves.slice(moves.findLastIndex((move) => move.from == null)), last = ours.at(-1);
  if (last?.to !== state) return begin(state); // another place of a replay is still on its way
  return { state, from: last.from ?? "", trigger: last.trigger, seen: [...new Set(ours.map((move) => move.to))] };
}
