// What the work changed in the repository: the files, the diff of one, comments on its lines; and taking it over.

import { html, nothing } from "lit/html.js";
import { repeat } from "lit/directives/repeat.js";
import { ApiError, api } from "../api.js";
import { icon } from "../icons.js";
import { LitPart } from "../lit-part.js";
import { openMenu } from "../menu.ts";
import { recall, remember } from "../prefs.js";
import { codeOf, pairLines, readHunks } from "../text/diff.ts";
import type { DiffLine } from "../text/diff.ts";
import { runsOf } from "../view/names.js";

const STATUS: Record<string, string> = { added: "A", modified: "M", deleted: "D", renamed: "R" };

type Turn = { id: string; label: string };

export class ChangesPanel extends LitPart {
  #key = "";
  #span: { task?: string; turn?: string } = {};
  #turns: Turn[] = [];
  #read = 0; // frames of the session that were looked at for turns
  #of = "";
  #files: Wire.FileChange[] = [];
  #more: number | null = null; // where the next page of files starts
  #problem = "";
  #open = "";
  #text = "";
  #rest: number | null = null; // where the next page of the diff starts
  #lines: DiffLine[] = [];
  #commit = "";
  #from = 0;
  #to = 0;
  #asked = 0; // times that a diff was
  #isSplit = recall("diff") === "split";

