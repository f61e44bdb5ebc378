// The director of a demo: tells what to look at, waits, then speaks for the human unless the viewer was faster. No DOM.

import { api } from "./api.js";

const READING_MS = 2_500, CHAR_MS = 45; // time to read a caption before it goes on
const ON_CUE_MS = 1_200; // shorter at a cue: the work goes on meanwhile

export class Demo {
  caption = "";
  isPaused = false;
  isOver = false;
  #app: App;
  #scenes: Wire.SceneDocument[];
  #total: number;
  #session = "";
  #at = 0; // frames that were looked at
  #sent = ""; // the last command, until it is in the log
  #next: Wire.SceneDocument | null = null; // what is acted when the time is over
  #before = 0;
  #left = 0;
  #since = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(app: App, { scenes }: Wire.DemoDocument) {
    this.#app = app;
    this.#scenes = [...scenes];
    this.#total = scenes.length;
  }

  /** Play the demo of a flow, or the first that there is, in a session of its own. */
  static async play(app: App, flow = ""): Promise<void> {
    const demos = await api.demos(app.language), document = demos.find((each) => each.flow === flow) ?? demos[0];
    if (!document) return;
    const demo = new Demo(app, document);
    await app.create(document.team, app.t("demo.title"));
    demo.#session = app.tape?.id ?? "";
    app.demo = demo;
    app.changed();
  }

  get progress() {
    return { at: this.#total - this.#scenes.length, of: this.#total };
  }

  /** What will be said for the human. */
  get words() {
    return this.#next?.say ?? "";
  }

  get isHere() {
    return this.#app.tape?.id === this.#session;
  }

  /** Look at what has happened: perhaps a scene begins. */
  look() {
    const { tape } = this.#app, view = tape?.view;
    if (!this.isHere || !tape || !view || this.#next || this.isOver) return;
    while (this.#at < tape.frames.length) {
      const frame = tape.frames[this.#at++];
      if (this.#scenes[0]?.cue && fits(this.#scenes[0].cue, frame) && this.#begin(ON_CUE_MS)) return;
    }
    if (view.status === "completed") return this.#finish();
    const sent = this.#app.outbox.get(this.#sent), isOnItsWay = sent && (!sent.seq || sent.seq > tape.seq);
    if (!view.is_settled || this.#app.isBehind || isOnItsWay) return;
    while (this.#scenes.length) if (this.#begin(READING_MS)) return;
    this.#finish();
  }

  /** Tell the next scene; whether the human acts in it. */
  #begin(least: number) {
    const scene = this.#scenes.shift() as Wire.SceneDocument;
    this.caption = scene.caption;
    if (!scene.say && !scene.answer) return false;
    this.#next = scene;
    this.#before = this.#deeds;
    this.#wait(least === READING_MS ? READING_MS + scene.caption.length * CHAR_MS : least);
    return true;
  }

  #wait(ms: number) {
    this.#left = ms;
    this.#since = Date.now();
    if (!this.isPaused) this.#timer = setTimeout(() => this.go(), ms);
  }

  /** What people have done so far: messages and answers. */
  get #deeds() {
    const { tape, humans } = this.#app, people = new Set(humans.map((each) => each.id));
    return tape?.conversation.items.filter(({ kind, item }) => kind === "answer" || (kind === "message" && people.has(item.metadata.member))).length ?? 0;
  }

  /** At once. */
  go() {
    clearTimeout(this.#timer);
    const scene = this.#next, app = this.#app;
    this.#next = null;
    if (!scene || !this.isHere) return;
    if (this.#deeds === this.#before) this.#act(scene);
    app.changed();
  }

  #act({ say, answer, cut }: Wire.SceneDocument) {
    const app = this.#app, step = app.view?.questions[0]?.step_id;
    if (cut) app.socket.cut();
    if (say) this.#sent = app.say(say);
    else if (answer && step) this.#sent = app.answer(step, answer);
  }

  togglePause() {
    this.isPaused = !this.isPaused;
    clearTimeout(this.#timer);
    if (this.isPaused) this.#left = Math.max(0, this.#left - (Date.now() - this.#since));
    else if (this.#next) this.#wait(this.#left);
    this.#app.changed();
  }

  #finish() {
    this.isOver = true;
  }

  /** The session stays: only nobody speaks for the human any more. */
  end() {
    clearTimeout(this.#timer);
    this.#app.demo = null;
    this.#app.changed();
  }
}

function fits({ event, task_id: wanted }: Wire.Cue, { event: name, metadata = {} }: Frame): boolean {
  return event === name && (!wanted || (metadata.task_id || metadata.task?.id) === wanted);
}
