// Who is in the team: what each does, what each has cost, what they may do.

import { html, nothing } from "lit/html.js";
import { api } from "../api.js";
import { tell } from "../dom.js";
import { word } from "../i18n.js";
import { icon } from "../icons.js";
import { LitPart } from "../lit-part.js";
import { copyButton } from "../text/body.ts";
import { nameOf } from "../view/names.js";
import { avatar } from "./avatar.ts";

export class TeamPanel extends LitPart {
  #key = "";
  #takeovers: Wire.Takeover[] = [];

  template(app: App, view: View | null) {
    const { t } = app;
    if (!view) return nothing;
    const key = `${app.tape?.id} ${view.counters.turns} ${view.running.length}`;
    if (app.mayCreate && key !== this.#key) {
      this.#key = key;
      void this.#load(app.tape?.id ?? "", key);
    }
    const team = app.teams.find((each) => each.name === view.team), hasFile = team?.has_file;
    return html`<h2>${view.team} <span class="pill">${t(`flow.${view.flow}`)}</span><span class="space"></span>${hasFile ? html`<button class="edit-file" @click=${() => tell("team-file", view.team)}>${icon("edit")}${t("team.edit_file")}</button>` : nothing}</h2>
      <ul class="members">${view.members.map((each) => this.#member(app, view, each, team?.players.find(({ member }) => member === each.id)))}</ul>
      <h2>${t("team.grants")}</h2>
      ${view.grants.length ? html`<ul class="grants">${view.grants.map((grant) => html`<li><span class="pill">${t(grant.allowed ? "team.allowed" : "team.refused")}</span>
        <b>${nameOf(view, grant.member)}</b> <code>${grant.tool}${grant.pattern ? `(${grant.pattern})` : ""}</code></li>`)}</ul>` : html`<p class="empty">${t("team.no_grants")}</p>`}`;
  }

  /** Ask again after each turn: a member's first one begins its conversation. */
  async #load(id: string, key: string) {
    const found = await api.takeovers(id).catch(() => []);
    if (key !== this.#key) return;
    this.#takeovers = found;
    this.draw();
  }

  #member(app: App, view: View, member: Member, player: Wire.Player | undefined) {
    const { t, language } = app, spent = view.spent_by_member[member.id];
    const number = (value: number) => new Intl.NumberFormat(language, { notation: "compact" }).format(value);
    const cost = spent?.cost_usd ? new Intl.NumberFormat(language, { style: "currency", currency: "USD", maximumFractionDigits: 3 }).format(spent.cost_usd) : "";
    const facts = [spent?.turns && t("team.turns", { count: spent.turns }), spent?.tokens && t("tokens", { count: spent.tokens, n: number(spent.tokens) }), cost].filter(Boolean).join(" · ");
    return html`<li>${avatar(view, member.id)}
      <div><p class="head"><b>${member.display_name}</b><span class="role">${member.kind === "human" ? t("kind.human") : word(t, "role", member.role ?? "")}</span>
        ${member.edits ? html`<span class="pill">${icon("edit")}${t("team.edits")}</span>` : nothing}</p>
        ${member.purpose ? html`<p class="purpose">${member.purpose}</p>` : nothing}
        ${member.capabilities?.length ? html`<p class="can">${member.capabilities.map((each) => html`<span class="pill">${each}</span>`)}</p>` : nothing}
        ${player ? this.#player(t, player) : nothing}
        ${facts ? html`<p class="facts">${facts}</p>` : nothing}
        ${this.#takeovers.filter((each) => each.member === member.id).map(({ task_id, command }) => html`<p class="facts">${task_id ? `${task_id} · ` : ""}${t("team.takeover")}</p><p class="copyable"><code title=${command}>${command}</code>${copyButton(() => command, t)}</p>`)}</div>
      ${member.kind === "ai" && app.mayWrite && !view.is_steered ? html`<button class="icon" title=${t("team.ask", { name: member.display_name })} aria-label=${t("team.ask", { name: member.display_name })} @click=${() => tell("address", member.id)}>${icon("chat")}</button>` : nothing}</li>`;
  }

  /** What plays the member: its model, what it may do, its tools, what it is told. */
  #player(t: Translate, { agent, model, permissions, tools, instructions }: Wire.Player) {
    return html`<p class="can"><span class="pill">${[word(t, "agent", agent), model].filter(Boolean).join(" · ")}</span>
        ${permissions ? html`<span class="pill">${icon("eye")}${word(t, "permissions", permissions)}</span>` : nothing}
        ${tools.map((each) => html`<span class="pill">${icon("tool")}${each}</span>`)}</p>
      ${instructions ? html`<details><summary>${t("team.instructions")}</summary><p class="purpose">${instructions}</p></details>` : nothing}`;
  }
}
