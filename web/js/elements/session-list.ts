// The sessions: what needs you, what is at work, then by day; each can be renamed, pinned, put away, doubled, removed.

import { html, nothing } from "lit/html.js";
import { repeat } from "lit/directives/repeat.js";
import { api } from "../api.js";
import { find, tell } from "../dom.js";
import { icon } from "../icons.js";
import { LitPart } from "../lit-part.js";
import { openMenu } from "../menu.ts";
import type { Choice } from "../menu.ts";
import { recall, remember } from "../prefs.js";
import { isAway, keep, keptOf } from "../shelf.js";
import { plain, polish } from "../text/body.ts";
import { ago } from "../view/ago.ts";
import { groupsOf, projectsOf, standingOf } from "../view/needs.ts";
import type { Group } from "../view/needs.ts";
import { inboxItems, waitingOf } from "./inbox-item.ts";
import { showPane } from "./pane-tabs.js";

const SEEK_MS = 200, NARROW = 720; // ms, pixels
/** What one can look at alone, and what that is called. */
const STANDINGS: Record<string, string> = { asks: "group.needs", running: "group.running", failed: "column.failed", paused: "status.paused", finished: "status.finished" };

export class SessionList extends LitPart {
  #shelf: "" | "archive" | "trash" = "";
  #trash: Entry[] = [];
  #chosen: Set<string> | null = null; // those that are selected, while one selects
  #wanted = "";
  #shown = "";
  #found: FoundLine[] = [];
  #only = ""; // a standing, or `team NAME`
  #isByProject = recall("list") === "projects";
  #asked: ReturnType<typeof setTimeout> | undefined;

