// The rows of the timeline: one for each of the twelve names, started and ended in one row, grouped by what a human said.

/** @type {Record<string, string>} */
const CATEGORIES = {
  user_input_received: "input",
  semantic_understanding_started: "semantic", semantic_understanding_completed: "semantic",
  routing_decision_made: "routing", phase_transition: "flow", user_confirmation_required: "steps",
  task_dispatch_requested: "dispatch", task_dispatch_ack: "dispatch", task_dispatch_nack: "errors",
  task_execution_started: "steps", agent_step_completed: "steps", task_execution_result: "steps",
  task_review_result: "steps", "plan.reviewed": "steps", "aggregate.reviewed": "steps", "workflow.evaluated": "flow",
  "supervisor.decided": "routing", "supervisor.reviewed": "steps",
  "turn.started": "steps", "turn.failed": "errors", "turn.cancelled": "errors", "error.execution": "errors",
  "error.recovery_started": "errors", "error.recovery_failed": "errors", "error.recovery_success": "errors",
  "turn.parked": "errors", "workspace.checked": "steps", "workspace.merged": "flow", "workspace.conflicted": "errors", "workspace.taken": "flow",
  "session.completed": "flow", "plan.cancelled": "flow", "agent.interrupted": "flow", "pipeline.completed": "flow",
};

/** Which event begins what this one ends, and how it ended. @type {Record<string, [string, (said: any) => string, string]>} */
const ENDS = {
  "understanding.completed": ["understanding", (said) => said.input_id, "ok"],
  "task.dispatch_acked": ["dispatch", (said) => said.dispatch_id, "ok"],
  "solver.completed": ["run", (said) => said.dispatch_id, "ok"],
  "task.failed": ["run", (said) => said.dispatch_id, "failed"],
  "turn.completed": ["turn", (said) => said.turn_id, "ok"],
  "turn.failed": ["turn", (said) => said.turn_id, "failed"],
  "turn.cancelled": ["turn", (said) => said.turn_id, "cancelled"],
  "agent.user_confirm_closed": ["step", (said) => said.step_id, "ok"],
};
/** @type {Record<string, [string, (said: any) => string]>} */
const BEGINS = {
  "understanding.started": ["understanding", (said) => said.input?.input_id],
  "task.dispatch_requested": ["dispatch", (said) => said.dispatch_id],
  "solver.start": ["run", (said) => said.dispatch_id],
  "turn.started": ["turn", (said) => said.turn_id],
  "agent.user_confirm": ["step", (said) => said.step_id],
};

const DONE = new Set(["error.recovery_success", "workspace.merged", "workspace.taken"]); // good news in one event

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
    const ends = ENDS[frame.event];
    if (ends && this.#close(`${ends[0]} ${ends[1](said)}`, frame, outcomeOf(frame, ends[2]))) return;
    const name = frame.timeline ?? frame.event, category = CATEGORIES[name];
    if (!category) return;
    const begins = BEGINS[frame.event];
    if (begins) this.open.set(`${begins[0]} ${begins[1](said)}`, this.list.length);
    this.version++;
    this.list.push({
      seq: frame.seq ?? 0, name, event: frame.event, category, at: frame.timestamp,
      member: frame.source?.member ?? said.member ?? undefined, frame, isHead: category === "input",
      title: said.task?.title ?? this.titles.get(said.task_id) ?? said.task_id ?? "",
      ...(DONE.has(frame.event) ? { outcome: "ok" } : category === "errors" ? { outcome: "failed" } : {}),
    });
  }

  /** @param {string} key @param {Frame} frame @param {string} outcome */
  #close(key, frame, outcome) {
    const at = this.open.get(key);
    if (at === undefined) return false;
    this.open.delete(key);
    const row = this.list[at];
    const category = outcome === "failed" ? "errors" : row.category;
    const told = frame.event === "understanding.completed" ? frame : row.frame;
    this.list[at] = { ...row, frame: told, category, endedAt: frame.timestamp, endSeq: frame.seq, outcome };
    this.version++;
    return true;
  }
}

/** @param {Frame} frame @param {string} outcome */
function outcomeOf(frame, outcome) {
  const closed = frame.metadata?.outcome;
  return closed && closed !== "answered" ? closed : outcome;
}
