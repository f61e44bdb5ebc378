// The sessions: search, state in words, new ones, removal with undo.

import { find, h, keyed, set } from "../dom.js";
import { Part } from "../part.js";
import { showPane } from "./pane-tabs.js";

export class SessionList extends Part {
  /** @type {Map<string, number>} how far each was read here */
  #read = new Map();

  /** @param {Translate} t */
  build(t) {
    this.append(
      h("input", { type: "search", placeholder: t("search"), "aria-label": t("search"), oninput: () => this.render(this.app) }),
      h("ul", {}),
      h("p", { class: "empty" }),
      h("button", { type: "button", class: "new", text: `+ ${t("new_session")}`, onclick: () => document.dispatchEvent(new CustomEvent("moot-new")) }));
  }

  /** @param {App} app */
  render(app) {
    const wanted = find(this, "input").value.trim().toLowerCase();
    const shown = app.sessions.filter((each) => !app.removing.has(each.session_id)
      && (!wanted || `${each.title} ${each.team} ${each.session_id}`.toLowerCase().includes(wanted)));
    keyed(find(this, "ul"), shown, (each) => each.session_id, (each) => this.#make(each));
    shown.forEach((each, at) => this.#show(find(this, "ul").children[at], each));
    set(find(this, ".empty"), { text: app.t(wanted ? "nothing_found" : "no_sessions"), hidden: shown.length > 0 });
    set(find(this, ".new"), { hidden: !app.mayCreate });
  }

  /** @param {Entry} entry */
  #make({ session_id }) {
    const { t } = this.app;
    const open = (/** @type {Event} */ event) => {
      event.preventDefault();
      showPane("talk");
      this.app.open(session_id);
    };
    const remove = () => {
      const entry = this.app.sessions.find((each) => each.session_id === session_id);
      this.app.remove(session_id, entry?.title || entry?.team || session_id);
    };
    return h("li", {},
      h("a", { href: `/s/${session_id}`, onclick: open },
        h("span", { class: "dot", "aria-hidden": "true" }), h("span", { class: "name" }), h("span", { class: "unread" }), h("span", { class: "state" })),
      h("button", { type: "button", class: "ghost remove", text: "✕", title: t("remove"), "aria-label": t("remove"), onclick: remove }));
  }

  /** @param {Element} item @param {Entry} entry */
  #show(item, entry) {
    const { app } = this, isOpen = app.tape?.id === entry.session_id;
    if (isOpen && !app.replay) this.#read.set(entry.session_id, Math.max(entry.seq, app.tape?.view.seq ?? 0));
    const read = this.#read.get(entry.session_id) ?? entry.seq;
    if (!this.#read.has(entry.session_id)) this.#read.set(entry.session_id, entry.seq);
    const unread = Math.max(0, entry.seq - read);
    const state = stateOf(app, entry);
    set(find(item, "a"), { "aria-current": isOpen ? "page" : null, "data-state": state });
    set(find(item, ".name"), { text: entry.title || entry.team });
    set(find(item, ".state"), { text: `${app.t(`list.${state}`)} · ${ago(entry.updated_at, app.language)}` });
    set(find(item, ".unread"), { text: unread ? String(unread) : "", hidden: !unread, title: app.t("unread", { count: unread }) });
    set(find(item, ".remove"), { hidden: app.me?.role !== "owner" });
  }
}

/** @param {App} app @param {Entry} entry */
function stateOf(app, entry) {
  const live = app.tape?.id === entry.session_id && app.tape.view.seq >= entry.seq ? app.tape.view : entry;
  if (live.status === "completed") return "completed";
  if (live.status === "active") return "running";
  if (!live.waiting_for) return "new";
  return !app.me?.member || live.waiting_for === app.me.member ? "waits" : "others";
}

/** @param {string} at @param {string} language */
function ago(at, language) {
  const minutes = Math.round((Date.parse(at) - Date.now()) / 60_000);
  const format = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" });
  if (minutes > -60) return format.format(Math.min(0, minutes), "minute");
  if (minutes > -60 * 24) return format.format(Math.round(minutes / 60), "hour");
  return format.format(Math.round(minutes / 1440), "day");
}
