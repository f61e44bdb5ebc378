// The types that modules share, for `tsc --checkJs`; no browser ever asks for this file.

type App = import("./app.js").App;
type Part = import("./part.js").Part;
type Tape = import("./tape.js").Tape;
type PlanEditor = import("./elements/plan-editor.js").PlanEditor;

type Language = "zh" | "en";
type Translate = (key: string, params?: Record<string, string | number>) => string;

/** What `h` and `set` take: attributes, some properties, `text`, and listeners as `onclick`. */
type Props = Record<string, any> & {
  [name in "onclick" | "onsubmit" | "onchange" | "oninput" | "onscroll" | "onmousedown"]?: (event: Event & { target: any }) => unknown;
} & { onkeydown?: (event: KeyboardEvent) => unknown };

type Make = (tag: string, props?: Props, ...children: (Node | string | null | undefined | false)[]) => HTMLElement;
type Change = <T extends Element>(node: T, props: Props) => T;
type Keep = <T>(
  parent: Element, items: Iterable<T>, keyOf: (item: T) => string, make: (item: T) => HTMLElement, update?: (node: HTMLElement, item: T) => void,
) => void;

// the protocol

/** The envelope of the event protocol, as far as every module relies on it. */
interface Frame {
  event: string;
  timestamp: string;
  session_id?: string;
  seq?: number;
  event_id?: string;
  step_id?: string;
  content?: any;
  metadata?: any;
  show_content?: string;
  timeline?: string;
  source?: { loop_id?: string; role?: string; member?: string };
  hash?: string;
}
type Logged = Frame & { session_id: string; seq: number; hash: string };
type Head = { seq: number; hash: string };

/** moved, logged, passing, done, denied, exported, reset, ended, sever */
type Happening = { type: string; [name: string]: any };

// what the page knows

type Entry = {
  session_id: string; seq: number; updated_at: string; created_at: string; title: string; team: string; flow: string;
  status: string; waiting_for: string | null; busy: boolean; pause_reason: string | null; messages: number;
  last: { by: string; text: string } | null; removed_at: string | null;
};
/** How this browser has a session in its list: `away` is the seq at which it was archived, `read` counts messages. */
type Kept = { pinned?: boolean; away?: number | null; read?: number };
/** A command; seq once it is done, shown once its message is seen in the log. */
type Sent = { id: string; event: string; fields: any; session: string | null; seq: number; shown?: number };
type Toast = { id: number; text: string; kind: string; action?: { label: string; run: () => void } };

// what modules make for themselves and each other

type LinkState = "DISCONNECTED" | "CONNECTING" | "CONNECTED" | "RECONNECTING";
type Waiting = { commandId: string; event: string; sessionId: string | null; text: string; due: number; sends: number; retries: number };
/** Of a conversation. */
type Item = { key: string; seq: number; kind: string; item: any };
type Deed = { name: string; run: () => void };
/** Of a text in Markdown. */
type Piece = { type: string; text?: string; href?: string; level?: number; lang?: string; start?: number; items?: Piece[][]; children?: Piece[]; rows?: Piece[][][] };
/** A machine and where it stands. */
type Lit = { id: string; machine: string; about: string; walk: Walk };
type Box = { state: string; x: number; y: number; w: number; h: number; isFinal: boolean };
type Edge = { from: string; to: string; triggers: string[]; path: string; isExtension: boolean };
/** Of a plan: in which row, and what. */
type Problem = { at: number; code: string; params: Record<string, string> };
type Diff = { added: string[]; removed: Task[]; changed: Record<string, string[]>; isMoved: boolean; count: number };
type Told = { said: any; title: string; frame: Frame; t: Translate; view: View; language: Language };

// a session as it is shown: the fold of its frames

