// What somebody chooses for this browser: language, look, keys, notifications; and the way out.

import { html, nothing } from "lit/html.js";
import { api } from "../api.js";
import { find, hear, tell } from "../dom.js";
import { icon } from "../icons.js";
import { LitPart } from "../lit-part.js";
import { recall, remember } from "../prefs.js";
import { loginRows } from "./login-rows.ts";
import type { Login } from "./login-rows.ts";

const THEMES = ["system", "light", "dark"] as const;
const ICONS = { system: "screen", light: "sun", dark: "moon" };

export class SettingsDialog extends LitPart {
  #logins: Login[] = [];

  connectedCallback() {
    hear("settings", () => { this.draw(); find(this, "dialog").showModal(); void this.#load(); });
  }

  async #load() {
    this.#logins = await api.logins().catch(() => []);
    this.draw();
  }

  async #end(login: Login) {
    await this.app.attempt(api.endLogin(login.login_id));
    await this.#load();
  }

  template(app: App) {
    const { t } = app, theme = document.documentElement.dataset.theme ?? "system";
    const choice = (name: string, key: string, other: string, usual: boolean) => html`<label class="switch"><input type="checkbox" .checked=${(recall(key) !== other) === usual}
      @change=${(event: Event) => { remember(key, (event.target as HTMLInputElement).checked === usual ? null : other); app.changed(); }}><span>${t(name)}</span></label>`;
    return html`<dialog aria-labelledby="settings-title" closedby="any">
      <header><h2 id="settings-title">${t("settings")}</h2><button class="icon" aria-label=${t("close")} @click=${() => find(this, "dialog").close()}>${icon("x")}</button></header>
      <section><h3 id="settings-language">${t("language")}</h3><div class="segments" role="group" aria-labelledby="settings-language">
        ${app.languages.map((each) => html`<button class="language" lang=${each.code} aria-pressed=${each.code === app.language} @click=${() => tell("language", each.code)}>${each.name}</button>`)}</div></section>
      <section><h3 id="settings-theme">${t("theme")}</h3><div class="segments" role="group" aria-labelledby="settings-theme">
        ${THEMES.map((each) => html`<button class="theme ${each}" aria-pressed=${each === theme} @click=${() => tell("theme", each)}>${icon(ICONS[each])}${t(`theme.${each}`)}</button>`)}</div></section>
      <section><h3>${t("settings.keys")}</h3>${choice("ctrl_enter", "enter", "breaks", false)}${choice("letters", "letters", "off", true)}
        <button class="ghost" @click=${() => { find(this, "dialog").close(); tell("help"); }}>${icon("command")}${t("settings.all_keys")}</button></section>
      <section><h3>${t("settings.notify")}</h3>${"Notification" in window ? html`<label class="switch"><input type="checkbox" .checked=${recall("notify") === "on" && Notification.permission === "granted"}
        @change=${(event: Event) => void this.#notify(event.target as HTMLInputElement)}><span>${t("settings.notify.on")}</span></label>` : html`<p class="hint">${t("settings.notify.not")}</p>`}</section>
      ${this.#logins.length ? html`<section><h3>${t("share.here")}</h3>${loginRows(app, this.#logins, (each) => void this.#end(each))}</section>` : nothing}
      ${app.me ? html`<footer><span class="who">${t(`who.${app.me.role}`)}</span><span class="space"></span><button class="danger" @click=${() => void app.logout()}>${icon("logout")}${t("logout")}</button></footer>` : nothing}
    </dialog>`;
  }

  async #notify(box: HTMLInputElement) {
    const isAllowed = box.checked && (await Notification.requestPermission()) === "granted";
    remember("notify", isAllowed ? "on" : null);
    if (box.checked && !isAllowed) this.app.toast(this.app.t("settings.notify.refused"), "error");
    box.checked = isAllowed;
  }
}
