// The page's one model: who is here, which sessions there are, the one that is open. It knows no DOM but the address.

import { ApiError, api, subprotocols } from "./api.js";
import { translator } from "./i18n.js";
import { Socket } from "./link/socket.js";
import { recall, recallJson, remember } from "./prefs.js";
import { Tape } from "./tape.js";
import { Replay } from "./replay.js";
import { isAway } from "./shelf.js";

const LIST_MS = 5_000;
const REVOKE_MS = 60_000; // a browser may still be reading what it saves
const BURST = 30, BURST_MS = 60; // so many events at once are history; more of it is probably on its way

export class App {
  /** @param {{words: Record<string, string>, language: Language, languages: Spoken[], changed: () => void}} given */
  constructor({ words, language, languages, changed }) {
    this.languages = languages;
    this.changed = changed;
    this.language = language;
    this.t = translator(words, language);
    /** @type {{role: "owner" | "member" | "viewer", session_id: string | null, member: string | null} | null} */
    this.me = null;
    this.isReady = false;
    this.loginProblem = "";
    /** @type {any[]} */
    this.teams = [];
    /** @type {any[]} */
    this.machines = [];
    /** @type {Entry[]} */
    this.sessions = [];
    this.pages = 1; // of the list
    this.hasMoreSessions = false;
    /** @type {Tape | null} */
    this.tape = null;
    /** @type {Replay | null} */
    this.replay = null;
    /** @type {Map<string, Sent>} */
    this.sent = new Map();
    /** @type {Toast[]} */
    this.toasts = [];
    this.connection = { state: "DISCONNECTED", attempt: 0, retryAt: 0, reason: "", since: Date.now(), target: 0 };
    /** @type {number | null} the event that timeline and conversation show together */
    this.selected = null;
    this.speaker = recall("speaker");
    this.socket = new Socket(() => this.#socketUrl(), subprotocols, (happened) => this.#take(happened));
  }

  // what is shown

  get view() {
    return this.replay?.view ?? this.tape?.view ?? null;
  }

  /** The event up to which the session is shown. */
  get seq() {
    return this.replay?.seq ?? this.tape?.seq ?? 0;
  }

  /** History is still coming: what is half there is not worth drawing. */
  get isBehind() {
    if (!this.tape || this.tape.ended || this.connection.state !== "CONNECTED") return false;
    const { target } = this.connection;
    if (!this.tape.view) return true;
    return target ? this.tape.seq < target : performance.now() < this.#burstUntil;
  }

  #burstUntil = 0;

  get humans() {
    return this.view?.members.filter((member) => member.kind === "human") ?? [];
  }

  /** The human this page speaks for; null when that is open. */
  get speaksAs() {
    if (this.me?.member) return this.me.member;
    if (this.humans.length === 1) return this.humans[0].id;
    return this.humans.find((each) => each.id === this.speaker)?.id ?? null;
  }

  /** When the server was last heard, be it a heartbeat. */
  get heardAt() {
    return Date.now() - (this.socket.now - this.socket.half.heardAt) * 1000;
  }

  get mayWrite() {
    return this.me?.role !== "viewer" && !this.replay && !this.tape?.ended && this.tape !== null;
  }

  get mayCreate() {
    return this.me?.role === "owner" && this.me.session_id === null;
  }

  /** Messages on their way, in order. */
  get unsent() {
    const seq = this.tape?.seq ?? 0;
    return [...this.sent.values()].filter((each) => each.session === this.tape?.id && (each.seq || each.shown || Infinity) > seq);
  }

  // starting

  /** @param {string | null} token from the address, or typed */
  async start(token) {
    try {
      this.me = token ? await api.login(token) : await api.me();
      this.loginProblem = "";
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.me = null;
      this.loginProblem = token ? this.t("login.wrong") : "";
    }
    this.isReady = true;
    this.changed();
    if (!this.me) return;
    this.socket.connect();
    this.#resend();
    const wanted = /^\/s\/([a-z0-9_-]+)/.exec(location.pathname)?.[1] ?? this.me.session_id;
    if (wanted) this.open(wanted, { isKept: true });
    const listed = this.list().then(() => this.#aim());
    [this.teams, this.machines] = await Promise.all([api.teams(), api.machines()]);
    await listed;
    const first = this.sessions.find((each) => !isAway(each));
    if (!this.tape && first && innerWidth > 720) this.open(first.session_id, { isKept: true });
    setInterval(() => document.hidden || this.list(), LIST_MS);
    this.changed();
  }

  async logout() {
    await api.logout();
    location.assign("/");
  }

  /** Save the open session as a file. */
  async export() {
    if (!this.tape) return;
    try {
      const href = await api.blob(`/api/sessions/${this.tape.id}/export?lang=${this.language}`);
      const link = Object.assign(document.createElement("a"), { href, download: `moot-${this.tape.id}.html` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(href), REVOKE_MS);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.toast(error.message);
    }
  }

  async list() {
    try {
      const { entries, hasMore } = await api.sessions(this.pages);
      this.sessions = entries;
      this.hasMoreSessions = hasMore;
    } catch {
      return; // the connection line says what is wrong
    }
    this.changed();
  }

  /** Older sessions too. */
  async listMore() {
    this.pages += 1;
    await this.list();
  }

  /** @param {string} id @param {{isKept?: boolean}} [how] */
  open(id, { isKept = false } = {}) {
    if (this.tape?.id === id) return;
    if (this.tape) this.socket.half.leave(this.tape.id);
    this.tape = new Tape(id);
    this.replay = null;
    this.selected = Number(location.hash.slice(1)) || null;
    this.#aim();
    this.socket.follow(id);
    const address = `/s/${id}${isKept ? location.hash.replace(/^#token.*/, "") : ""}`;
    if (location.pathname !== `/s/${id}`) history[isKept ? "replaceState" : "pushState"](null, "", address);
    this.changed();
  }

  /** @param {string} team @param {string} title */
  async create(team, title) {
    const made = await api.create({ team, title, command_id: crypto.randomUUID?.() ?? String(Math.random()) });
    await this.list();
    this.open(made.session_id);
  }

  // what the user does

  /**
   * Sent as soon as there is a link, exactly once.
   * @template {CommandName} Name @param {Name} event @param {Wire.Commands[Name]} [fields] @returns {string} its id
   */
  send(event, fields) {
    const id = `w_${Date.now().toString(36)}_${Math.random().toString(36).slice(2, 10)}`;
    const command = { id, event, fields: fields ?? {}, session: this.tape?.id ?? null, seq: 0 };
    try {
      this.socket.send(id, event, command.fields, command.session);
    } catch (error) {
      this.toast(error instanceof RangeError ? this.t("too_long") : String(error), "error");
      return "";
    }
    this.sent.set(id, command);
    this.#keepUnsent();
    this.changed();
    return id;
  }

  /** @param {string} text @param {string[]} to ids of members who speak next */
  say(text, to = []) {
    const isSigned = /^\s*\//.test(text) || /\[FROM:/i.test(text) || this.me?.member || this.humans.length < 2;
    const by = this.speaksAs;
    const content = isSigned || !by ? text : `[FROM: ${by}] ${text}`;
    return this.send("user.message", to.length ? { content, to } : { content });
  }

  /** @param {string} step_id @param {Omit<Wire.Commands["user.response"], "step_id">} answer */
  answer(step_id, answer) {
    return this.send("user.response", { step_id, ...answer });
  }

  /** @param {string} id */
  speakAs(id) {
    this.speaker = id;
    remember("speaker", id);
    this.changed();
  }

  /** @param {Language} language @param {Record<string, string>} words */
  setLanguage(language, words) {
    this.language = language;
    this.t = translator(words, language);
    this.send("user.set_language", { language });
    if (this.tape) { // what people read is rendered by the server: have it all again
      this.tape.forget();
      this.socket.follow(this.tape.id);
    }
    this.changed();
  }

  /** @param {number | null} seq */
  select(seq) {
    this.selected = seq;
    const place = seq === null ? location.pathname : `${location.pathname}#${seq}`;
    history.replaceState(null, "", place);
    this.changed();
  }

  /** @param {string} text @param {string} [kind] @param {Toast["action"]} [action] @param {number} [ms] */
  toast(text, kind = "info", action, ms = 8_000) {
    const id = Math.random();
    this.toasts = [...this.toasts.slice(-3), { id, text, kind, action }];
    setTimeout(() => this.drop(id), ms);
    this.changed();
  }

  /** @param {number} id */
  drop(id) {
    this.toasts = this.toasts.filter((each) => each.id !== id);
    this.changed();
  }

  /** @param {Entry} entry */
  async duplicate({ title, team }) {
    await this.attempt(this.create(team, this.t("copy_of", { title: title || team }).slice(0, 200)));
  }

  /** To the trash; ten seconds to take it back at once. @param {Entry} entry */
  async remove({ session_id: id, title, team }) {
    const wasOpen = this.tape?.id === id;
    if (wasOpen) {
      this.socket.half.leave(id);
      this.tape = null;
      history.pushState(null, "", "/");
    }
    if (!(await this.attempt(api.remove(id)))) return;
    const run = () => void this.attempt(api.restore(id)).then(() => wasOpen && this.open(id));
    this.toast(this.t("removed", { title: title || team }), "info", { label: this.t("undo"), run }, 10_000);
  }

  /** What cannot be done is told. @param {Promise<any>} done */
  async attempt(done) {
    const isDone = await done.then(() => true, (error) => this.toast(error.message, "error"));
    await this.list();
    return isDone;
  }

  startReplay() {
    if (this.tape) this.replay = new Replay(this.tape, this.language, () => this.changed());
    this.changed();
  }

  endReplay() {
    this.replay?.stop();
    this.replay = null;
    this.changed();
  }

  // what the server says

  #socketUrl() {
    const { protocol, host } = location;
    return `${protocol === "https:" ? "wss" : "ws"}://${host}/ws?view=1&batch=1&lang=${this.language}`;
  }

  /** @param {Happening[]} happened */
  #take(happened) {
    for (const each of happened) this.#happen(each);
    if (happened.length >= BURST) this.#burstUntil = performance.now() + BURST_MS;
    this.changed();
  }

  /** @param {Happening} each */
  #happen(each) {
    const tape = each.session_id === this.tape?.id ? this.tape : null;
    switch (each.type) {
      case "moved": return this.#move(each);
      case "logged":
        tape?.push(each.frame);
        return this.#recognise(each.frame);
      case "passing":
        if (each.frame.session_id === this.tape?.id) this.tape?.push(each.frame);
        return;
      case "reset":
        tape?.forget();
        if (tape) this.toast(this.t("link.reset", { reason: each.reason }));
        return;
      case "ended":
        if (tape) tape.ended = { code: each.code, sentence: each.sentence };
        return;
      case "done": return this.#finish(each);
      case "denied": return this.#refuse(each);
    }
  }

