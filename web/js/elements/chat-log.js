// The conversation: messages, what Moot says between them, what is being written, what is on its way.

import { find, h, keyed, set } from "../dom.js";
import { Part } from "../part.js";
import { makeMessage, makeNote, makePartial, makeTrace, makeTurn, makeUnsent, markSelected, updateMessage, updateNote, updatePlan, updateTrace, updateTurn } from "./chat-items.ts";
import { icon } from "../icons.js";

const PAGE = 150; // items in the document; earlier ones come when they are asked for
const NEAR = 40;

export class ChatLog extends Part {
  #shown = PAGE;
  #count = 0;
  #session = "";
  #seen = 0;
  #follows = true;
  #selected = /** @type {number | null} */ (null);

  /** @param {Translate} t */
  build(t) {
    const log = h("div", { class: "log", role: "log", "aria-live": "off", "aria-label": t("conversation"), tabindex: 0, onscroll: () => this.#scrolled() });
    log.append(h("button", { class: "ghost earlier", onclick: () => this.#showEarlier() }), h("div", { class: "items" }));
    this.append(
      log,
      h("button", { class: "newer", onclick: () => this.#follow() }, icon("down"), h("span", {})),
      h("div", { class: "skeleton", "aria-hidden": "true" }, h("i"), h("i"), h("i"), h("i")),
      h("div", { class: "blank" }, h("p", {}), h("button", { text: t("home"), onclick: () => this.app.goHome() })));
    const follower = new ResizeObserver(() => {
      document.documentElement.style.setProperty("--gutter", `${log.offsetWidth - log.clientWidth}px`); // what stands below it has the same edges
      if (this.#follows) this.#follow();
    });
    follower.observe(log);
    follower.observe(find(log, ".items"));
  }

  get #log() {
    return find(this, ".log");
  }

  /** What was at the top stays in its place. */
  #showEarlier() {
    const log = this.#log, before = log.scrollHeight - log.scrollTop;
    this.#shown += PAGE;
    this.render(this.app, this.app.view);
    log.scrollTop = log.scrollHeight - before;
  }

  get #isAtEnd() {
    const { scrollTop, clientHeight, scrollHeight } = this.#log;
    return scrollHeight - scrollTop - clientHeight < NEAR;
  }

  /** @param {App} app @param {View | null} view */
  render(app, view) {
    const log = this.#log, { t } = app;
    const session = `${app.tape?.id ?? ""} ${app.replay ? "replay" : ""}`;
    const isNew = session !== this.#session;
    if (isNew) {
      this.#session = session;
      this.#shown = PAGE;
      this.#selected = null;
    }
    const isFollowing = isNew || this.#follows;
    const all = app.tape ? itemsOf(app, view, app.tape) : [];
    if (!isFollowing) this.#shown += Math.max(0, all.length - this.#count); // what somebody reads stays there
    this.#count = all.length;
    const isWanted = this.#selected !== app.selected; // the address may name what has not come yet
    if (isWanted && app.selected !== null) this.#shown = Math.max(this.#shown, all.length - all.findLastIndex((item) => item.seq <= (app.selected ?? 0)));
    const items = all.slice(-this.#shown);
    keyed(find(log, ".items"), items, (item) => `${session} ${item.key}`, (item) => this.#make(item), (node, item) => this.#change(node, item));
    const plan = [...log.querySelectorAll(".plan-block")].at(-1);
    if (plan) updatePlan(app, plan);
    set(find(this, ".earlier"), { hidden: all.length <= items.length, text: t("earlier", { count: Math.min(PAGE, all.length - items.length) }) });
    if (isFollowing) this.#follow();
    set(this, { hidden: !app.tape });
    const unseen = isFollowing ? 0 : all.filter((item) => item.seq > this.#seen && item.kind !== "turn").length;
    set(find(this, ".newer"), { hidden: unseen === 0 });
    set(find(this, ".newer span"), { text: t("newer", { count: unseen }) });
    const blank = app.tape && !app.tape.view && app.isCutOff ? t("cut_off") : app.tape?.ended ? app.tape.ended.sentence || t("session_ended") : app.seq && !all.length ? t(app.view?.is_steered ? "say_goal" : "say_something") : "";
    set(find(this, ".skeleton"), { hidden: !app.tape || Boolean(app.tape.view) || Boolean(blank) || items.length > 0 });
    set(find(this, ".blank"), { hidden: !blank });
    set(find(this, ".blank p"), { text: blank });
    set(find(this, ".blank button"), { hidden: !app.tape?.ended || app.me?.session_id !== null });
    if (isWanted && (items.length || app.selected === null)) this.#select(app.selected);
  }

  /** @param {Item} item */
  #make({ kind, item }) {
    switch (kind) {
      case "message": return makeMessage(this.app, item);
      case "partial": return makePartial(this.app, item);
      case "trace": return makeTrace(this.app, item);
      case "turn": return makeTurn(this.app, item);
      case "unsent": return makeUnsent(this.app, item);
      default: return makeNote(this.app, kind, item);
    }
  }

  /** @param {HTMLElement} node @param {Item} item */
  #change(node, { kind, item }) {
    if (kind === "turn") updateTurn(this.app, node, item);
    if (kind === "message" && item.turn) updateMessage(this.app, node, item);
    if (item.event === "solver.completed") updateNote(this.app, node, kind, item);
    if (kind === "trace") updateTrace(this.app, node, item);
  }

  #follow() {
    const log = this.#log;
    log.scrollTop = log.scrollHeight;
    this.#scrolled();
  }

  #scrolled() {
    this.#follows = this.#isAtEnd;
    if (!this.#follows && this.#log.scrollTop < NEAR && !find(this, ".earlier").hidden) this.#showEarlier();
    if (!this.#follows) return;
    this.#seen = this.app.seq;
    set(find(this, ".newer"), { hidden: true });
  }

  /** @param {number | null} seq */
  #select(seq) {
    this.#selected = seq;
    const found = markSelected(this.#log, seq);
    if (!found) return;
    found.scrollIntoView({ block: "nearest" });
    this.#follows = this.#isAtEnd;
  }
}

/** What was said and done, by its place in the log; then who writes, then what is unsent.
 * @param {App} app @param {View | null} view null before it has come @param {Tape} tape @returns {Item[]} */
function itemsOf(app, view, { conversation }) {
  const { seq } = app, items = app.replay ? conversation.items.filter((item) => item.seq <= seq) : [...conversation.items];
  for (const turn of view?.running ?? []) {
    const item = app.replay ? { ...turn, text: "", thinking: "", steps: [] } : { ...turn, ...conversation.streamOf(turn.turn_id) };
    if (turn.job && !item.text && !item.thinking && !item.steps.length) continue; // most plans and reviews say nothing: who is at them stands in the bar
    items.push({ key: `t${turn.turn_id}`, seq, kind: "turn", item });
  }
  if (app.replay) return items;
  for (const item of app.outbox.unsentOf(app.tape)) {
    if (item.event === "user.message") items.push({ key: `u${item.id}`, seq, kind: "unsent", item });
  }
  return items;
}
