// What a screen shows of a session: the fold of its frames. Pure, and the same as protocol/view.py, which says more.

import { spend } from "./counters.js";
import { nameOf } from "./names.js";
import { PLAN } from "./plan.js";
import { SUPERVISOR, followTurn } from "./supervisor.js";

const MESSAGES = 20_000, NOTICES = 5_000, STEPS = 50, STREAMED_CHARS = 100_000, THINKING_CHARS = 4_000;

/** @type {View} */
export const EMPTY = {
  session_id: "", seq: 0, at: "", title: "", team: "", flow: "", language: "en", team_task: "", members: [],
  status: "paused", waiting_for: null, pause_reason: null, executing: null, pending: [], hops: 0, max_hops: 0,
  messages: [], notices: [], questions: [], running: [],
  counters: { messages: 0, turns: 0, failed_turns: 0, tokens: 0, cost_usd: 0 },
  work: null, supervision: null, answers: [], marks: [], delivers: [], is_unaddressed: false,
};

/** The view after a frame. One that was folded before, or that this version does not know, changes nothing.
 * @param {View} view @param {Frame} frame @returns {View} */
export function reduce(view, frame) {
  if (frame.seq == null) return PASSING[frame.event]?.(view, frame) ?? view;
  if (frame.seq <= view.seq) return view;
  const placed = { ...view, session_id: frame.session_id ?? "", seq: frame.seq, at: frame.timestamp };
  const fold = LOGGED[frame.event] ?? PLAN[frame.event] ?? SUPERVISOR[frame.event];
  return fold ? fold(placed, frame.metadata ?? {}, frame) : placed;
}

/** `📋 Queue: [Claude ⏳] → Bob → You`; null when nothing runs and nothing waits.
 * @param {View} view @param {string | null} viewer @param {{queue: string, you: string}} words */
export function queueLine(view, viewer, words) {
  const name = (/** @type {string} */ id) => (id === viewer ? words.you : nameOf(view, id));
  const names = view.executing ? [`[${name(view.executing)} ⏳]`] : [];
  names.push(...view.pending.map(name));
  return names.length ? words.queue.replace("{names}", () => names.join(" → ")) : null;
}

/** @template T @param {T[]} list @param {T} item @param {number} bound */
function grow(list, item, bound) {
  return list.length < bound ? [...list, item] : [...list.slice(list.length - bound + 1), item];
}

/** @param {View} view @param {string} turnId @param {(turn: RunningTurn) => RunningTurn} change */
function changeTurn(view, turnId, change) {
  return { ...view, running: view.running.map((turn) => (turn.turn_id === turnId ? change(turn) : turn)) };
}

/** @param {View} view @param {string} turnId */
function endTurn(view, turnId) {
  return { ...view, running: view.running.filter((turn) => turn.turn_id !== turnId) };
}

/** @type {(view: View, said: any) => View} */
function failTurn(view, said) {
  const counters = { ...view.counters, failed_turns: view.counters.failed_turns + 1 };
  return { ...endTurn(view, said.turn_id), counters: spend(counters, said.usage) };
}

/** @type {Record<string, (view: View, frame: Frame) => View>} */
const PASSING = {
  "turn.delta"(view, frame) {
    const { turn_id, text } = frame.metadata;
    if (frame.session_id !== view.session_id) return view;
    return changeTurn(view, turn_id, (turn) => ({ ...turn, streamed: (turn.streamed + text).slice(-STREAMED_CHARS), thinking: "" }));
  },
  "turn.thinking"(view, frame) {
    const { turn_id, text } = frame.metadata;
    if (frame.session_id !== view.session_id) return view;
    return changeTurn(view, turn_id, (turn) => ({ ...turn, thinking: (turn.thinking + text).slice(-THINKING_CHARS) }));
  },
};