  template(app: App, view: View | null) {
    const { t } = app, work = view?.workspace;
    if (!work) return html`<p class="empty">${t("changes.none")}</p>`;
    this.#findTurns(app);
    const { task } = this.#span;
    if (task && !runsOf(view).some((run) => run.tree && run.task.id === task)) this.#span = {}; // of an earlier plan
    const key = `${app.tape?.id} ${work.head} ${work.added} ${work.removed} ${JSON.stringify(this.#span)} ${app.language}`;
    if (key !== this.#key) {
      this.#key = key;
      void this.#load(app);
    }
    return html`<header><b title=${t("tree.branch")}>${work.branch}</b>${work.has_work ? html`<span class="pill">${t("tree.not_taken")}</span>` : nothing}<span class="space"></span><span class="plus">+${work.added}</span><span class="minus">−${work.removed}</span></header>
      ${this.#chooser(app, view)}
      <p class="empty" ?hidden=${!this.#problem}>${this.#problem}</p>
      <ul class="files">${repeat(this.#files, (file) => file.path, (file) => this.#file(app, file))}</ul>
      ${this.#more === null ? nothing : html`<button class="ghost" @click=${() => void this.#load(app, this.#more ?? 0)}>${t("changes.more")}</button>`}
      ${work.comments.length ? this.#comments(app, work.comments) : nothing}
      ${this.#foot(app, work)}`;
  }

  /** The turns that changed files, from the events that have come since. */
  #findTurns(app: App) {
    const tape = app.tape;
    if (!tape) return;
    if (this.#of !== tape.id || this.#read > tape.seq) [this.#of, this.#read, this.#turns, this.#span] = [tape.id, 0, [], {}];
    for (const { event, metadata } of tape.frames.slice(this.#read)) {
      if (event !== "workspace.changed" || metadata.is_outside) continue;
      const { turn_id: id, member, task_id: task, added, removed } = metadata;
      const label = `${id} · ${[app.view?.members.find((each) => each.id === member)?.display_name ?? member, task].filter(Boolean).join(" · ")} +${added} −${removed}`;
      this.#turns = [...this.#turns.filter((turn) => turn.id !== id), { id, label }];
    }
    this.#read = tape.seq;
  }

  #chooser(app: App, view: View | null) {
    const { t } = app, tasks = runsOf(view).filter((run) => run.tree), { task, turn } = this.#span;
    if (!tasks.length && this.#turns.length < 2) return nothing;
    const choose = (event: Event) => {
      const [kind, id] = (event.target as HTMLSelectElement).value.split(/ (.*)/s);
      this.#span = kind ? { [kind]: id } : {};
      this.#open = "";
      this.draw();
    };
    const mayUndo = app.mayWrite && (turn || task) && !view?.workspace?.pending;
    const undo = () => app.toast(t("changes.undo.ask"), "info", { label: t("changes.undo"), run: () => void app.send("user.undo", turn ? { turn_id: turn } : { task_id: task }) });
    return html`<div class="of"><select aria-label=${t("changes.of")} @change=${choose}>
        <option value="" ?selected=${!task && !turn}>${t("changes.whole")}</option>
        ${tasks.length ? html`<optgroup label=${t("changes.tasks")}>${tasks.map((run) => html`<option value=${`task ${run.task.id}`} ?selected=${task === run.task.id}>${run.task.title}</option>`)}</optgroup>` : nothing}
        <optgroup label=${t("changes.turns")}>${this.#turns.map(({ id, label }) => html`<option value=${`turn ${id}`} ?selected=${turn === id}>${label}</option>`)}</optgroup></select>
      ${mayUndo ? html`<button @click=${undo}>${t("changes.undo")}</button>` : nothing}</div>`;
  }

  #file(app: App, file: Wire.FileChange) {
    const { t } = app, isOpen = this.#open === file.path;
    const counts = file.is_binary ? html`<span class="kind">${t("changes.binary")}</span>` : html`<span class="plus">+${file.added ?? 0}</span><span class="minus">−${file.removed ?? 0}</span>`;
    return html`<li><button class="file" aria-expanded=${isOpen} @click=${() => void this.#show(app, isOpen ? "" : file.path)}>${icon(isOpen ? "down" : "right")}
        <span class="status ${file.status}">${STATUS[file.status] ?? "?"}</span><span class="path" title=${file.path}><bdi>${file.was ? `${file.was} → ` : ""}${file.path}</bdi></span>${counts}</button>
      ${isOpen ? this.#diff(app, file) : nothing}</li>`;
  }

  #diff(app: App, file: Wire.FileChange) {
    const { t } = app, isNew = file.status === "added", isSplit = this.#isSplit && !isNew;
    const turn = () => { this.#isSplit = !isSplit; remember("diff", isSplit ? null : "split"); app.changed(); };
    const rows = isSplit ? pairLines(this.#lines).map(([left, right]) => this.#pair(app, left, right)) : this.#lines.map((line) => this.#line(app, line));
    return html`${isNew ? nothing : html`<div class="how"><button class="ghost" aria-pressed=${isSplit} @click=${turn}>${t("changes.split")}</button></div>`}
      <div class="diff lines ${isSplit ? "split" : ""} ${isNew ? "new" : ""}" role="group" aria-label=${file.path}>${rows}</div>
      ${this.#rest === null ? nothing : html`<button class="ghost" @click=${() => void this.#show(app, file.path, this.#rest ?? 0)}>${t("changes.more")}</button>`}`;
  }

  #line(app: App, line: DiffLine) {
    return html`<div class="d-${line.kind} ${this.#isChosen(line) ? "chosen" : ""}"><span class="no">${line.from || ""}</span>${this.#number(app, line)}${codeOf(line, "right", this.#open)}</div>${this.#form(app, line)}`;
  }

  /** A row with what was on the left and what is on the right. */
  #pair(app: App, left: DiffLine | null, right: DiffLine | null) {
    if (left && (left.kind === "hunk" || left.kind === "meta")) return html`<div class="d-${left.kind} whole">${codeOf(left, "right", "")}</div>`;
    return html`<div class=${left ? `d-${left.kind}` : "void"}><span class="no">${left?.from || ""}</span>${left ? codeOf(left, "left", this.#open) : nothing}</div>
      <div class="${right ? `d-${right.kind}` : "void"} ${right && this.#isChosen(right) ? "chosen" : ""}">${right ? html`${this.#number(app, right)}${codeOf(right, "right", this.#open)}` : nothing}</div>${right ? this.#form(app, right) : nothing}`;
  }

  #isChosen(line: DiffLine) {
    return line.to !== 0 && line.to >= this.#from && line.to <= this.#to;
  }

  #number(app: App, line: DiffLine) {
    if (!line.to || !app.mayWrite) return html`<span class="no">${line.to || ""}</span>`;
    return html`<button class="no" aria-label=${app.t("changes.comment_on", { line: line.to })} @click=${(event: MouseEvent) => this.#choose(line.to, event.shiftKey)}>${line.to}</button>`;
  }

  #form(app: App, line: DiffLine) {
    const { t } = app;
    if (!this.#isChosen(line) || line.to !== this.#to) return nothing;
    return html`<form class="comment" @submit=${(event: Event) => this.#comment(app, event)}>
      <textarea rows="2" required aria-label=${t("changes.comment")} placeholder=${t("changes.comment")}></textarea>
      <div><button type="button" class="ghost" @click=${() => this.#choose(0, false)}>${t("close")}</button><span class="space"></span>
      <button name="keep" value="keep">${t("changes.keep")}</button><button class="primary" name="send">${t("changes.send")}</button></div></form>`;
  }

  /** Those that were collected. */
  #comments(app: App, comments: readonly Wire.LineComment[]) {
    const { t } = app, say = (text: string) => () => void app.say(text, []);
    return html`<section class="comments"><h2>${t("changes.comments", { count: comments.length })}</h2><ul>${comments.map((each) => html`<li><code>${each.path}:${each.lines[0]}</code> ${each.text}</li>`)}</ul>
      ${app.mayWrite ? html`<div><button class="primary" @click=${say("/comment send")}>${t("changes.send_all")}</button><button class="ghost" @click=${say("/comment drop")}>${t("changes.drop")}</button></div>` : nothing}</section>`;
  }

  #foot(app: App, work: Wire.WorkspaceView) {
    const { t } = app, take = (how: "apply" | "merge" | "keep" | "discard") => () => void app.send("user.take", { how });
    if (!work.has_work) return work.how ? html`<p class="taken">${icon("check")}${t(`tree.taken.${work.how}`)}</p>` : nothing;
    if (!app.mayWrite) return nothing;
    return html`<footer>${work.pending ? html`<span class="pill">${t("take.pending")}</span>` : html`
      <button class=${app.view?.questions.length ? "" : "primary"} @click=${take("apply")}>${t("take.apply")}</button><button @click=${take("merge")}>${t("take.merge")}</button>
      <span class="space"></span><button class="icon more" title=${t("more_actions")} aria-label=${t("more_actions")} aria-haspopup="menu" aria-expanded="false" @click=${(event: Event) => openMenu(event.currentTarget as HTMLElement, [
        { label: t("take.keep"), icon: "fork", run: take("keep") },
        { label: t("take.discard"), icon: "trash", isBad: true, run: () => app.toast(t("take.discard.ask"), "info", { label: t("take.discard"), run: take("discard") }) },
      ], t("more_actions"))}>${icon("more")}</button>`}</footer>`;
  }

