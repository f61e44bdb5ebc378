// Folds sessions (one JSON array of frames a line) and writes what both reducers must agree on, after every frame.

import { createInterface } from "node:readline";

import { EMPTY, reduce } from "../../../src/moot/web/js/view/view.js";

for await (const line of createInterface({ input: process.stdin })) {
  let view = EMPTY;
  const steps = JSON.parse(line).map((frame) => project(view = reduce(view, frame)));
  process.stdout.write(`${JSON.stringify(steps)}\n`);
}

function project(view) {
  const { seq, status, waiting_for, pause_reason, executing, pending, hops, title, counters, work, supervision: job } = view;
  return {
    seq, status, waiting_for, pause_reason, executing, pending, hops, title,
    counters: [counters.messages, counters.turns, counters.failed_turns, counters.tokens],
    messages: view.messages.map((each) => [each.seq, each.member, each.text]),
    notices: view.notices.map((each) => [each.seq, each.text]),
    questions: view.questions.map((each) => [each.step_id, each.kind, each.text, (each.tasks ?? []).map((task) => task.id)]),
    running: view.running.map((each) => [each.turn_id, each.steps.length, each.streamed, each.thinking]),
    supervision: job && {
      goal: job.goal, acting: job.acting, steps: job.steps, outcome: job.outcome, reason: job.reason, state: job.state,
      writers: job.writers, review: job.review && [job.review.approved, job.review.iteration, job.review.fallback ?? null],
      choices: job.choices.map((each) => [each.seq, each.next, each.corrected_from ?? null, each.fault]),
      tools: job.tools.map((each) => [each.call_id, each.agent, each.name, each.round, each.is_done, each.error]),
    },
    work: work && {
      status: work.workflow.state, summary: work.summary, answer: work.answer, is_aggregating: work.is_aggregating,
      tasks: Object.values(work.tasks).map((run) => [
        run.task.id, run.walk.state, run.member, run.attempt, run.retries, run.done, run.total, run.result, run.error_type,
        run.message, run.feedback, run.is_skipped, run.retry_at !== "",
      ]),
      slots: work.slots && Object.fromEntries(Object.entries(work.slots).map(([id, walk]) => [id, walk.state])),
    },
  };
}
