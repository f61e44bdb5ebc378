// How far a task is, in the columns of a board.

/** @type {Record<string, string>} */
const COLUMNS = {
  CREATED: "ready", READY: "ready", DISPATCHING: "dispatching", DISPATCH_FAILED: "dispatching", DISPATCHED: "dispatching",
  RUNNING: "running", EXECUTION_FAILED: "running", EXECUTION_SUCCEEDED: "review", REVIEWING: "review",
  REWORK_REQUIRED: "review", DONE: "done", BLOCKED: "failed", CANCELLED: "failed",
};

/** @param {TaskRun} run */
export const columnOf = (run) => (run.is_skipped ? "done" : COLUMNS[run.state] ?? "ready");