  async #load(app: App, offset = 0) {
    const id = app.tape?.id ?? "", key = this.#key;
    try {
      const page = await api.changes(id, { ...this.#span, offset });
      if (key !== this.#key) return; // another choice was made meanwhile
      this.#files = offset ? [...this.#files, ...page.files] : page.files;
      this.#more = page.next_offset ?? null;
      this.#commit = page.commit;
      this.#problem = "";
      if (this.#open && !offset) await this.#show(app, page.files.some((file) => file.path === this.#open) ? this.#open : "");
    } catch (error) {
      this.#fail(error);
      if (!offset) this.#files = [];
    }
    this.draw();
  }

  async #show(app: App, path: string, offset = 0) {
    const asked = ++this.#asked;
    if (!offset) [this.#open, this.#from, this.#to, this.#lines, this.#text, this.#rest] = [path, 0, 0, [], "", null];
    try {
      if (path) {
        const page = await api.diff(app.tape?.id ?? "", path, { ...this.#span, offset });
        if (asked !== this.#asked) return; // another is on its way
        this.#text += page.text;
        this.#lines = readHunks(this.#text);
        this.#rest = page.next_offset ?? null;
        this.#commit = page.commit;
        this.#problem = "";
      }
    } catch (error) {
      this.#fail(error);
    }
    this.draw();
  }

  #fail(error: unknown) {
    if (!(error instanceof ApiError)) throw error;
    this.#problem = error.message;
  }

  #choose(line: number, isMore: boolean) {
    if (isMore && this.#from) [this.#from, this.#to] = [Math.min(this.#from, line), Math.max(this.#to, line)];
    else this.#from = this.#to = line;
    this.draw();
    this.querySelector<HTMLElement>(".comment textarea")?.focus();
  }

  #comment(app: App, event: Event) {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement, text = (form.querySelector("textarea") as HTMLTextAreaElement).value.trim();
    if (!text) return;
    const isLast = ((event as SubmitEvent).submitter as HTMLButtonElement | null)?.name !== "keep";
    const hunk = this.#lines.filter((line) => this.#isChosen(line)).map((line) => line.text).join("\n");
    app.send("user.comment", { commit: this.#commit, path: this.#open, lines: [this.#from, this.#to], text, hunk, is_last: isLast });
    this.#choose(0, false);
  }
}
