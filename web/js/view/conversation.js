// The conversation as a list of frames: messages, notices, answers, landmarks of the work. And what running turns have
// written so far.

import { dataText } from "./data-text.js";
import { WEIGHTS } from "./telling.generated.js";

const STREAMED_CHARS = 100_000, THINKING_CHARS = 4_000, STEPS = 200;
const JOIN_MS = 5 * 60_000; // what one author says within this time is one block

/** Events with words or a look of their own here. @type {Record<string, Item["kind"]>} */
const KINDS = {
  "message.posted": "message", "agent.final_answer": "message", "notice.posted": "notice", "agent.user_confirm_closed": "answer",
  "turn.cancelled": "mark",
  "plan.completed": "mark", "plan.cancelled": "mark", "agent.interrupted": "mark", "pipeline.completed": "mark",
  "session.completed": "mark", "solver.completed": "mark", "solver.cancelled": "mark", "task.failed": "mark",
  "task.reviewed": "mark", "error.recovery_started": "mark", "supervisor.decided": "mark", "supervisor.reviewed": "mark",
  "supervisor.ended": "mark",
};

// Everything else that has a text is told in the words of its frame: a landmark as a line, steps of the work, such as how
// an input was routed and who was given what, together in one item. Those are shown elsewhere:
const ELSEWHERE = new Set(["agent.user_confirm", "session.renamed", "turn.failed", "error.execution", "plan.step_completed", "plan.reviewed", "aggregate.reviewed"]);

const SIGNATURE = /^\s*\[FROM[:：][^[\]\n]*\]\s*/; // who speaks stands above the message

const INNER = /^(workflow|task\.dispatch|routing)/; // Moot's own: told when somebody opens the steps

const AT_WORK = new Set(["DISPATCHING", "DISPATCHED", "RUNNING"]); // the view may be a step behind what is written

/** @type {Stream} */
const SILENT = { text: "", thinking: "", steps: [] };

export class Conversation {
  /** @type {Item[]} */
  items = [];
  /** @type {Map<string, Frame>} questions, by step */
  asked = new Map();
  /** @type {Map<string, Stream>} by turn */
  streams = new Map();
  /** @type {Map<string, string>} the last dispatch of each task: what is written for it is streamed under this name */
  dispatches = new Map();
  /** @type {Map<string, Turn>} what was done in each turn, kept after its end */
  turns = new Map();
  /** @type {string} who a message goes to that names nobody */
  addressee = "";
  /** @type {Map<string, string>} titles of tasks */
  titles = new Map();
  /** @type {Map<string, string>} names of tools, by call */
  calls = new Map();
  /** @type {string[]} where in the shared state of a supervisor's job its result stands */
  delivers = [];
  /** @type {Record<string, any>} what the agents of the job share */
  shared = {};

  /** @param {Frame} frame a logged one */
  push(frame) {
    const { event, metadata = {} } = frame;
    NOTE[event]?.(this, metadata, frame);
    const kind = kindOf(frame);
    const title = metadata.task?.title ?? this.titles.get(metadata.task_id) ?? metadata.task_id ?? "";
    if (event === "task.reviewed" && metadata.pass) this.#accept(frame);
    if (kind === "trace" && frame.show_content) {
      this.trace({ seq: frame.seq ?? 0, member: metadata.member ?? "", to: metadata.to ?? "", text: frame.show_content, title, isInner: INNER.test(event) });
    }
    if (!kind || kind === "trace") return;
    if (kind === "message") this.#dropAnswer(metadata);
    const item = { ...frame, title, asked: this.asked.get(metadata.step_id), text: this.#textOf(frame), turn: this.turns.get(metadata.turn_id), joins: false };
    item.joins = kind === "message" && !item.turn?.steps.length && this.#isSameBlock(item);
    this.items.push({ key: `${kind}${frame.seq}`, seq: frame.seq ?? 0, kind, item });
  }

  /** Whether the author of the message before goes on, to the same people. @param {NoteFrame} item */
  #isSameBlock({ metadata, timestamp }) {
    const last = this.items.at(-1);
    if (last?.kind !== "message" || last.item.metadata.member !== metadata.member) return false;
    return String(last.item.metadata.to ?? "") === String(metadata.to ?? "") && Date.parse(timestamp) - Date.parse(last.item.timestamp) < JOIN_MS;
  }

