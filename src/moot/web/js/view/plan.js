// The plan flow's part of the view: the work, its tasks and the members' slots, folded from their facts.

import { spend } from "./counters.js";
import { nameOf } from "./names.js";
import { TASKS } from "./tasks.js";
import { begin, move } from "./walk.js";

/** @returns {Work} */
const newWork = (question = "") => ({
  question, workflow: begin("PLAN_LOOP"), summary: "", proposed: [], plan_steps: 0, plan_step: "", problems: [],
  tasks: {}, slots: {}, is_aggregating: false, outcome: "", answer: "",
});

/** @param {(work: Work, said: any, view: View) => Partial<Work>} change
 * @returns {(view: View, said: any) => View} */
const onWork = (change) => (view, said) => {
  const work = view.work ?? newWork();
  return { ...view, work: { ...work, ...change(work, said, view) } };
};

/** A landmark in the conversation. @param {View} view @param {string} name @param {Record<string, string | number>} [params] @returns {View} */
const mark = (view, name, params = {}) => ({ ...view, marks: [...view.marks, { seq: view.seq, name, params }] });

/** @type {Record<string, (view: View, said: any, frame: any) => View>} */
export const PLAN = {
  "workflow.changed"(view, said) {
    if (said.from == null) {
      const work = newWork(said.question ?? "");
      return { ...view, work: { ...work, workflow: { ...begin(said.to), trigger: said.trigger } } };
    }
    return onWork((work) => ({ workflow: move({ ...work.workflow, state: said.from }, said.trigger, said.to) }))(view, said);
  },
  "plan.start": onWork((work, said) => ({
    question: said.question || work.question, proposed: [], plan_steps: 0, plan_step: "", problems: [], outcome: "",
    tasks: TASKS.stopWaiting(work.tasks), is_aggregating: false,
  })),
  "plan.step_completed": onWork((_, said) => ({ plan_steps: said.n, plan_step: said.step })),
  "workflow.plan_refused": onWork((_, said) => ({ problems: said.problems })),
  "plan.completed"(view, said) {
    const planned = onWork(() => ({ proposed: said.tasks, summary: said.plan_summary, problems: [] }))(view, said);
    return mark(planned, "planned", { count: said.tasks.length, summary: said.plan_summary });
  },
  "workflow.plan_approved": onWork((work, said) => ({
    tasks: TASKS.approve(work.tasks, said), proposed: [], is_aggregating: false,
  })),
  "workflow.patched": onWork((work, said) => ({ tasks: TASKS.patch(work.tasks, said), problems: [] })),
  "plan.cancelled": (view, said) =>
    mark(onWork(() => ({ outcome: said.reason, proposed: [], is_aggregating: false }))(view, said), `cancelled.${said.reason}`),
  "agent.interrupted": (view, said) => mark(onWork(() => ({ outcome: said.reason, proposed: [], is_aggregating: false }))(view, said), "interrupted"),
  "aggregate.start": onWork(() => ({ is_aggregating: true })),
  "aggregate.completed": onWork((_, said) => ({ answer: said.text, is_aggregating: false })),
  "pipeline.completed": (view, said) =>
    mark(onWork(() => ({ outcome: said.status }))(view, said), `pipeline.${said.status}`),
  "session.completed": (view) => mark(view, "session_completed"),
  "agent.final_answer"(view, said, frame) {
    const source = frame.source ?? {}, member = said.member;
    const name = nameOf(view, member);
    const author = `${source.loop_id ?? ""}.${source.role ?? ""}`;
    const line = { seq: view.seq, at: view.at, member, name, author, text: said.text };
    const counters = { ...view.counters, messages: view.counters.messages + 1 };
    return { ...view, messages: [...view.messages, line], counters };
  },
  "turn.started": (view, said) => said.job === "review" ? onTask("review_requested")(view, said) : view,
  "member.unavailable": onWork((work, said) => ({
    slots: Object.fromEntries(Object.entries(work.slots).map(([id, walk]) => [
      id, id.split("#")[0] === said.member ? follow(walk, "dispatch_failures_exceeded") : walk,
    ])),
  })),
};