interface View {
  session_id: string;
  seq: number;
  at: string;
  title: string;
  team: string;
  flow: string;
  language: Language;
  team_task: string;
  members: Member[];
  status: "paused" | "active" | "completed";
  waiting_for: string | null;
  pause_reason: string | null;
  executing: string | null;
  pending: string[];
  hops: number;
  max_hops: number;
  messages: Line[];
  notices: Notice[];
  questions: Question[];
  running: RunningTurn[];
  counters: Counters;
  work: Work | null;
  supervision: Job | null;
  /** questions that are closed */
  answers: { seq: number; by?: string; outcome: string; what: string; code: string; chosen: Option[]; said: string; label: string }[];
  /** landmarks of the work */
  marks: Mark[];
  /** where in the shared state of a supervisor's job its result stands */
  delivers: string[];
  /** the last message named nobody */
  is_unaddressed: boolean;
}
type Member = { id: string; kind: "human" | "ai"; name: string; display_name: string; order: number; role?: string };
type Option = { id: string; label: string; description?: string };
type Line = { seq: number; at: string; member: string; name: string; author: string; text: string; turn_id?: string };
type Notice = { seq: number; at: string; code: string; text: string };
type Step = { seq: number; thought?: string; action?: string; observation?: string };
type Mark = { seq: number; name: string; params: Record<string, string | number> };
type RunningTurn = { turn_id: string; member: string; name: string; started_at: string; steps: Step[]; streamed: string; thinking: string };
type Counters = { messages: number; turns: number; failed_turns: number; tokens: number; cost_usd: number };
interface Question {
  step_id: string;
  seq: number;
  kind: string;
  text: string;
  options: Option[];
  expires_at?: string | null;
  default?: string | null;
  asked_by?: string;
  // what some kinds have beyond the others
  tasks?: Task[];
  plan_summary?: string;
  task_id?: string;
  code?: string;
  selection?: string;
  allow_custom_input?: boolean;
  job?: string;
  who?: string;
}

/** Where a machine stands, how it came there, and where it has been. */
type Walk = { state: string; from: string; trigger: string; seen: string[] };

// the plan flow

type Task = { id: string; title: string; objective?: string; depends_on?: string[]; role?: string; member?: string };
interface TaskRun {
  task: Task;
  walk: Walk;
  attempt: number;
  retries: number;
  max_attempts: number;
  /** when the next attempt comes; "" = no wait */
  retry_at: string;
  agent_id: string;
  member: string;
  done: number;
  total: number | null;
  percent: number | null;
  step: string;
  result: string;
  error_type: string;
  message: string;
  feedback: string;
  is_skipped: boolean;
  /** in the line for room to run, when it was taken */
  place: number | null;
  started_at: string;
}
type Runs = Record<string, TaskRun>;
interface Work {
  question: string;
  workflow: Walk;
  summary: string;
  /** what a plan offers, before it is approved */
  proposed: any[];
  plan_steps: number;
  /** the planner's last one */
  plan_step: string;
  /** of the last plan that could not be run */
  problems: string[];
  tasks: Runs;
  /** by agent id */
  slots: Record<string, Walk>;
  is_aggregating: boolean;
  /** complete, partial, or why it ended */
  outcome: string;
  answer: string;
}

// the supervisor flow

type Choice = {
  seq: number; at: string; next: string; member?: string; guidance: string; focus_areas: string[]; corrected_from?: string;
  correction?: string; fault: string;
};
type ToolRow = { call_id: string; agent: string; name: string; args: any; round: number; is_done: boolean; result?: any; error: string };
interface Job {
  goal: string;
  asked_by: string;
  acting: string;
  steps: number;
  choices: Choice[];
  /** what the agents share */
  state: Record<string, any>;
  /** who wrote a key last */
  writers: Record<string, string>;
  /** of the newest round */
  tools: ToolRow[];
  review: { approved: boolean; iteration: number; fallback?: string } | null;
  outcome: string;
  reason: string;
}

// the inspector

/** One of the timeline: `name` is one of the twelve, or the event's own. */
interface Row {
  seq: number;
  name: string;
  event: string;
  /** input, semantic, routing, dispatch, steps, errors, flow */
  category: string;
  at: string;
  member?: string;
  /** what it tells of, and the title of its task */
  frame: Frame;
  title: string;
  /** begins a group */
  isHead: boolean;
  endedAt?: string;
  endSeq?: number;
  /** ok, failed, cancelled, waiting */
  outcome?: string;
}
type Machine = {
  name: string; initial: string; final: string[]; states: string[];
  transitions: { from: string; trigger: string; to: string; extension: boolean }[];
};
type Offer = { insert: string; label: string; hint: string };
/** What stands between from and to is replaced. */
type Completion = { from: number; to: number; offers: Offer[] };
