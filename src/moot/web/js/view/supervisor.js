// The supervisor flow's part of the view: who was chosen and why, the shared state, tools, reviews
// (protocol/supervisor_view.py does the same).

import { roleName } from "./names.js";

const CHOICES = 100;

/** @param {(job: Job, said: any, view: View) => Partial<Job>} change @returns {(view: View, said: any) => View} */
const onJob = (change) => (view, said) =>
  view.supervision ? { ...view, supervision: { ...view.supervision, ...change(view.supervision, said, view) } } : view;

/** @param {Job} job @param {Choice} choice */
const choose = (job, choice) => ({ choices: [...job.choices, choice].slice(-CHOICES) });

/** @param {View} view @param {string} name @param {Record<string, string | number>} params @returns {View} */
const mark = (view, name, params) => ({ ...view, marks: [...view.marks, { seq: view.seq, name, params }] });

/** @type {Record<string, (view: View, said: any) => View>} */
export const SUPERVISOR = {
  "supervisor.started": (view, said) => ({
    ...view,
    supervision: {
      goal: said.goal, asked_by: said.asked_by, acting: "supervisor", steps: 0, choices: [], state: {}, writers: {},
      tools: [], review: null, outcome: "", reason: "",
    },
  }),
  "supervisor.decided"(view, said) {
    const { guidance = "", focus_areas = [] } = said.decision;
    const { next, member, corrected_from, correction } = said;
    const choice = { seq: view.seq, at: view.at, next, member, guidance, focus_areas, corrected_from, correction, fault: "" };
    const name = next === "END" ? "decided_end" : "decided";
    return mark(onJob((job) => choose(job, choice))(view, said), name, { next: roleName(view, next), guidance });
  },
  "supervisor.undecided": onJob((job, said, view) => choose(job, {
    seq: view.seq, at: view.at, next: "", member: said.member, guidance: said.given, focus_areas: [], fault: said.fault,
  })),
  "supervisor.state_updated": onJob((job, { changes, member }) => ({
    state: { ...job.state, ...changes },
    writers: { ...job.writers, ...Object.fromEntries(Object.keys(changes).map((key) => [key, member ?? ""])) },
  })),
  "supervisor.tools_called": onJob((_, { agent, round, calls }) => ({
    tools: calls.map((/** @type {any} */ call) => ({
      call_id: call.call_id, agent, name: call.name, args: call.args ?? {}, round, is_done: false, error: "",
    })),
  })),
  "supervisor.tool_completed": onJob((job, { call_id, result, error = "" }) => ({
    tools: job.tools.map((row) => (row.call_id === call_id ? { ...row, is_done: true, result, error } : row)),
  })),
  "supervisor.reviewed"(view, said) {
    const { approved, iteration, fallback } = said;
    const reviewed = onJob((job) => ({
      review: { approved, iteration, fallback }, state: { ...job.state, iterationCount: iteration },
    }))(view, said);
    return mark(reviewed, approved ? "review_approved" : "review_rejected", { n: iteration });
  },
  "supervisor.ended"(view, { outcome, reason }) {
    const ended = onJob(() => ({ outcome, reason }))(view, {});
    return mark(ended, `job.${outcome}`, { text: outcome === "cancelled" ? "" : delivered(view) });
  },
};

/** What the work was about: the texts that its end asks for. @param {View} view */
function delivered({ delivers, supervision }) {
  const texts = delivers.map((key) => key.split(".").reduce((/** @type {any} */ value, name) => value?.[name], supervision?.state));
  return texts.filter((each) => typeof each === "string").join("\n\n");
}

/** A turn of the job is a step of it. @param {View} view @param {any} said @returns {View} */
export const followTurn = (view, said) =>
  said.job ? onJob((job) => ({ acting: said.job, steps: job.steps + 1 }))(view, said) : view;

const DECISION = /```(?:json)?\s*\{[^`]*"next_agent"[^`]*\}\s*```|\{[^{}]*"next_agent"[^{}]*\}/g;

/** What a supervisor said besides its decision, which is shown in words. @param {string} text */
export const withoutDecision = (text) => text.replace(DECISION, "").trim();
