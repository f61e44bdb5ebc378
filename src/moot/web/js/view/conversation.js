// The conversation as a list of frames: messages, notices, answers, landmarks of the work. And what running turns have
// written so far.

const STREAMED_CHARS = 100_000, THINKING_CHARS = 4_000, STEPS = 50;

/** @type {Record<string, Item["kind"]>} */
const KINDS = {
  "message.posted": "message", "agent.final_answer": "message", "notice.posted": "notice", "agent.user_confirm_closed": "answer",
  "turn.cancelled": "mark",
  "plan.completed": "mark", "plan.cancelled": "mark", "agent.interrupted": "mark", "pipeline.completed": "mark",
  "session.completed": "mark", "solver.completed": "mark", "solver.cancelled": "mark", "task.failed": "mark",
  "task.reviewed": "mark", "error.recovery_started": "mark", "supervisor.decided": "mark", "supervisor.reviewed": "mark",
  "supervisor.ended": "mark",
};

/** @type {Stream} */
const SILENT = { text: "", thinking: "", steps: [] };

export class Conversation {
  /** @type {Item[]} */
  items = [];
  /** @type {Map<string, Frame>} questions, by step */
  asked = new Map();
  /** @type {Map<string, Stream>} by turn */
  streams = new Map();
  /** @type {Map<string, string>} titles of tasks */
  titles = new Map();
  /** @type {string[]} where in the shared state of a supervisor's job its result stands */
  delivers = [];
  /** @type {Record<string, any>} what the agents of the job share */
  shared = {};

  /** @param {Frame} frame a logged one */
  push(frame) {
    const { event, metadata = {} } = frame;
    NOTE[event]?.(this, metadata, frame);
    const kind = KINDS[event];
    if (!kind || !isTold(frame)) return;
    const title = metadata.task?.title ?? this.titles.get(metadata.task_id) ?? metadata.task_id ?? "";
    const item = { ...frame, title, asked: this.asked.get(metadata.step_id), text: this.#textOf(frame) };
    this.items.push({ key: `${kind}${frame.seq}`, seq: frame.seq ?? 0, kind, item });
  }

  /** @param {Frame} frame */
  #textOf({ event, metadata = {}, show_content }) {
    if (event === "supervisor.ended") return metadata.outcome === "cancelled" ? "" : metadata.deliverable?.body ?? this.#delivered();
    if (event === "solver.completed") return metadata.result;
    return show_content ?? (metadata.text?.trim() ? metadata.text : metadata.raw ?? "");
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

  /** Drop the text of turns that are over. @param {View} view */
  settle(view) {
    for (const turnId of this.streams.keys()) {
      if (!view.running.some((turn) => turn.turn_id === turnId)) this.streams.delete(turnId);
    }
  }

  get lastAnswer() {
    return this.items.findLast((each) => each.kind === "answer")?.item;
  }
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
    conversation.delivers = (metadata.supervisor?.end?.requires ?? []).map((/** @type {any} */ each) => each.key);
  },
  "supervisor.started": (conversation) => { conversation.shared = {}; },
  "supervisor.state_updated": (conversation, { changes }) => Object.assign(conversation.shared, changes),
  "workflow.plan_approved": (conversation, { tasks }) => noteTitles(conversation, tasks),
  "workflow.patched": (conversation, { tasks }) => noteTitles(conversation, tasks),
  "agent.user_confirm": (conversation, metadata, frame) => void conversation.asked.set(metadata.step_id, frame),
  "turn.step"(conversation, metadata) {
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