/** @type {Record<string, (view: View, said: any, frame: Frame) => View>} */
export const LOGGED = {
  "agent.session_created": (view, said) => ({
    ...view, title: said.title, team: said.team, flow: said.flow, language: said.language, members: said.members,
    max_hops: said.chat?.max_hops ?? 0,
    delivers: (said.supervisor?.end?.requires ?? []).map((/** @type {any} */ each) => each.key),
  }),
  "message.posted"(view, said, frame) {
    const source = frame.source ?? {};
    /** @type {Line} */
    const line = {
      seq: view.seq, at: view.at, member: said.member, name: nameOf(view, said.member),
      author: `${source.loop_id ?? ""}.${source.role ?? ""}`,
      text: said.text.trim() ? said.text : said.raw ?? "",
      ...(said.turn_id == null ? {} : { turn_id: said.turn_id }),
    };
    const counters = { ...view.counters, messages: view.counters.messages + 1 };
    const hops = said.turn_id == null ? 0 : view.hops;
    return { ...view, messages: grow(view.messages, line, MESSAGES), counters, hops };
  },
  "notice.posted"(view, said, frame) {
    const notice = { seq: view.seq, at: view.at, code: said.code, text: frame.show_content || `[${said.code}]` };
    return { ...view, notices: grow(view.notices, notice, NOTICES) };
  },
  "routing.decided": (view, { action, queue_updates = [] }) => ({
    ...view, is_unaddressed: action?.type === "wait_for_human" && !queue_updates.length,
  }),
  "queue.changed": (view, said) => ({ ...view, executing: said.executing, pending: said.pending }),
  "turn.started"(view, said) {
    const { turn_id, member } = said;
    const turn = { turn_id, member, name: nameOf(view, member), started_at: view.at, steps: [], streamed: "", thinking: "" };
    const counters = { ...view.counters, turns: view.counters.turns + 1 };
    const started = { ...view, running: [...view.running, turn], hops: said.hop, counters };
    return followTurn(PLAN["turn.started"](started, said, { event: "turn.started", timestamp: view.at }), said);
  },
  "turn.step"(view, said) {
    const { thought, action, observation } = said;
    const step = { seq: view.seq, thought, action, observation };
    return changeTurn(view, said.turn_id, (turn) => ({ ...turn, steps: grow(turn.steps, step, STEPS), thinking: "" }));
  },
  "plan.step_completed"(view, said, frame) {
    const thought = changeTurn(view, said.turn_id, (turn) => ({ ...turn, thinking: "" }));
    return PLAN["plan.step_completed"](thought, said, frame);
  },
  "turn.completed"(view, said) {
    return { ...endTurn(view, said.turn_id), counters: spend(view.counters, said.usage) };
  },
  "turn.failed": failTurn,
  "turn.cancelled": failTurn,
  "session.activated": (view) => ({ ...view, status: "active", waiting_for: null, pause_reason: null, hops: 0 }),
  "session.paused": (view, said) => ({
    ...view, status: "paused", waiting_for: said.waiting_for, pause_reason: said.reason,
  }),
  "session.completed": (view, said, frame) =>
    PLAN["session.completed"]({ ...view, status: "completed", waiting_for: null }, said, frame),
  "session.team_task_set": (view, said) => ({ ...view, team_task: said.team_task }),
  "session.language_changed": (view, { language }) => ({ ...view, language }),
  "session.renamed": (view, { title }) => ({ ...view, title }),
  "agent.user_confirm"(view, said, frame) {
    const shown = frame.show_content || said.question || said.kind;
    const { step_id, kind, options, expires_at, default: otherwise, asked_by } = said;
    const question = { step_id, seq: view.seq, kind, text: shown, options, expires_at, default: otherwise, asked_by };
    return { ...view, questions: [...view.questions, { ...question, ...particulars(said) }] };
  },
  "agent.user_confirm_closed"(view, said) {
    const asked = view.questions.find((each) => each.step_id === said.step_id);
    const chosen = chosenOf(asked, said);
    const answer = {
      seq: view.seq, by: said.by, outcome: said.outcome, what: asked?.text ?? "", code: asked?.code ?? "",
      chosen, said: said.answer ?? "", label: [...chosen.map((option) => option.label), said.answer].filter(Boolean).join(": "),
    };
    return { ...view, questions: view.questions.filter((each) => each !== asked), answers: grow(view.answers, answer, NOTICES) };
  },
};

/** The options that were chosen. @param {Question | undefined} asked @param {any} said @returns {Option[]} */
function chosenOf(asked, { choice, answer, confirmed, selected_ids = [] }) {
  const plain = confirmed === undefined || confirmed === null ? null : confirmed ? "approve" : "reject";
  const ids = selected_ids.length ? selected_ids : [choice ?? (answer ? null : plain)];
  return ids.filter(Boolean).map((/** @type {string} */ id) => asked?.options.find((option) => option.id === id) ?? { id, label: id });
}

/** What some kinds of questions have beyond the others. @param {any} said */
function particulars({ tasks, plan_summary, task_id, code, selection, allow_custom_input, job, who }) {
  return Object.fromEntries(
    Object.entries({ tasks, plan_summary, task_id, code, selection, allow_custom_input, job, who }).filter(([, value]) => value),
  );
}