  /** An answer that starts a turn is a message as well. @param {any} metadata */
  #dropAnswer({ member, text }) {
    const last = this.items.at(-1);
    if (last?.item.event === "member.answered" && last.item.metadata.member === member && last.item.metadata.answer === text) this.items.pop();
  }

  /** What was written for a task is its result from now on. @param {Frame} frame */
  #accept({ seq = 0, metadata }) {
    this.renew(({ item }) => item.event === "solver.completed" && item.metadata.task?.id === metadata.task_id, { acceptedAt: seq });
  }

  /** More is known of the last item like this: it becomes another object, so that it is drawn again.
   * @param {(item: Item) => boolean} isWanted @param {object} [known] */
  renew(isWanted, known) {
    const at = this.items.findLastIndex(isWanted), found = this.items[at];
    if (found) this.items[at] = { ...found, item: { ...found.item, ...known } };
  }

  /** @param {string} turnId @returns {Turn} */
  turnOf(turnId) {
    const known = this.turns.get(turnId) ?? { steps: [], startedAt: "", endedAt: "", usage: null };
    this.turns.set(turnId, known);
    return known;
  }

  /** @param {Trace["steps"][0]} step */
  trace(step) {
    const { seq } = step, last = this.items.at(-1);
    if (last?.kind === "trace") this.renew((each) => each === last, { steps: [...last.item.steps, step] });
    else this.items.push({ key: `trace${seq}`, seq, kind: "trace", item: { steps: [step] } });
  }

  /** @param {Frame} frame */
  #textOf({ event, metadata = {}, show_content }) {
    if (event === "supervisor.ended") return metadata.outcome === "cancelled" ? "" : metadata.deliverable?.body ?? this.#delivered();
    if (event === "solver.completed") return metadata.result;
    if (metadata.partial) return metadata.partial;
    if (event === "message.posted" && !metadata.turn_id) show_content = undefined; // it says that somebody spoke
    return show_content ?? (metadata.text?.trim() ? metadata.text.replace(SIGNATURE, "") : metadata.raw ?? "");
  }

  /** The texts that the end of a supervisor's job asks for. */
  #delivered() {
    const texts = this.delivers.map((key) => key.split(".").reduce((/** @type {any} */ value, name) => value?.[name], this.shared));
    return texts.filter((each) => typeof each === "string").join("\n\n");
  }

  /** Text or thoughts, as they come. @param {Frame} frame */
  stream({ event, metadata: { turn_id, text } }) {
    const stream = this.streamOf(turn_id);
    this.streams.set(turn_id, event === "turn.thinking"
      ? { ...stream, thinking: (stream.thinking + text).slice(-THINKING_CHARS) }
      : { ...stream, text: (stream.text + text).slice(-STREAMED_CHARS), thinking: "" });
  }

  /** @param {string} turnId */
  streamOf(turnId) {
    return this.streams.get(turnId) ?? SILENT;
  }

  /** What is being written for a task. @param {string} taskId */
  streamOfTask(taskId) {
    return this.streamOf(this.dispatches.get(taskId) ?? "");
  }

  /** Drop the text of turns and tasks that are over. @param {View} view */
  settle(view) {
    const tasks = Object.values(view.work?.tasks ?? {}).filter((run) => AT_WORK.has(run.state)).map((run) => this.dispatches.get(run.task.id));
    const wanted = new Set([...view.running.map((turn) => turn.turn_id), ...tasks]);
    for (const turnId of this.streams.keys()) if (!wanted.has(turnId)) this.streams.delete(turnId);
  }

  get lastAnswer() {
    return this.items.findLast((each) => each.kind === "answer")?.item;
  }
}

