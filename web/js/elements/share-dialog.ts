// Who else may see a session: its address, links for others, and who is logged in now.

import { html, nothing } from "lit/html.js";
import { api } from "../api.js";
import { find, hear } from "../dom.js";
import { icon } from "../icons.js";
import { LitPart } from "../lit-part.js";
import { copyButton } from "../text/body.ts";
import { ago } from "../view/ago.ts";
import { loginRows } from "./login-rows.ts";
import type { Login } from "./login-rows.ts";

const EXPIRES: Record<string, number> = { never: 0, day: 86_400, week: 604_800 }; // seconds

export class ShareDialog extends LitPart {
  #logins: Login[] = [];
  #links: Link[] = [];
  #made = "";
  #problem = "";
  #role: "viewer" | "member" = "viewer";
  #member = "";

  connectedCallback() {
    hear("share", () => void this.#open());
  }

  async #open() {
    this.#made = this.#problem = "";
    this.draw();
    find(this, "dialog").showModal();
    await this.#load();
  }

  async #load() {
    const { tape, mayCreate } = this.app;
    [this.#logins, this.#links] = await Promise.all([api.logins().catch(() => []), tape && mayCreate ? api.links(tape.id).catch(() => []) : []]);
    this.draw();
  }

  template(app: App, view: View | null) {
    const { t, tape } = app, humans = view?.members.filter((each) => each.kind === "human") ?? [];
    const address = `${location.origin}/s/${tape?.id ?? ""}`;
    return html`<dialog aria-labelledby="share-title" closedby="any">
      <header><h2 id="share-title">${t("share")}</h2><button class="icon" aria-label=${t("close")} @click=${() => find(this, "dialog").close()}>${icon("x")}</button></header>
      <section><h3>${t("share.address")}</h3><p class="copyable"><code>${address}</code>${copyButton(() => address, t)}</p><p class="hint">${t("share.address.hint")}</p></section>
      ${app.mayCreate ? this.#linkForm(app, humans) : nothing}
      <section><h3>${t("share.here")}</h3>${loginRows(app, this.#logins, (each) => void this.#end(each))}</section>
    </dialog>`;
  }

  #linkForm(app: App, humans: Member[]) {
    const { t } = app, name = (id: string | null) => humans.find((each) => each.id === id)?.display_name ?? id;
    return html`<section><h3>${t("share.link")}</h3>
      <form class="link" @submit=${(event: Event) => void this.#make(event, humans)}>
        <div class="segments" role="group" aria-label=${t("share.link")}>
          ${(["viewer", "member"] as const).map((role) => html`<button type="button" aria-pressed=${role === this.#role} @click=${() => { this.#role = role; this.draw(); }}>${t(`who.${role}`)}</button>`)}</div>
        ${this.#role === "member" && humans.length > 1 ? html`<select aria-label=${t("speak_as")} @change=${(event: Event) => { this.#member = (event.target as HTMLSelectElement).value; }}>${humans.map((each) => html`<option value=${each.id}>${each.display_name}</option>`)}</select>` : nothing}
        <input name="label" maxlength="80" placeholder=${t("share.for")} aria-label=${t("share.for")}>
        <select name="expires" aria-label=${t("share.expires")}>${Object.keys(EXPIRES).map((each) => html`<option value=${each}>${t(`share.expires.${each}`)}</option>`)}</select>
        <button class="primary">${icon("link")}${t("share.make")}</button>
      </form>
      <p class="hint">${t("share.link.hint")}</p>
      <p class="problem" role="alert" ?hidden=${!this.#problem}>${this.#problem}</p>
      ${this.#made ? html`<p class="copyable made"><code>${this.#made}</code>${copyButton(() => this.#made, t)}</p><p class="hint" role="status">${t("share.made")}</p>` : nothing}</section>
      ${this.#links.length ? html`<section><h3>${t("share.links")}</h3><ul class="logins links">${this.#links.map((each) => html`<li>${icon(each.role === "viewer" ? "eye" : "users")}<span>${each.label || (each.member ? name(each.member) : t(`who.${each.role}`))}</span>
        <span class="pill">${t(`who.${each.role}`)}</span><time>${ago(each.created_at, app)}</time>
        <button class="ghost danger" @click=${() => void this.#revoke(each)}>${t("share.revoke")}</button></li>`)}</ul></section>` : nothing}`;
  }

  async #make(event: Event, humans: Member[]) {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement), id = this.app.tape?.id ?? "";
    const member = this.#role === "member" ? { member: this.#member || humans[0]?.id } : {}, expires = EXPIRES[String(form.get("expires"))];
    try {
      const { token } = await api.makeLink(id, { role: this.#role, label: String(form.get("label") ?? ""), ...member, ...(expires ? { expires_s: expires } : {}) });
      this.#made = `${location.origin}/s/${id}#token=${token}`;
      this.#problem = "";
    } catch (error) {
      this.#problem = (error as Error).message;
    }
    await this.#load();
  }

  async #revoke(link: Link) {
    await this.app.attempt(api.revokeLink(this.app.tape?.id ?? "", link.token_id));
    this.#made = "";
    await this.#load();
  }

  async #end(login: Login) {
    await this.app.attempt(api.endLogin(login.login_id));
    await this.#load();
  }
}
