// The page's one model: who is here, which sessions there are, the one that is open. It knows no DOM but the address.

import { ApiError, api, isLoggedIn, subprotocols } from "./api.js";
import { translator } from "./i18n.js";
import { Socket } from "./link/socket.js";
import { Listing } from "./listing.js";
import { Outbox } from "./outbox.js";
import { recall, recallJson, remember } from "./prefs.js";
import { Tape } from "./tape.js";
import { Replay } from "./replay.js";

const LIST_MS = 60_000; // the server tells what changes; this is for what it could not tell
const REVOKE_MS = 60_000; // a browser may still be reading what it saves
const BURST = 30, BURST_MS = 60; // so many events at once are history; more of it is probably on its way

export class App {
  /** @param {{language: Language, languages: Spoken[], changed: () => void}} given */
  constructor({ language, languages, changed }) {
    this.languages = languages;
    this.changed = changed;
    this.language = language;
    this.t = translator({}, language); // until they are here
    /** @type {{role: "owner" | "member" | "viewer", session_id: string | null, member: string | null} | null} */
    this.me = null;
    this.isReady = false;
    this.loginProblem = "";
    /** @type {Wire.TeamDocument[]} */
    this.teams = [];
    /** @type {any[]} */
    this.machines = [];
    this.listing = new Listing(this);
    /** @type {Tape | null} */
    this.tape = null;
    /** @type {Replay | null} */
    this.replay = null;
    /** @type {Toast[]} */
    this.toasts = [];
    this.connection = { state: "DISCONNECTED", attempt: 0, retryAt: 0, reason: "", since: Date.now(), target: 0 };
    /** @type {number | null} the event that timeline and conversation show together */
    this.selected = null;
    /** @type {import("./demo.ts").Demo | null} */
    this.demo = null;
    this.speaker = recall("speaker");
    this.socket = new Socket(() => this.#socketUrl(), subprotocols, (happened) => this.#take(happened));
    this.outbox = new Outbox(this.socket);
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

  /** There is no link to the server, and has been none for a moment. */
  get isCutOff() {
    return this.connection.state === "RECONNECTING" || this.connection.state === "DISCONNECTED";
  }

  get humans() {
    const members = this.view?.members ?? this.teams.find((each) => each.name === this.#begun)?.members ?? []; // the first message does not wait for the view
    return members.filter((member) => member.kind === "human");
  }

  #begun = ""; // the team of the session that was made last

  /** The human this page speaks for: who was chosen here, else the first. */
  get speaksAs() {
    if (this.me?.member) return this.me.member;
    return (this.humans.find((each) => each.id === this.speaker) ?? this.humans[0])?.id ?? null;
  }

  /** When the server was last heard, be it a heartbeat. */
  get heardAt() {
    return Date.now() - (this.socket.now - this.socket.half.heardAt) * 1000;
  }

  get mayWrite() {
    return this.me?.role !== "viewer" && !this.replay && !this.tape?.ended && this.tape !== null;
  }

  /** Whether a team of a demo is here: those play a script. */
  get hasDemo() {
    return this.mayCreate && this.teams.some((each) => each.scripted && /-demo$/.test(each.name) && !each.has_file);
  }

  get mayCreate() {
    return this.me?.role === "owner" && this.me.session_id === null;
  }

  get sessions() {
    return this.listing.entries;
  }

  // starting

  /** @param {string | null} token from the address, or typed */
  async start(token) {
    const wanted = /^\/s\/([a-z0-9_-]+)/.exec(location.pathname)?.[1];
    if (!token && isLoggedIn()) this.#enter(wanted); // the session need not wait for who we are
    let isOffline = false;
    try {
      this.me = token ? await api.login(token) : await api.me();
      this.loginProblem = "";
      remember("me", JSON.stringify(this.me));
    } catch (error) {
      isOffline = !(error instanceof ApiError);
      this.#isUnsure = isOffline && isLoggedIn();
      this.me = this.#isUnsure ? recallJson("me", null) : null; // who it was the last time, until the server can be asked
      this.loginProblem = isOffline ? "login.offline" : token ? "login.wrong" : ""; // a key: the words may not be here yet
    }
    if (token && !isOffline) history.replaceState(null, "", location.pathname + location.search); // a reload before this tries again
    this.isReady = true;
    this.changed();
    if (!this.me) return;
    this.#enter(wanted ?? this.me.session_id);
    if (this.listing.isInboxOld) void this.listing.lookIntoInbox();
    setInterval(() => document.hidden || this.listing.read(), LIST_MS);
    this.teams = await api.teams().catch(() => []);
    this.changed();
  }

  #isUnsure = false;

  /** @param {string | null | undefined} wanted session to be opened */
  #enter(wanted) {
    if (this.connection.state === "DISCONNECTED") {
      this.socket.connect();
      this.outbox.resend();
    }
    if (wanted) this.open(wanted, { isKept: true });
  }

  /** The tables of the state machines, for whoever looks at them. */
  async lookUpMachines() {
    if (this.#hasAskedForMachines) return;
    this.#hasAskedForMachines = true;
    this.machines = await api.machines().catch(() => []);
    this.#hasAskedForMachines = this.machines.length > 0;
    this.changed();
  }

  #hasAskedForMachines = false;

  async logout() {
    await api.logout();
    location.assign("/");
  }

  /** Save the open session as a file. */
  async export() {
    if (this.tape) await this.save(`/api/sessions/${this.tape.id}/export?lang=${this.language}`, `moot-${this.tape.id}.html`);
  }

  /** @param {string} path @param {string} name of the file */
  async save(path, name) {
    try {
      const href = await api.blob(path), link = Object.assign(document.createElement("a"), { href, download: name });
      link.click();
      setTimeout(() => URL.revokeObjectURL(href), REVOKE_MS);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.toast(error.message);
    }
  }

  /** A file of the page. @param {string} name */
  asset(name) {
    return new URL(`../${name}`, import.meta.url).pathname;
  }

  /** Start a session with its first message. @param {string} team @param {string} text @param {File[]} files */
  async begin(team, text, files = []) {
    await this.create(team, "");
    const id = this.tape?.id ?? "", kept = await Promise.all(files.map((file) => api.upload(id, file)));
    if (text.trim() || kept.length) this.say(text, [], kept.map(({ sha256, name }) => ({ sha256, name })));
  }

  /** Leave the session that is open: what needs you, and what could be begun. */
  goHome() {
    if (this.tape) this.socket.half.leave(this.tape.id);
    this.tape = null;
    this.replay = null;
    if (location.pathname !== "/") history.pushState(null, "", "/");
    void this.listing.lookIntoInbox();
    this.changed();
  }

  /** An end cannot be undone: it is asked for once more. */
  askToEnd() {
    this.toast(this.t("end_session.ask"), "info", { label: this.t("end_session"), run: () => void this.send("user.end") });
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
    await this.listing.read();
    this.#begun = team;
    this.open(made.session_id);
  }

  // what the user does

  /**
   * Sent as soon as there is a link, exactly once.
   * @template {CommandName} Name @param {Name} event @param {Wire.Commands[Name]} [fields] @returns {string} its id
   */
  send(event, fields) {
    try {
      const id = this.outbox.send(event, fields ?? {}, this.tape?.id ?? null);
      this.changed();
      return id;
    } catch (error) {
      this.toast(error instanceof RangeError ? this.t("too_long") : String(error), "error");
      return "";
    }
  }

  /** @param {string} text @param {string[]} to ids of members who speak next @param {Wire.FileRef[]} attachments */
  say(text, to = [], attachments = []) {
    const isSigned = /^\s*\//.test(text) || /\[FROM:/i.test(text) || this.me?.member || this.humans.length < 2;
    const by = this.speaksAs;
    const content = isSigned || !by ? text : `[FROM: ${by}] ${text}`;
    return this.send("user.message", { content, ...(to.length ? { to } : {}), ...(attachments.length ? { attachments } : {}) });
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
  learn(language, words) {
    this.language = language;
    this.t = translator(words, language);
  }

  /** @param {Language} language @param {Record<string, string>} words */
  setLanguage(language, words) {
    this.learn(language, words);
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

  /** Go on in a copy of the open session. @param {number} at the last event that they share */
  async fork(at) {
    const { tape } = this;
    if (tape) await this.attempt(api.fork(tape.id, at).then(({ session_id }) => this.open(session_id)));
  }

  /** To the trash; ten seconds to take them back at once. @param {Entry[]} entries */
  async remove(entries) {
    const open = this.tape?.id ?? "", ids = entries.map((each) => each.session_id), wasOpen = ids.includes(open);
    if (wasOpen) {
      this.socket.half.leave(open);
      this.tape = null;
      history.pushState(null, "", "/");
    }
    if (!(await this.attempt(Promise.all(ids.map(api.remove))))) return;
    const run = () => void this.attempt(Promise.all(ids.map(api.restore))).then(() => wasOpen && this.open(open));
    const [{ title, team }] = entries, told = entries.length > 1 ? this.t("removed_many", { count: entries.length }) : this.t("removed", { title: title || team });
    this.toast(told, "info", { label: this.t("undo"), run }, 10_000);
  }

  /** What cannot be done is told. @param {Promise<any>} done */
  async attempt(done) {
    const isDone = await done.then(() => true, (error) => this.toast(error.message, "error"));
    await this.listing.read();
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
        return this.outbox.recognise(each.frame);
      case "passing":
        if (each.frame.event === "system.sessions") this.#relist(each.frame.metadata);
        else if (each.frame.session_id === this.tape?.id) this.tape?.push(each.frame);
        return;
      case "reset":
        tape?.forget();
        if (tape) this.toast(this.t("link.reset", { reason: each.reason }));
        return;
      case "ended":
        if (tape) tape.ended = { code: each.code, sentence: each.sentence };
        return;
      case "done": return this.outbox.finish(/** @type {any} */ (each), this.tape);
      case "denied": return this.#refuse(each);
    }
  }

  /** @param {Wire.SessionsChanged} change */
  #relist(change) {
    this.listing.take(change);
    if (change.full) this.#aim();
    if (!this.tape) void this.listing.lookIntoInbox();
  }

  /** @param {any} moved */
  #move({ state, attempt, retry_in_s, reason }) {
    const isStillDown = [state, this.connection.state].every((each) => each === "RECONNECTING" || each === "DISCONNECTED");
    const since = isStillDown ? this.connection.since : Date.now();
    this.connection = { ...this.connection, state, attempt, retryAt: Date.now() + retry_in_s * 1000, reason: reason ?? "", since };
    if (state === "CONNECTED" && this.#isUnsure) location.reload(); // the server is here: begin as usual
    if (state === "CONNECTED") this.socket.send(`w_watch_${Date.now().toString(36)}`, "user.watch", { what: "sessions", on: true }, null);
    if (reason === "unauthenticated") this.me = null;
  }

  #aim() {
    this.connection.target = this.sessions.find((each) => each.session_id === this.tape?.id)?.seq ?? 0;
  }

  /** @param {any} denied */
  #refuse({ command_id, code, sentence, by, problems }) {
    const command = this.outbox.drop(command_id);
    if (command) this.refused?.(command, { code, sentence, by, problems });
    else this.toast(sentence, "error");
  }

  /** Told of a refused command: somebody may want to show it in its place. @type {((command: Sent, why: any) => void) | null} */
  refused = null;
}
