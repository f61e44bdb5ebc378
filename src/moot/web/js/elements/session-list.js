// The sessions: search, state in words, the last line; each can be renamed, pinned, put away, doubled, removed.

import { find, h, keyed, set, tell } from "../dom.js";
import { Part } from "../part.js";
import { isAway, keep, keptOf } from "../shelf.js";
import { showPane } from "./pane-tabs.js";

export class SessionList extends Part {
  #isArchive = false;

  /** @param {Translate} t */
  build(t) {
    this.append(
      h("input", { type: "search", placeholder: t("search"), "aria-label": t("search"), oninput: () => this.render(this.app) }),
      h("ul", {}),
      h("p", { class: "empty" }),
      h("button", { class: "ghost older", text: t("older_sessions"), onclick: () => void this.app.listMore() }),
      h("button", { class: "ghost shelf", onclick: () => { this.#isArchive = !this.#isArchive; this.render(this.app); } }),
      h("button", { class: "new", text: `+ ${t("new_session")}`, onclick: () => tell("new") }));
  }

  /** @param {App} app */
  render(app) {
    const { t, sessions } = app, wanted = find(this, "input").value.trim().toLowerCase(), away = sessions.filter(isAway).length, list = find(this, "ul");
    const shown = sessions.filter((each) => (wanted ? `${each.title} ${each.team} ${each.session_id} ${each.last?.text}`.toLowerCase().includes(wanted) : isAway(each) === this.#isArchive));
    shown.sort((a, b) => Number(!!keptOf(b.session_id).pinned) - Number(!!keptOf(a.session_id).pinned));
    keyed(list, shown, (each) => each.session_id, (each) => this.#make(each));
    shown.forEach((each, at) => this.#show(list.children[at], each));
    set(find(this, ".empty"), { text: t(wanted ? "nothing_found" : "no_sessions"), hidden: shown.length > 0 });
    set(find(this, ".shelf"), { text: `${t("archived")} (${away})`, hidden: !away && !this.#isArchive, "aria-pressed": String(this.#isArchive) });
    set(find(this, ".older"), { hidden: !app.hasMoreSessions });
    set(find(this, ".new"), { hidden: !app.mayCreate });
  }

  /** @param {number} by */
  step(by) {
    const links = [...this.querySelectorAll("a")];
    links[links.findIndex((each) => each.ariaCurrent) + by]?.click();
  }

  /** The one that has the focus, else the one that is open. */
  rename() {
    const id = document.activeElement?.closest("session-list li")?.getAttribute("data-id") ?? this.app.tape?.id;
    const entry = this.#find(id);
    if (entry && this.app.me?.role !== "viewer") tell("new", entry);
  }

  /** @param {string | undefined} id */
  #find(id) {
    return this.app.sessions.find((each) => each.session_id === id);
  }

  /** @param {Entry} entry @returns {Record<string, false | (() => void)>} */
  #deeds(entry) {
    const { app } = this, { mayCreate } = app, id = entry.session_id, { pinned } = keptOf(id), isIn = !isAway(entry);
    return {
      rename: app.me?.role !== "viewer" && (() => tell("new", entry)),
      [pinned ? "unpin" : "pin"]: () => keep(id, { pinned: !pinned }),
      [isIn ? "archive" : "unarchive"]: () => keep(id, { away: isIn ? entry.seq : null }),
      duplicate: mayCreate && (() => app.duplicate(entry)),
      remove: mayCreate && (() => app.remove(entry)),
    };
  }

  /** @param {Entry} entry */
  #make({ session_id: id }) {
    const deeds = h("div", { class: "deeds", hidden: true });
    const toggle = (/** @type {Event} */ event) => {
      event.preventDefault();
      const isOpening = deeds.hidden, entry = this.#find(id);
      for (const each of this.querySelectorAll(".deeds")) set(each, { hidden: true });
      for (const each of this.querySelectorAll(".more")) set(each, { "aria-expanded": String(isOpening && each === more) });
      if (!isOpening || !entry) return;
      deeds.hidden = false;
      deeds.replaceChildren(...Object.entries(this.#deeds(entry)).map(([name, run]) => run && h("button", {
        text: this.app.t(`deed.${name}`), onclick: (event) => { more.focus(); toggle(event); run(); this.app.changed(); },
      })).filter((each) => !!each));
      find(deeds, "button").focus();
    };
    const open = (/** @type {Event} */ event) => {
      event.preventDefault();
      showPane("talk");
      this.app.open(id);
    };
    const more = h("button", { class: "ghost more", text: "⋯", "aria-expanded": "false", onclick: toggle });
    return h("li", { "data-id": id, oncontextmenu: toggle },
      h("a", { href: `/s/${id}`, onclick: open }, ...["dot", "name", "unread", "last", "state"].map((name) => h("span", { class: name }))), more, deeds);
  }

  /** @param {Element} item @param {Entry} entry */
  #show(item, entry) {
    const { app } = this, { t, tape } = app, { session_id: id, last, messages } = entry, isOpen = tape?.id === id, name = entry.title || entry.team;
    const { read = isOpen ? -1 : messages, pinned } = keptOf(id), unread = isOpen ? 0 : messages - read;
    const state = stateOf(app, isOpen && tape.view && tape.seq >= entry.seq ? tape.view : entry);
    if (isOpen && !document.hidden && read < messages) keep(id, { read: messages });
    set(find(item, "a"), { "aria-current": isOpen ? "page" : null, "data-state": state });
    set(find(item, ".name"), { text: `${pinned ? "★ " : ""}${name}` });
    set(find(item, ".last"), { text: last ? `${last.by}: ${last.text}` : "" });
    set(find(item, ".state"), { text: `${t(`list.${state}`)} · ${ago(entry.updated_at, app.language)}` });
    set(find(item, ".unread"), { text: String(unread), hidden: unread <= 0, title: t("unread", { count: unread }) });
    set(find(item, ".more"), { "aria-label": t("more", { name }) });
  }
}

/** @param {App} app @param {View | Entry} now */
function stateOf({ me }, { status, waiting_for, pause_reason }) {
  if (status === "completed") return status;
  if (status === "active") return "running";
  if (!waiting_for) return "new";
  if (pause_reason?.startsWith("agent_")) return "failed";
  return !me?.member || waiting_for === me.member ? "waits" : "others";
}

const UNITS = /** @type {const} */ ([["minute", 1], ["hour", 60], ["day", 1440]]);

/** @param {string} at @param {string} language */
function ago(at, language) {
  const minutes = Math.max(0, (Date.now() - Date.parse(at)) / 60_000), [unit, size] = UNITS.findLast((each) => minutes >= each[1]) ?? UNITS[0];
  return new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" }).format(-Math.round(minutes / size), unit);
}