/** The machine of a slot, as core/machines/agent.py has it. @type {Record<string, Record<string, string>>} */
const AGENT = {
  IDLE: { dispatch_ack: "RESERVED", dispatch_failures_exceeded: "BREAKER_OPEN" },
  RESERVED: { task_execution_started: "RUNNING", released: "IDLE" },
  RUNNING: { agent_step_completed: "RUNNING", "task_execution_result:success": "IDLE", "task_execution_result:failure": "ERROR" },
  ERROR: { recover_or_reset: "IDLE" },
  BREAKER_OPEN: { dispatch_ack: "RESERVED" },
};
const HELD = ["DISPATCHING", "DISPATCHED", "RUNNING"];

/** What is no row of the machine changes nothing. @param {Walk} walk @param {string} trigger */
function follow(walk, trigger) {
  const state = AGENT[walk.state][trigger];
  return state ? move(walk, trigger, state) : walk;
}

/** @param {View} view @param {string} id of a task */
const titleOf = (view, id) => view.work?.tasks[id]?.task.title ?? id;

/** A fact about one task, and about the slot that has it.
 * @param {string} name of the change in TASKS @param {string} [slotTrigger] "stopped": the slot is free again
 * @returns {(view: View, said: any) => View} */
function onTask(name, slotTrigger) {
  return (view, said) => onWork((work) => {
    const id = said.task_id ?? said.task?.id, run = work.tasks[id];
    if (!run) return {};
    const tasks = TASKS.settle({ ...work.tasks, [id]: TASKS.change(run, name, said, view.at) });
    const agent = said.agent_id ?? run.agent_id;
    if (!slotTrigger || !agent) return { tasks };
    const slot = work.slots[agent] ?? begin("IDLE");
    const isStopped = slotTrigger === "stopped";
    if (isStopped && !HELD.includes(run.walk.state)) return { tasks };
    return { tasks, slots: { ...work.slots, [agent]: isStopped ? move(slot, "released", "IDLE") : follow(slot, slotTrigger) } };
  })(view, said);
}

Object.assign(PLAN, {
  "task.dispatch_requested": onTask("request", "recover_or_reset"),
  "task.dispatch_acked": onTask("ack", "dispatch_ack"),
  "task.dispatch_nacked": onTask("nack", "released"),
  "solver.start"(/** @type {View} */ view, /** @type {any} */ said) {
    const started = onTask("start", "task_execution_started")(view, said);
    return { ...started, counters: { ...view.counters, turns: view.counters.turns + 1 } };
  },
  "solver.progress": onTask("progress", "agent_step_completed"),
  "solver.completed"(/** @type {View} */ view, /** @type {any} */ said) {
    const done = onTask("complete", "task_execution_result:success")(view, said);
    const { title, id } = said.task ?? {};
    const who = nameOf(view, said.member);
    return mark({ ...done, counters: spend(done.counters, said.usage) }, "task_done", { id, title, who, text: said.result });
  },
  "solver.cancelled": (/** @type {View} */ view, /** @type {any} */ said) =>
    mark(onTask("cancel", "stopped")(view, said), "task_cancelled", { title: said.task?.title ?? "" }),
  "solver.restarted": onTask("restart", "stopped"),
  "task.failed"(/** @type {View} */ view, /** @type {any} */ said) {
    const failed = onTask("fail", "task_execution_result:failure")(view, said);
    const counters = spend({ ...view.counters, failed_turns: view.counters.failed_turns + 1 }, said.usage);
    return mark({ ...failed, counters }, "task_failed", { title: titleOf(view, said.task_id), error: said.error_type, text: said.message });
  },
  "task.lease_expired": onTask("lose_lease", "stopped"),
  "task.reviewed"(/** @type {View} */ view, /** @type {any} */ said) {
    const reviewed = onTask("review")(view, said);
    const who = nameOf(view, said.member), title = titleOf(view, said.task_id);
    return said.pass ? reviewed : mark(reviewed, "task_sent_back", { who, title, text: said.feedback ?? "" });
  },
  "task.blocked": onTask("block"),
  "task.skipped": onTask("skip"),
  "error.recovery_started"(/** @type {View} */ view, /** @type {any} */ said) {
    const told = onTask("retry")(view, said);
    return said.job ? told : mark(told, "task_retried", { title: titleOf(view, said.task_id), n: said.attempt, max: said.max_attempts });
  },
  "task.retry_due": onTask("end_wait"),
});
