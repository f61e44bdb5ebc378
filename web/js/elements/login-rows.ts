// The browsers that are logged in, each with the way to end it.

import { html, nothing } from "lit/html.js";
import { icon } from "../icons.js";
import { ago } from "../view/ago.ts";

export type Login = { login_id: string; created_at: string; last_used_at: string; agent: string; is_this: boolean };

export function loginRows(app: App, logins: Login[], end: (login: Login) => void) {
  const { t } = app;
  return html`<ul class="logins">${logins.map((each) => html`<li>${icon("screen")}<span>${browserOf(each.agent)}</span>${each.is_this ? html`<span class="pill">${t("share.this")}</span>` : nothing}<time>${ago(each.last_used_at, app)}</time>
    ${each.is_this ? nothing : html`<button class="ghost danger" @click=${() => end(each)}>${t("share.end")}</button>`}</li>`)}</ul>`;
}

/** What people call the program behind a User-Agent. */
function browserOf(agent: string): string {
  const name = /(Firefox|Edg|OPR|HeadlessChrome|Chrome|Safari)/.exec(agent)?.[1] ?? agent.slice(0, 40), system = /(Windows|Mac OS X|Android|iPhone|Linux)/.exec(agent)?.[1];
  return [name.replace("Edg", "Edge").replace("OPR", "Opera").replace("Headless", ""), system?.replace(" OS X", "")].filter(Boolean).join(" · ");
}