  template(app: App) {
    const { t, sessions } = app, away = sessions.filter(isAway).length, isTrash = this.#shelf === "trash", isComing = !app.listing.isKnown && !sessions.length && !app.isCutOff;
    const known = this.#only ? sessions.filter((each) => this.#isWanted(app, each)) : sessions;
    const shown = isTrash ? this.#trash.filter((each) => this.#isFound(each)) : known.filter((each) => (this.#wanted ? this.#isFound(each) : isAway(each) === (this.#shelf === "archive")));
    const found = this.#found.filter((each) => each.text !== each.title || !shown.some((entry) => entry.session_id === each.session_id)); // a title that is listed already
    const one = isTrash ? "trash" : this.#wanted ? "found" : this.#shelf && "archived";
    const groups = one ? [{ name: one, entries: shown }] : this.#isByProject ? projectsOf(shown) : groupsOf(shown, app.me?.member ?? null), waiting = innerWidth <= NARROW ? waitingOf(app.listing.inbox) : []; // elsewhere home has them
    return html`
      <div class="brand">
        <a class="mark" href="/" @click=${(event: Event) => { event.preventDefault(); showPane("talk"); app.goHome(); }} ?hidden=${app.me?.session_id != null}><img src=${app.asset("favicon.svg")} alt="" width="22" height="22"><b>Moot</b></a>
        <span class="space"></span>
        <button class="icon gear" title=${t("settings")} aria-label=${t("settings")} @click=${() => tell("settings")}>${icon("gear")}</button>
      </div>
      <button class="new" ?hidden=${!app.mayCreate} @click=${() => { showPane("talk"); app.goHome(); find(document, "#goal")?.focus(); }}>${icon("plus")}<span>${t("new_session")}</span></button>
      <div class="find"><label>${icon("search")}<input type="search" placeholder=${t("search")} aria-label=${t("search")} .value=${this.#wanted}
        @input=${(event: Event) => this.#seek((event.target as HTMLInputElement).value.trim())}></label>
        <button class="ghost filter" aria-haspopup="menu" aria-expanded="false" aria-pressed=${Boolean(this.#only)} title=${t("filter")} aria-label=${t("filter")} @click=${(event: Event) => this.#filter(event)}>${icon("filter")}</button></div>
      ${this.#only ? html`<p class="only"><span class="pill">${this.#nameOf(app, this.#only)}<button class="ghost" aria-label=${t("filter.all")} @click=${() => { this.#only = ""; this.draw(); }}>${icon("x")}</button></span></p>` : nothing}
      <div class="rows">
        ${waiting.length && !one ? html`<section class="inbox"><h2>${t("group.needs")}<span class="count">${waiting.length}</span></h2><ul>${inboxItems(app, waiting)}</ul></section>` : nothing}
        ${groups.map((group) => this.#group(app, group))}
        ${this.#wanted && found.length ? html`<section class="said"><h2>${t("group.said")}</h2><ul>${found.map((each) => this.#line(app, each))}</ul></section>` : nothing}
        ${isComing ? html`<div class="skeleton" aria-hidden="true"><i></i><i></i><i></i></div>` : nothing}
        <p class="empty" ?hidden=${shown.length > 0 || found.length > 0 || isComing}>${t(this.#wanted ? "nothing_found" : isTrash ? "trash.empty" : app.isCutOff ? "cut_off" : "no_sessions")}</p>
        <button class="ghost older" ?hidden=${!app.listing.hasMore || isTrash} @click=${() => void app.listing.readMore()}>${t("older_sessions")}</button>
      </div>
      ${this.#chosen ? this.#bulk(app, shown, this.#chosen) : html`<div class="shelves">
        <button class="ghost shelf archive" ?hidden=${!away && this.#shelf !== "archive"} aria-pressed=${this.#shelf === "archive"} @click=${() => this.#turnTo("archive")}>${icon("archive")}${t("archived")} (${away})</button>
        <button class="ghost shelf trash" ?hidden=${!app.mayCreate} aria-pressed=${isTrash} @click=${() => this.#turnTo("trash")}>${icon("trash")}${t("trash")}</button>
        <button class="ghost shelf select" ?hidden=${!shown.length} title=${t("select")} aria-label=${t("select")} @click=${() => { this.#chosen = new Set(); this.draw(); }}>${icon("check")}</button></div>`}`;
  }

  #isWanted(app: App, entry: Entry) {
    return this.#only === `team ${entry.team}` || this.#only === standingOf(entry, app.me?.member ?? null);
  }

  #nameOf({ t }: App, only: string) {
    return only.startsWith("team ") ? only.slice(5) : t(STANDINGS[only]);
  }

  #filter(event: Event) {
    event.preventDefault();
    const { app } = this, { t } = app, teams = [...new Set(app.sessions.map((each) => each.team))].sort();
    const arrange = (isByProject: boolean) => ({ label: t(isByProject ? "list.by_project" : "list.by_day"), isChecked: this.#isByProject === isByProject, icon: isByProject ? "file" : "clock", run: () => { this.#isByProject = isByProject; remember("list", isByProject ? "projects" : null); this.draw(); } });
    const only = (name: string, symbol: string) => ({ label: this.#nameOf(app, name), isChecked: this.#only === name, icon: symbol, run: () => { this.#only = this.#only === name ? "" : name; this.draw(); } });
    openMenu(event.currentTarget as HTMLElement, [arrange(false), arrange(true), ...Object.keys(STANDINGS).map((each) => only(each, "filter")), ...(teams.length > 1 ? teams.map((each) => only(`team ${each}`, "users")) : [])], t("filter"));
  }

  #turnTo(shelf: "archive" | "trash") {
    this.#shelf = this.#shelf === shelf ? "" : shelf;
    this.draw();
    if (this.#shelf === "trash") void this.#lookIntoTrash();
  }

  async #lookIntoTrash() {
    this.#trash = await api.trash().catch(() => []);
    this.draw();
  }

  /** What can be done with all that are selected. */
  #bulk(app: App, shown: Entry[], chosen: Set<string>) {
    const { t, mayCreate } = app, entries = shown.filter((each) => chosen.has(each.session_id)), isTrash = this.#shelf === "trash";
    const done = () => { this.#chosen = null; this.draw(); };
    const deed = (name: string, symbol: string, run: () => void) => html`<button class="ghost ${name}" ?disabled=${!entries.length} title=${t(`deed.${name}`)} aria-label=${t(`deed.${name}`)} @click=${() => { run(); done(); }}>${icon(symbol)}</button>`;
    const put = (isIn: boolean) => () => { for (const each of entries) keep(each.session_id, { away: isIn ? null : each.seq }); app.changed(); };
    return html`<div class="bulk" role="toolbar" aria-label=${t("select")}><span class="chosen" role="status">${t("selected", { count: entries.length })}</span><span class="space"></span>
      ${isTrash ? html`${deed("restore", "retry", () => void this.#restore(entries))}${deed("forever", "trash", () => this.#destroy(entries))}`
        : html`${this.#shelf === "archive" ? deed("unarchive", "archive", put(true)) : deed("archive", "archive", put(false))}${mayCreate ? deed("remove", "trash", () => void app.remove(entries)) : nothing}`}
      <button class="ghost" title=${t("close")} aria-label=${t("close")} @click=${done}>${icon("x")}</button></div>`;
  }

  async #restore(entries: Entry[]) {
    await this.app.attempt(Promise.all(entries.map((each) => api.restore(each.session_id))));
    await this.#lookIntoTrash();
  }

  /** It cannot be undone: it is asked for once more. */
  #destroy(entries: Entry[]) {
    const { t } = this.app, run = () => void this.app.attempt(Promise.all(entries.map((each) => api.destroy(each.session_id)))).then(() => this.#lookIntoTrash());
    this.app.toast(t("forever.ask", { count: entries.length }), "info", { label: t("deed.forever"), run });
  }

  /** In the list at once, and a moment later in everything that was said. */
  #seek(words: string) {
    this.#wanted = words.toLowerCase();
    this.#found = [];
    clearTimeout(this.#asked);
    if (words) this.#asked = setTimeout(() => void api.search(words).then(({ found }) => {
      if (this.#wanted === words.toLowerCase()) this.#found = found;
      this.draw();
    }, () => undefined), SEEK_MS);
    this.draw();
  }

  #line(app: App, { session_id: id, title, team, seq, by, text, marks }: FoundLine) {
    const parts: unknown[] = [];
    let last = 0;
    for (const [from, to] of marks) {
      parts.push(polish(text.slice(last, from)), html`<mark>${text.slice(from, to)}</mark>`);
      last = to;
    }
    const open = (event: Event) => { event.preventDefault(); showPane("talk"); app.open(id); app.select(seq); };
    return html`<li><a href="/s/${id}#${seq}" @click=${open}><span class="dot"></span><span class="name">${title || team}</span><span class="last">${by ? `${by}: ` : ""}${parts}${polish(text.slice(last))}</span></a></li>`;
  }

  #isFound({ title, team, session_id, last }: Entry) {
    return `${title} ${team} ${session_id} ${last?.text}`.toLowerCase().includes(this.#wanted);
  }

  #group(app: App, { name, entries, title }: Group) {
    return entries.length ? html`<section class=${name}>
      <h2>${title ?? app.t(`group.${name}`)}${name === "needs" ? html`<span class="count">${entries.length}</span>` : nothing}</h2>
      <ul>${repeat(entries, (each) => each.session_id, (each) => this.#row(app, each))}</ul></section>` : nothing;
  }

  #row(app: App, entry: Entry) {
    const { t, tape } = app, { session_id: id, last, messages } = entry, isOpen = tape?.id === id, name = entry.title || entry.team;
    const { read = isOpen ? -1 : messages, pinned } = keptOf(id), unread = isOpen ? 0 : messages - read;
    if (isOpen && !document.hidden && read < messages) keep(id, { read: messages });
    const standing = standingOf(entry, app.me?.member ?? null), when = ago(entry.updated_at, app);
    const what = standing === "asks" ? t(`need.${entry.needs}`) : t(`list.${standing}`);
    const isTrash = this.#shelf === "trash", chosen = this.#chosen;
    const open = (event: Event) => {
      event.preventDefault();
      if (isTrash) return;
      showPane("talk");
      app.open(id);
    };
    const choose = () => {
      if (!chosen?.delete(id)) chosen?.add(id);
      this.draw();
    };
    return html`<li data-id=${id} class=${chosen ? "choosing" : ""} @contextmenu=${(event: Event) => this.#menu(event, entry)}>
      ${chosen ? html`<label class="choose"><input type="checkbox" .checked=${chosen.has(id)} aria-label=${t("select.one", { name })} @change=${choose}></label>` : nothing}
      <a href="/s/${id}" aria-current=${isOpen ? "page" : nothing} data-state=${isTrash ? "new" : standing} @click=${open}>
        <span class="dot"></span><span class="name">${pinned ? "★ " : ""}${name}</span><span class="unread" ?hidden=${unread <= 0} title=${t("unread", { count: unread })}>${unread}</span><time>${when}</time>
        <span class="state">${what}</span><span class="last">${last ? `${last.by}: ${plain(last.text)}` : ""}</span>
      </a>
      <button class="ghost more" aria-haspopup="menu" aria-expanded="false" aria-label=${t("more", { name })} @click=${(event: Event) => this.#menu(event, entry)}>${icon("more")}</button>
    </li>`;
  }

  #menu(event: Event, entry: Entry) {
    event.preventDefault();
    const { app } = this, { t, mayCreate } = app, id = entry.session_id, { pinned } = keptOf(id), isIn = !isAway(entry);
    const arrange = (change: Kept) => () => { keep(id, change); app.changed(); };
    const choices: (Choice | false)[] = this.#shelf === "trash" ? [
      { label: t("deed.restore"), icon: "retry", run: () => void this.#restore([entry]) },
      { label: t("deed.forever"), icon: "trash", isBad: true, run: () => this.#destroy([entry]) },
    ] : [
      app.me?.role !== "viewer" && { label: t("deed.rename"), icon: "edit", key: "F2", run: () => tell("rename", entry) },
      { label: t(pinned ? "deed.unpin" : "deed.pin"), icon: "pin", run: arrange({ pinned: !pinned }) },
      { label: t(isIn ? "deed.archive" : "deed.unarchive"), icon: "archive", run: arrange({ away: isIn ? entry.seq : null }) },
      mayCreate && { label: t("deed.duplicate"), icon: "copy", run: () => void app.duplicate(entry) },
      mayCreate && { label: t("deed.remove"), icon: "trash", isBad: true, run: () => void app.remove([entry]) },
    ];
    const item = (event.currentTarget as HTMLElement).closest("li") as HTMLElement;
    openMenu(find(item, ".more"), choices.filter((each) => each !== false), t("more", { name: entry.title || entry.team }));
  }

  /** The session that was opened is in sight. */
  drawn(app: App) {
    const id = app.tape?.id ?? "";
    if (id === this.#shown || !app.sessions.length) return;
    this.#shown = id;
    this.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }

  step(by: number) {
    const links = [...this.querySelectorAll<HTMLElement>("li a")];
    links[links.findIndex((each) => each.ariaCurrent) + by]?.click();
  }

  /** The one that has the focus, else the one that is open. */
  rename() {
    const id = document.activeElement?.closest("session-list li")?.getAttribute("data-id") ?? this.app.tape?.id;
    const entry = this.app.sessions.find((each) => each.session_id === id);
    if (entry && this.app.me?.role !== "viewer") tell("rename", entry);
  }
}
