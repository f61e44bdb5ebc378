// The types that modules share, for `tsc --checkJs`; no browser ever asks for this file.

type Link = { token_id: string; role: "viewer" | "member"; member: string | null; label: string; created_at: string; expires_at: string | null };
type App = import("./app.js").App;
type Part = import("./part.js").Part;
type Tape = import("./tape.js").Tape;
type PlanEditor = import("./elements/plan-editor.js").PlanEditor;

/** The code of a language that the server has texts for. */
type Language = Wire.LanguageChanged["language"];
type Spoken = { code: Language; name: string; short: string };
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

// the protocol; Wire is types.generated.d.ts

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

type CommandName = keyof Wire.Commands;

/** moved, logged, passing, done, denied, exported, reset, ended, sever */
type Happening = { type: string; [name: string]: any };

// what the page knows

type Entry = Wire.SessionEntry;
/** How this browser has a session in its list: `away` is the seq at which it was archived, `read` counts messages. */
type Kept = { pinned?: boolean; away?: number | null; read?: number };
/** A command; seq once it is done, shown once its message is seen in the log. */
type Sent = { id: string; event: CommandName; fields: any; session: string | null; seq: number; shown?: number };
/** Something that was said; `marks` are where the words are in it. */
type FoundLine = { session_id: string; title: string; team: string; seq: number; at: string; by: string; text: string; marks: [number, number][] };
type Toast = { id: number; text: string; kind: string; action?: { label: string; run: () => void } };

// what modules make for themselves and each other

type LinkState = "DISCONNECTED" | "CONNECTING" | "CONNECTED" | "RECONNECTING";
type Waiting = { commandId: string; event: string; sessionId: string | null; text: string; due: number; sends: number; retries: number };
/** Of a conversation. */
type Item = { key: string; seq: number; kind: string; item: any };
type Deed = { name: string; key?: string; run: () => void };
/** A machine and where it stands. */
type Lit = { id: string; machine: string; about: string; walk: Walk };
type Box = { state: string; x: number; y: number; w: number; h: number; isFinal: boolean };
type Edge = { from: string; to: string; triggers: string[]; path: string; isExtension: boolean };
/** Of a plan: in which row, and what. */
type Problem = { at: number; code: string; params: Record<string, string> };
type Diff = { added: string[]; removed: Task[]; changed: Record<string, string[]>; isMoved: boolean; count: number };
type Told = { said: any; title: string; frame: Frame; t: Translate; view: View | null; language: Language };

// a session as it is shown

/** As the server projects it. What is null there is absent here after a merge. */
type View = Omit<Wire.View, "questions" | "work"> & { questions: Question[]; work: Omit<Wire.Work, "tasks"> & { tasks: Record<string, TaskRun> } | null };
type Member = Wire.Member;
type Deliverable = Wire.Deliverable;
type Picture = Wire.Picture;
type Option = Wire.Option;
type Question = Omit<Wire.Question, "tasks"> & { tasks: Task[] | null };
type TaskRun = Omit<Wire.TaskRow, "task"> & { task: Task };
/** What a running turn has written so far. */
type Step = Partial<Wire.TurnStepped>;
type Stream = { text: string; thinking: string; steps: Step[] };
/** What is kept of a turn: what was done in it, when, and what it cost. */
type Turn = { steps: Step[]; startedAt: string; endedAt: string; usage: Wire.Usage | null };
type Writing = Wire.RunningTurn & Stream;
/** A frame of the conversation: its text, the title of its task, the question that it answers. */
type Trace = { steps: { seq: number; member: string; to: string; text: string; title: string; isInner: boolean }[] };
type NoteFrame = Frame & { text: string; title: string; asked?: Frame; turn?: Turn; joins?: boolean; acceptedAt?: number };
type Task = { id: string; title: string; objective?: string; depends_on?: string[]; role?: string; member?: string };

/** Where a machine stands, how it came there, and where it has been. */
type Walk = { state: string; from: string; trigger: string; seen: string[] };

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
/** How an event appears in the timeline: what begins with it, by the field that has its id; whether it says the frame's text. */
type RowKind = { category: string; outcome?: string; begins?: [string, string]; isShown?: boolean; timeline?: string };
type RowEnd = { span: [string, string]; outcome?: string; replaces?: boolean };
type Machine = Wire.MachineDocument;
type Offer = { insert: string; label: string; hint: string };
/** What stands between from and to is replaced. */
type Completion = { from: number; to: number; offers: Offer[] };