  /** A message may be in the log before it is known to be accepted: it is not shown twice. @param {Frame} frame */
  #recognise({ event, session_id, seq = 0, metadata: said }) {
    if (event !== "message.posted" || !this.sent.size) return;
    const text = (said.raw ?? said.text).trim();
    const own = [...this.sent.values()].find((each) => !each.seq && !each.shown && each.session === session_id && each.fields.content?.trim() === text);
    if (own) this.sent.set(own.id, { ...own, shown: seq });
  }

  /** @param {any} moved */
  #move({ state, attempt, retry_in_s, reason }) {
    const isStillDown = [state, this.connection.state].every((each) => each === "RECONNECTING" || each === "DISCONNECTED");
    const since = isStillDown ? this.connection.since : Date.now();
    this.connection = { ...this.connection, state, attempt, retryAt: Date.now() + retry_in_s * 1000, reason: reason ?? "", since };
    if (state === "CONNECTED" && this.isReady) void this.list().then(() => this.#aim());
    if (reason === "unauthenticated") this.me = null;
  }

  #aim() {
    this.connection.target = this.sessions.find((each) => each.session_id === this.tape?.id)?.seq ?? 0;
  }

  /** @param {any} done */
  #finish({ command_id, seq }) {
    const command = this.sent.get(command_id);
    if (command) this.sent.set(command_id, { ...command, seq });
    const isShown = this.tape?.id !== command?.session || (this.tape?.seq ?? 0) >= seq;
    if (isShown || command?.event !== "user.message") this.sent.delete(command_id);
    this.#keepUnsent();
  }

  /** @param {any} denied */
  #refuse({ command_id, code, sentence, by, problems }) {
    const command = this.sent.get(command_id);
    this.sent.delete(command_id);
    this.#keepUnsent();
    if (command) this.refused?.(command, { code, sentence, by, problems });
    else this.toast(sentence, "error");
  }

  /** Told of a refused command: somebody may want to show it in its place. @type {((command: Sent, why: any) => void) | null} */
  refused = null;

  // what is not answered outlives a reload: its id makes it count once

  #keepUnsent() {
    const left = [...this.sent.values()].filter((each) => !each.seq && each.session);
    remember("unsent", left.length ? JSON.stringify(left.slice(-50)) : null);
  }

  #resend() {
    for (const each of /** @type {Sent[]} */ (recallJson("unsent", []))) {
      this.sent.set(each.id, each);
      this.socket.send(each.id, each.event, each.fields, each.session);
    }
  }
}
