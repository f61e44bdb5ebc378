// How a task evolves from its offer to its end, as core/plan/fold_tasks.py tells it; here to be shown, never to decide.

import { begin, move } from "./walk.js";

/** @param {Task} task @returns {TaskRun} */
const newRun = (task) => ({
  task, walk: begin("CREATED"), attempt: 1, retries: 0, max_attempts: 0, retry_at: "", agent_id: "", member: "",
  done: 0, total: null, percent: null, step: "", result: "", error_type: "", message: "", feedback: "", is_skipped: false, place: null, started_at: "",
});

/** @param {string} at @param {number} seconds */
const later = (at, seconds) => new Date(Date.parse(at) + seconds * 1000).toISOString();

/** @param {TaskRun} run @param {string} trigger @param {string} state @param {Partial<TaskRun>} [more] @returns {TaskRun} */
const to = (run, trigger, state, more = {}) => ({ ...run, ...more, walk: move(run.walk, trigger, state) });

/** @param {TaskRun} run */
const nextAttempt = (run) =>
  to(run, "retry_or_reassign", "READY", { attempt: run.attempt + 1, retry_at: "" });

/** @type {Record<string, (run: TaskRun, said: any, at: string) => TaskRun>} */
const CHANGES = {
  request: (run, said) => to(run, "orchestrator_dispatch", "DISPATCHING", {
    agent_id: said.agent_id, member: said.member, attempt: said.attempt, retry_at: "",
  }),
  ack: (run, said) => to(run, "dispatch_ack", "DISPATCHED", { place: said.place ?? null }),
  nack(run, said, at) {
    const trigger = run.walk.state === "DISPATCHED" ? "start_timeout" : said.reason === "timeout" ? "timeout" : "dispatch_nack";
    const waits = said.retry_in_s ? later(at, said.retry_in_s) : "";
    const failed = to(run, trigger, "DISPATCH_FAILED", { message: said.reason, retry_at: waits });
    return said.retry_in_s === 0 ? to(failed, "recoverable_retry", "READY") : failed;
  },
  start: (run, _, at) => to(run, "task_execution_started", "RUNNING", {
    message: run.error_type ? run.message : "", started_at: at, done: 0, total: null, percent: null, step: "" }),
  progress: (run, said) => said.done < run.done ? run : to(run, "task_progress", "RUNNING", {
    done: said.done, total: said.total, percent: said.percent, step: said.step,
  }),
  complete(run, said) {
    const done = to(run, "task_execution_result:success", "EXECUTION_SUCCEEDED", {
      result: said.result, retries: 0, error_type: "", message: "",
    });
    return said.awaits_review ? done : to(done, "review_off", "DONE");
  },
  fail: (run, said) => to(run, "task_execution_result:failure", "EXECUTION_FAILED", {
    error_type: said.error_type, message: said.message,
  }),
  lose_lease: (run) => to(run, "lease_expired", "READY"),
  retry(run, said, at) {
    if (said.job) return run;
    const counted = { ...run, retries: said.attempt, max_attempts: said.max_attempts };
    return said.delay_s ? { ...counted, retry_at: later(at, said.delay_s) } : nextAttempt(counted);
  },
  end_wait: (run) => run.walk.state === "DISPATCH_FAILED"
    ? to(run, "recoverable_retry", "READY", { retry_at: "" })
    : nextAttempt(run),
  review_requested: (run) => run.walk.state === "EXECUTION_SUCCEEDED" ? to(run, "review_requested", "REVIEWING") : run,
  review(run, said) {
    if (said.pass) return to(run, "review_pass", "DONE");
    const rejected = to(run, "review_reject", "REWORK_REQUIRED", { feedback: said.feedback ?? "" });
    if (!said.is_reworked) return rejected;
    return to(rejected, "replan_or_retry", "READY", { attempt: run.attempt + 1 });
  },
  block: (run) => to(run, "retries_exhausted", "BLOCKED", { retry_at: "" }),
  skip: (run) => ({ ...run, is_skipped: true, retry_at: "" }),
  cancel: (run) => to(run, "cancelled", "CANCELLED", { retry_at: "" }),
  restart: (run, said) => ({
    ...newRun(said.task), attempt: run.attempt + 1, feedback: run.feedback, member: said.member ?? "",
  }),
};

/** @param {TaskRun} run */
export const isFinished = (run) => run.walk.state === "DONE" || run.is_skipped;

export const TASKS = {
  /** @param {TaskRun} run @param {string} name @param {any} said @param {string} at */
  change: (run, name, said, at) => CHANGES[name](run, said, at),

  /** Tasks whose dependencies are finished may start. @param {Runs} runs @returns {Runs} */
  settle(runs) {
    const settled = { ...runs };
    for (const [id, run] of Object.entries(runs)) {
      if (run.walk.state !== "CREATED" || run.is_skipped) continue;
      const isFree = (run.task.depends_on ?? []).every((needed) => !runs[needed] || isFinished(runs[needed]));
      if (isFree) settled[id] = to(run, "deps_satisfied", "READY");
    }
    return settled;
  },

  /** @param {Runs} before @param {{tasks: Task[], kept?: string[]}} said */
  approve(before, { tasks, kept = [] }) {
    const runs = tasks.map((task) => [task.id, kept.includes(task.id) && before[task.id] ? { ...before[task.id], task } : newRun(task)]);
    return TASKS.settle(Object.fromEntries(runs));
  },

  /** What waited to be tried again belongs to the plan before. @param {Runs} runs @returns {Runs} */
  stopWaiting: (runs) => Object.fromEntries(Object.entries(runs).map(([id, run]) => [id, { ...run, retry_at: "" }])),

  /** @param {Runs} before @param {{tasks: Task[]}} said */
  patch(before, { tasks }) {
    const runs = tasks.map((task) => {
      const known = before[task.id];
      if (!known) return [task.id, newRun(task)];
      const isReady = known.walk.state === "READY";
      return [task.id, { ...known, task, ...(isReady ? { walk: begin("CREATED") } : {}) }];
    });
    return TASKS.settle(Object.fromEntries(runs));
  },
};
