// The file of a team: a form for what is changed most, the text with its problems, and what is different from what is saved.
// What is saved is inert until somebody confirms it at the terminal, and says so.

import { html, nothing } from "lit/html.js";
import { api } from "../api.js";
import { find, hear } from "../dom.js";
import { icon } from "../icons.js";
import { LitPart } from "../lit-part.js";
import { copyButton } from "../text/body.ts";

type Library = typeof import("../text/code-editor.ts");
type Tab = "form" | "text" | "changes";
const TABS: Tab[] = ["form", "text", "changes"];

export class TeamEditor extends LitPart {
  #library: Library | null = null;
  #editor: ReturnType<Library["openEditor"]> | null = null;
  #source: Wire.TeamSource | null = null;
  #text = "";
  #tab: Tab = "form";
  #problems: Wire.SourceProblem[] = [];
  #problem = "";
  #savedAs = "";
  #isSaving = false;

  connectedCallback() {
    hear("team-file", (name: string) => void this.#open(name));
  }

  async #open(name: string) {
    this.#editor = null;
    this.#source = null;
    this.#problems = [];
    this.#problem = this.#savedAs = "";
    this.#tab = "form";
    this.draw();
    find(this, "dialog").showModal();
    try {
      const [source, schema, library] = await Promise.all([api.teamSource(name), api.teamSchema(), import("../text/code-editor.ts")]);
      this.#source = source;
      this.#text = source.text;
      this.#library = library;
      this.draw();
      this.#editor = library.openEditor(find(this, ".code-place"), source.text, { label: source.file, unchanged: this.app.t("team.unchanged_lines", { n: "$" }), schema, changed: (text) => this.#change(text), check: (text) => this.#check(text) });
    } catch (error) {
      this.#problem = (error as Error).message;
    }
    this.draw();
  }

  get #isChanged() {
    return this.#source !== null && this.#text !== this.#source.text;
  }

  template(app: App) {
    const { t } = app, source = this.#source;
    return html`<dialog aria-labelledby="team-editor-title" @cancel=${(event: Event) => this.#leave(event)}>
      <header><h2 id="team-editor-title">${source?.name ?? t("team.file")}</h2><code class="file">${source?.file ?? ""}</code><span class="space"></span>
        <button class="icon" aria-label=${t("close")} @click=${(event: Event) => this.#leave(event)}>${icon("x")}</button></header>
      ${source ? html`<div class="segments tabs" role="group" aria-label=${t("team.file")}>${TABS.map((each) => html`<button data-tab=${each} aria-pressed=${each === this.#tab} @click=${() => this.#turnTo(each)}>${t(`team.tab.${each}`)}</button>`)}</div>` : this.#problem ? nothing : html`<p class="hint">${t("loading")}</p>`}
      <div class="code-place" ?hidden=${!source || this.#tab === "form"}></div>
      ${source && this.#tab === "form" ? this.#form(app) : nothing}
      ${this.#problems.length ? html`<div role="status"><ul class="problems">${this.#problems.map((each) => html`<li><button class="ghost" @click=${() => { this.#turnTo("text"); this.#editor?.goTo(each.line ?? 1); }}>${icon("alert")}<b>${t("team.line", { n: each.line ?? 1 })}</b> <code>${each.path}</code> <span>${each.text}</span></button></li>`)}</ul></div>` : nothing}
      <p class="problem" role="alert" ?hidden=${!this.#problem}>${this.#problem}</p>
      ${this.#savedAs ? html`<div class="saved" role="status"><p>${icon("check")}${t("team.saved")}</p><p class="copyable"><code>${this.#savedAs}</code>${copyButton(() => this.#savedAs, t)}</p></div>` : nothing}
      ${source ? html`<footer><span class="tally">${this.#problems.length ? t("team.problems", { count: this.#problems.length }) : this.#isChanged ? t("team.changed") : t("team.unchanged")}</span><span class="space"></span>
        ${this.#isChanged ? html`<button class="ghost undo" @click=${() => this.#set(source.text)}>${t("team.undo")}</button>` : nothing}
        <button class="primary save" ?disabled=${!this.#isChanged || this.#isSaving || this.#problems.length > 0} @click=${() => void this.#save()}>${t("team.save")}</button></footer>` : nothing}
    </dialog>`;
  }

  #form({ t }: App) {
    const { read, readMembers, write } = this.#library as Library, text = this.#text;
    const field = (label: string, path: (string | number)[], value: string | null, isLong = false) => {
      const input = (event: Event) => this.#set(write(this.#text, path, (event.target as HTMLInputElement).value));
      if (value === null) return html`<label><span>${label}</span><em>${t("team.in_text")}</em></label>`;
      return html`<label><span>${label}</span>${isLong ? html`<textarea rows="2" .value=${value} @change=${input}></textarea>` : html`<input .value=${value} @change=${input}>`}</label>`;
    };
    return html`<div class="form">
      <section>${field(t("team.name"), ["name"], read(text, ["name"]))}${field(t("team.about"), ["description"], read(text, ["description"]), true)}</section>
      ${readMembers(text).map((each) => html`<section data-member=${each.id}><h3>${each.name || each.id} <span class="pill">${each.kind === "human" ? t("kind.human") : each.agent || t("kind.ai")}</span></h3>
        <div class="pair">${field(t("team.name"), ["members", each.at, "name"], each.name)}${field(t("team.role"), ["members", each.at, "role"], each.role)}</div>
        ${each.kind === "human" ? nothing : html`${each.model ? field(t("team.model"), ["members", each.at, "agent", "model"], each.model) : nothing}${field(t("team.instructions"), ["members", each.at, "instructions"], each.instructions, true)}`}</section>`)}</div>`;
  }

  #turnTo(tab: Tab) {
    this.#tab = tab;
    this.draw();
    this.#editor?.compare(tab === "changes" ? this.#source?.text ?? "" : null);
  }

  #set(text: string) {
    this.#editor?.show(text); // it tells what has changed
    if (text !== this.#text) this.#change(text);
  }

  #change(text: string) {
    this.#text = text;
    this.#savedAs = this.#problem = "";
    this.draw();
    if (this.#tab === "form") void this.#check(text);
  }

  async #check(text: string) {
    const { problems } = await api.checkTeam(this.#source?.name ?? "", text, this.app.language).catch(() => ({ problems: [] }));
    if (text !== this.#text) return [];
    this.#problems = problems;
    this.draw();
    return problems;
  }

  async #save() {
    const source = this.#source as Wire.TeamSource;
    this.#isSaving = true;
    this.draw();
    try {
      this.#source = await api.saveTeam(source.name, { text: this.#text, sha256: source.sha256 }, this.app.language);
      this.#savedAs = `moot trust add ${source.file.replace(/[^/\\]*$/, "").replace(/(.)[/\\]$/, "$1")}`;
      this.#problem = "";
    } catch (error) {
      this.#problem = (error as Error).message;
    }
    this.#isSaving = false;
    this.draw();
  }

  /** What is not saved is not thrown away by a key. */
  #leave(event: Event) {
    event.preventDefault();
    const close = () => find(this, "dialog").close(), { app } = this;
    if (!this.#isChanged) return close();
    this.#problem = app.t("team.leave");
    if (event.type === "click" && find(this, "dialog").dataset.asked) return close();
    find(this, "dialog").dataset.asked = "1";
    this.draw();
  }
}