/** What kind of item an event is, if it is one. @param {Frame} frame @returns {Item["kind"] | undefined} */
function kindOf(frame) {
  const { event, metadata = {}, show_content: text } = frame;
  if (isTold(frame) && (metadata.partial || KINDS[event])) return metadata.partial ? "partial" : KINDS[event];
  if (event === "task.reviewed") return "trace"; // one that passed
  if (!text || KINDS[event] || ELSEWHERE.has(event) || !(event in WEIGHTS)) return undefined;
  return WEIGHTS[event] === "step" ? "trace" : "fact";
}

/** Not shown here: a message that is nothing but a decision, a review that passed, the retry of a job. @param {Frame} frame */
function isTold({ event, metadata = {}, show_content }) {
  if (event === "message.posted") return show_content !== "";
  if (event === "turn.cancelled") return Boolean(metadata.partial) || metadata.reason === "stopped";
  if (event === "task.reviewed") return !metadata.pass;
  return event !== "error.recovery_started" || !metadata.job;
}

/** @type {Record<string, (conversation: Conversation, metadata: any, frame: Frame) => void>} */
const NOTE = {
  "agent.session_created"(conversation, metadata) {
    conversation.addressee = metadata.chat?.default ?? "";
    conversation.delivers = (metadata.supervisor?.end?.requires ?? []).map((/** @type {any} */ each) => each.key);
  },
  "supervisor.started": (conversation) => { conversation.shared = {}; },
  "supervisor.state_updated": (conversation, { changes }) => Object.assign(conversation.shared, changes),
  "workflow.plan_approved": (conversation, { tasks }) => noteTitles(conversation, tasks),
  "workflow.patched": (conversation, { tasks }) => noteTitles(conversation, tasks),
  "supervisor.tools_called"(conversation, { member, calls }, { seq = 0 }) {
    for (const { call_id, name, args } of calls) {
      conversation.calls.set(call_id, name);
      conversation.trace({ seq, member, to: "", text: `${name}(${dataText(args)})`, title: "", isInner: false });
    }
  },
  "supervisor.tool_completed"(conversation, { call_id, result, error = "" }, { seq = 0 }) {
    conversation.trace({ seq, member: "", to: "", text: `${error ? "✗" : "✓"} ${conversation.calls.get(call_id) ?? call_id}: ${error || dataText(result)}`, title: "", isInner: false });
  },
  "agent.user_confirm": (conversation, metadata, frame) => void conversation.asked.set(metadata.step_id, frame),
  "task.dispatch_requested": (conversation, { task_id, dispatch_id }) => void conversation.dispatches.set(task_id, dispatch_id),
  "turn.started": (conversation, { turn_id }, frame) => { conversation.turnOf(turn_id).startedAt = frame.timestamp; },
  "turn.completed"(conversation, { turn_id, usage = null }, frame) {
    const turn = Object.assign(conversation.turnOf(turn_id), { usage, endedAt: frame.timestamp });
    conversation.renew(({ item }) => item.turn === turn);
  },
  "turn.step"(conversation, metadata) {
    const { steps } = conversation.turnOf(metadata.turn_id);
    if (steps.length < STEPS) steps.push(metadata);
    const stream = conversation.streamOf(metadata.turn_id);
    conversation.streams.set(metadata.turn_id, { ...stream, thinking: "", steps: [...stream.steps, metadata].slice(-STEPS) });
  },
  "plan.step_completed"(conversation, { turn_id }) {
    const stream = conversation.streams.get(turn_id);
    if (stream) conversation.streams.set(turn_id, { ...stream, thinking: "" });
  },
};

/** @param {Conversation} conversation @param {Task[]} tasks */
function noteTitles({ titles }, tasks) {
  for (const { id, title } of tasks) titles.set(id, title);
}
