// What waits for the reader in some session, answerable in its place.

import { html, nothing } from "lit/html.js";
import { ago } from "../view/ago.ts";
import { showPane } from "./pane-tabs.js";

const BUTTONS = 4; // more choices than that are made in the session
const CALM = ["your_turn", "paused", "finished"]; // nothing is blocked by these

export const waitingOf = (inbox: Wire.InboxItem[]) => inbox.filter((each) => !CALM.includes(each.kind));

export function inboxItem(app: App, item: Wire.InboxItem) {
  const { t } = app, { kind, question, options } = item;
  const isAnswered = options.length > 0 && options.length <= BUTTONS; // in its place
  const open = html`<button class=${kind !== "plan" && isAnswered ? "open ghost" : "open"} @click=${() => { showPane("talk"); app.open(item.session_id); }}>${t(kind === "plan" ? "inbox.review" : "open")}</button>`;
  const approve = () => void app.respond(item, { confirmed: true });
  const answers = kind === "plan" ? html`<button class="primary" @click=${approve}>${t("option.approve")}</button>`
    : isAnswered ? options.map((option) => html`<button @click=${() => void app.respond(item, { choice: option.id })}>${option.label}</button>`) : nothing;
  return html`<li class=${kind}>
    <p class="head"><span class="pill need">${t(`need.${kind}`)}</span><b>${item.title}</b><time>${ago(item.since, app)}</time></p>
    <p class="what">${question ?? ""}</p>
    <p class="buttons"><span class="blocks">${item.blocks ? t(`blocks.${item.blocks.kind}`, { name: item.blocks.name }) : ""}</span><span class="space"></span>${open}${app.me?.role === "viewer" ? nothing : answers}</p></li>`;
}
