// Home: say what the team should do, see what needs you, choose a team, watch the demo.

import { html, nothing } from "lit/html.js";
import { find, tell } from "../dom.js";
import { icon } from "../icons.js";
import { LitPart } from "../lit-part.js";
import { recall, remember } from "../prefs.js";
import { copyButton } from "../text/body.ts";
import { avatar } from "./avatar.ts";
import { inboxItems, waitingOf } from "./inbox-item.ts";
import { load } from "./later.js";

const INIT = "moot init my-team";

export class StartPage extends LitPart {
  #team = recall("team") ?? "";
  #problem = "";
  #isStarting = false;
  #isEager = false;
  #wasHidden = true;
  #files: File[] = [];

  template(app: App) {
    const { t, teams, mayCreate } = app;
    this.hidden = app.tape !== null || !app.me || app.me.session_id !== null;
    const team = teams.find((each) => each.name === this.#team) ?? teams[0], waiting = waitingOf(app.listing.inbox);
    return html`<div class="column">
      ${mayCreate ? this.#composer(app, team) : html`<h2>${t("pick_session")}</h2>`}
      ${waiting.length ? html`<section class="inbox"><h3>${t("group.needs")} <span class="count">${waiting.length}</span></h3>
        <ul>${inboxItems(app, waiting)}</ul></section>` : nothing}
      ${mayCreate && teams.length ? html`<section class="teams"><h3>${t("teams")}</h3><ul>${teams.map((each) => this.#card(app, each, each === team))}
        <li><button class="card team new-team" @click=${() => find(this, "dialog").showModal()}><span class="top"><b>${icon("plus")}${t("home.new_team")}</b></span><span class="about">${t("home.new_team.about")}</span></button></li></ul></section>` : nothing}
      ${mayCreate && teams.length && teams.every((each) => each.scripted) ? html`<p class="scripted-all">${t("scripted.all")}</p>` : nothing}
    </div>
    <dialog aria-labelledby="new-team-title" closedby="any"><header><h2 id="new-team-title">${t("home.new_team")}</h2><button class="icon" aria-label=${t("close")} @click=${() => find(this, "dialog").close()}>${icon("x")}</button></header>
      <p>${t("home.new_team.how")}</p><p class="copyable"><code>${INIT}</code>${copyButton(() => INIT, t)}</p></dialog>`;
  }

  #composer(app: App, team: Wire.TeamDocument | undefined) {
    const { t } = app;
    const drop = (key: number) => { this.#files = this.#files.filter((_, at) => at !== key); this.draw(); };
    return html`<h2>${t("home.ask")}</h2>
      <form class="goal" @submit=${(event: Event) => { event.preventDefault(); void this.#start(); }}
        @dragover=${(event: DragEvent) => event.dataTransfer?.types.includes("Files") && event.preventDefault()}
        @drop=${(event: DragEvent) => { event.preventDefault(); this.#attach(event.dataTransfer?.files); }}
        @paste=${(event: ClipboardEvent) => { if (event.clipboardData?.files.length) { event.preventDefault(); this.#attach(event.clipboardData.files); } }}>
        <textarea id="goal" rows="2" aria-label=${t("home.ask")} placeholder=${t("home.placeholder")}
          @input=${(event: Event) => grow(event.target as HTMLTextAreaElement)} @keydown=${(event: KeyboardEvent) => this.#key(event)}></textarea>
        ${this.#files.length ? html`<ul class="attached">${this.#files.map((file, at) => html`<li class="chip">${icon("file")}<span>${file.name}</span><button type="button" class="ghost" aria-label=${t("attach.remove", { name: file.name })} @click=${() => drop(at)}>${icon("x")}</button></li>`)}</ul>` : nothing}
        <div class="foot">
          <label class="pick">${icon("users")}<select aria-label=${t("team")} .value=${team?.name ?? ""} @change=${(event: Event) => this.#choose((event.target as HTMLSelectElement).value)}>
            ${app.teams.map((each) => html`<option value=${each.name} ?selected=${each === team}>${each.name} · ${t(`flow.${each.flow}`)}</option>`)}</select></label>
          <span class="faces">${team?.members.slice(0, 8).map((each: Member) => avatar({ members: team.members } as View, each.id, "small"))}</span>
          <span class="space"></span>
          <label class="icon clip" title=${t("attach")}>${icon("clip")}<input type="file" multiple class="unseen" aria-label=${t("attach")} @change=${(event: Event) => this.#attach((event.target as HTMLInputElement).files)}></label>
          <button class="primary start" ?disabled=${this.#isStarting || !team}>${t("start")}${icon("send")}</button>
        </div>
        <p class="problem" role="alert" ?hidden=${!this.#problem}>${this.#problem}</p>
      </form>
      <p class="examples">${team?.examples.slice(0, 3).map((text: string) => html`<button type="button" class="example" @click=${() => this.#use(text)}>${icon("right")}<span>${text}</span></button>`)}
        ${app.hasDemo ? html`<button type="button" class="example demo" ?disabled=${this.#isStarting} @click=${() => void this.watch()}>${icon("play")}<span>${t("home.demo")}</span></button>` : nothing}</p>`;
  }

  #card(app: App, team: Wire.TeamDocument, isChosen: boolean) {
    const { t } = app, edit = t("team.edit", { name: team.name });
    return html`<li><button class="card team" aria-pressed=${isChosen} @click=${() => { this.#choose(team.name); find(this, "#goal").focus(); }}>
      <span class="top"><b>${team.name}</b><span class="pill">${t(`flow.${team.flow}`)}</span></span>
      <span class="about">${team.description || team.members.map((each) => each.display_name).join(", ")}</span>
      <span class="bottom"><span class="faces">${team.members.slice(0, 6).map((each) => avatar({ members: team.members } as View, each.id, "small"))}</span>${team.scripted ? html`<span class="scripted">${t("scripted")}</span>` : nothing}</span>
    </button>${team.has_file ? html`<button class="icon edit-team" title=${edit} aria-label=${edit} @click=${() => tell("team-file", team.name)}>${icon("edit")}</button>` : nothing}</li>`;
  }

  /** One types at once what to do, when the page opens. */
  drawn() {
    if (this.#wasHidden && !this.hidden) this.#invite();
    this.#wasHidden = Boolean(this.hidden);
    if (this.#isEager && this.app.teams.length) void this.#start();
  }

  /** Not where the focus is elsewhere, nor on a phone, whose keyboard would cover the page. */
  #invite() {
    if (document.activeElement === document.body && matchMedia("(hover: hover)").matches) this.querySelector<HTMLElement>("#goal")?.focus();
  }

  #choose(name: string) {
    this.#team = name;
    remember("team", name);
    this.draw();
  }

  #use(text: string) {
    const box = find(this, "#goal");
    box.value = text;
    grow(box);
    box.focus();
  }

  #attach(files: FileList | null | undefined) {
    this.#files = [...this.#files, ...files ?? []];
    this.draw();
  }

  #key(event: KeyboardEvent) {
    if (event.isComposing || event.keyCode === 229 || event.key !== "Enter" || event.shiftKey || event.altKey) return;
    if (recall("enter") === "breaks" && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    void this.#start();
  }

  /** Play a demo. @param flow by default the richest that there is */
  async watch(flow = "") {
    await load("demo-bar", this.app);
    const bar = find(document, "demo-bar");
    if (bar.play) await this.#attempt(bar.play(this.app, flow)); // it comes later than the rest, and perhaps not at all
  }

  async #start() {
    const box = find(this, "#goal"), { teams } = this.app;
    const team = teams.find((each) => each.name === this.#team) ?? teams[0];
    this.#isEager = !team; // the teams are on their way: it starts with them
    if (!team || !await this.#attempt(this.app.begin(team.name, box.value, this.#files))) return;
    box.value = "";
    this.#files = [];
    find(document, "chat-composer").invite();
  }

  /** One start at a time; what went wrong stands below the words. */
  async #attempt(begun: Promise<void>): Promise<boolean> {
    if (this.#isStarting) return false;
    this.#isStarting = true;
    this.draw();
    this.#problem = await begun.then(() => "", (error: Error) => error.message);
    this.#isStarting = false;
    this.app.changed();
    return !this.#problem;
  }
}

function grow(box: HTMLTextAreaElement): void {
  box.style.height = "auto";
  box.style.height = `${Math.min(box.scrollHeight + 2, innerHeight * 0.4)}px`;
}
