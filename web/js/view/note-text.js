// What a line of Moot's own in the conversation says: a notice, an answered question, a landmark of the work.

import { failure, optionLabel } from "../i18n.js";
import { diff } from "../plan/edit.js";
import { actors, nameOf, roleName } from "./names.js";

/** The name of a landmark's text, and its parameters. @type {Record<string, (metadata: any, item: NoteFrame, app: App) => [string, Record<string, string | number>]>} */
const MARKS = {
  "plan.completed": ({ tasks, plan_summary }) => ["planned", { count: tasks.length, summary: plan_summary }],
  "plan.cancelled": ({ reason }) => [`cancelled.${reason}`, {}],
  "agent.interrupted": () => ["interrupted", {}],
  "pipeline.completed": ({ status }) => [`pipeline.${status}`, {}],
  "turn.cancelled": ({ member, partial = "" }, _, { view }) => [partial ? "stopped_writing" : "stopped", { who: nameOf(view, member), text: partial }],
  "session.completed": () => ["session_completed", {}],
  "solver.completed": ({ member, awaits_review: isReviewed }, { title, acceptedAt }, { view, seq }) => [!isReviewed || (acceptedAt && acceptedAt <= seq) ? "task_done" : "task_written", { title, who: nameOf(view, member) }],
  "solver.cancelled": (_, { title }) => ["task_cancelled", { title }],
  "task.failed": ({ error_type, message }, { title }, { t }) => ["task_failed", { title, text: failure(t, error_type, message) }],
  "task.reviewed": ({ member, feedback = "" }, { title }, { view }) => ["task_sent_back", { who: nameOf(view, member), title, text: feedback }],
  "error.recovery_started": ({ attempt, max_attempts }, { title }) => ["task_retried", { title, n: attempt, max: max_attempts }],
  "supervisor.decided": ({ next, decision }, _, { view }) => [next === "END" ? "decided_end" : "decided", { next: roleName(view, next), guidance: decision.guidance ?? "" }],
  "supervisor.reviewed": ({ approved, iteration }) => [approved ? "review_approved" : "review_rejected", { n: iteration }],
  "supervisor.ended": ({ outcome }) => [`job.${outcome}`, {}],
};

const SIGN = /^[⏸⏹▶📋] /u; // for the terminal; many fonts of browsers lack them

/** @param {App} app @param {string} kind @param {NoteFrame} item @returns {{name: string, text: string}} */
export function noteText(app, kind, item) {
  if (kind === "notice") return { name: item.metadata.code, text: item.text.replace(SIGN, "") || `[${item.metadata.code}]` };
  if (kind === "answer") return { name: "", text: answerText(app, item) };
  if (kind === "fact") return { name: item.event.replaceAll(".", "_"), text: factText(app, item) };
  const [name, params] = MARKS[item.event](item.metadata, item, app);
  return { name, text: app.t(`mark.${name}`, params) };
}

/** In the words of the frame, after who says or does it, and to whom. @param {App} app @param {NoteFrame} item */
const factText = ({ view }, { text, metadata }) => [actors(view, metadata), text].filter(Boolean).join(": ");

/** @param {App} app @param {NoteFrame} item */
function answerText(app, item) {
  const { t, view } = app, { metadata: { by, outcome }, asked } = item;
  if (outcome !== "answered") return `${t(`answer.${outcome}`)}: ${asked?.show_content ?? asked?.metadata?.kind ?? ""}`;
  return `✓ ${t("answer.by", { name: by ? nameOf(view, by) : "?", label: answerLabel(app, item) })}`;
}

/** What was chosen, and what was written with it. @param {App} app @param {NoteFrame} item */
export function answerLabel(app, { metadata: { choice, answer, confirmed, selected_ids = [], tasks }, asked }) {
  const { code, options = [] } = asked?.metadata ?? {};
  const plain = confirmed === undefined || confirmed === null ? null : confirmed ? "approve" : "reject";
  const ids = selected_ids.length ? selected_ids : [choice ?? (answer ? null : plain)];
  const chosen = ids.filter(Boolean).map((/** @type {string} */ id) => options.find((/** @type {Option} */ option) => option.id === id) ?? { id, label: id });
  const plan = confirmed && options.length && asked?.metadata?.tasks ? planLabel(app, asked.metadata.tasks, tasks) : "";
  const labels = chosen.map((/** @type {Option} */ option) => optionLabel(app, code, option)).join(", ");
  return [plan || labels, answer].filter(Boolean).join(": ");
}

/** How many tasks were approved, and how many of them were changed. @param {App} app @param {Task[]} proposed @param {Task[] | undefined} edited */
function planLabel({ t }, proposed, edited) {
  const changes = edited ? diff(proposed, edited).count : 0, count = (edited ?? proposed).length;
  return changes ? t("plan.approved_changed", { count, changed: changes }) : t("plan.approved", { count });
}

const BAD = ["workspace_conflicted", "workspace_failed", "unresolved", "agent_error", "agent_timeout", "interrupted", "task_failed", "cancelled.failed", "cancelled.invalid_plan", "cancelled.timeout"];
const GOOD = ["workspace_merged", "workspace_taken", "task_done", "review_approved", "pipeline.complete", "job.complete"];

/** What a line tells: good or bad news, or neither. The colour follows from the outcome, not from what was asked.
 * @param {string} kind @param {string} name @param {NoteFrame} item @returns {"good" | "bad" | "plain"} */
export function toneOf(kind, name, { metadata = {} }) {
  if (kind === "answer") {
    if (metadata.outcome !== "answered") return metadata.outcome === "expired" ? "bad" : "plain";
    return metadata.confirmed || metadata.approved ? "good" : "plain";
  }
  return BAD.includes(name) ? "bad" : GOOD.includes(name) ? "good" : "plain";
}
