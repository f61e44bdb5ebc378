// What waits for the reader in some session, answerable in its place.

import { html, nothing } from "lit/html.js";
import { repeat } from "lit/directives/repeat.js";
import { icon } from "../icons.js";
import { openMenu } from "../menu.ts";
import { ago } from "../view/ago.ts";
import { levelOf } from "./confirm-cards.js";
import { showPane } from "./pane-tabs.js";

const BUTTONS = 4; // where there are more choices, the last ones are in a menu
const CALM = ["your_turn", "paused", "finished"]; // nothing is blocked by these

export const waitingOf = (inbox: Wire.InboxItem[]) => inbox.filter((each) => !CALM.includes(each.kind));

/** Each stays where it is: somebody may be writing in it. */
export const inboxItems = (app: App, items: Wire.InboxItem[]) => repeat(items, ({ session_id, step_id }) => `${session_id} ${step_id}`, (item) => inboxItem(app, item));

function inboxItem(app: App, item: Wire.InboxItem) {
  const { t } = app, { kind, question } = item, isAnswered = kind !== "plan" && Boolean(item.step_id);
  const open = html`<button class=${isAnswered ? "open ghost" : "open"} @click=${() => { showPane("talk"); app.open(item.session_id); }}>${t(kind === "plan" ? "inbox.review" : "open")}</button>`;
  return html`<li class=${kind}>
    <p class="head"><span class="pill need">${t(`need.${kind}`)}</span><b title=${item.title}>${item.title}</b><time>${ago(item.since, app)}</time></p>
    <p class="what">${question ?? ""}</p>
    <div class="buttons"><span class="blocks">${item.blocks ? t(`blocks.${item.blocks.kind}`, { name: item.blocks.name }) : ""}</span>${open}${app.me?.role === "viewer" || !item.step_id ? nothing : answers(app, item)}</div></li>`;
}

/** A plan is approved, a choice is made, a question without choices is answered in words. */
function answers(app: App, item: Wire.InboxItem) {
  const { t } = app, { options } = item;
  if (item.kind === "plan") return html`<button class="primary" @click=${() => void app.listing.respond(item, { confirmed: true })}>${t("option.approve")}</button>`;
  if (!options.length) return html`<form class="words" @submit=${(event: Event) => say(app, item, event)}><input name="answer" required placeholder=${t("card.answer")} aria-label=${t("card.answer")}><button>${t("card.send")}</button></form>`;
  const choose = (option: Option) => () => void app.listing.respond(item, { choice: option.id });
  const shown = options.length > BUTTONS ? options.slice(0, BUTTONS - 1) : options, rest = options.slice(shown.length);
  const more = (event: Event) => openMenu(event.currentTarget as HTMLElement, rest.map((option) => ({ label: option.label, isBad: levelOf(option.id) === "danger", run: choose(option) })), t("more_actions"));
  return html`<span class="answers ${options.length > 2 ? "many" : ""}">${shown.map((option) => html`<button class=${levelOf(option.id) === "danger" ? "danger" : ""} title=${option.description ?? ""} @click=${choose(option)}>${option.label}</button>`)}
    ${rest.length ? html`<button class="icon more" title=${t("more_actions")} aria-label=${t("more_actions")} aria-haspopup="menu" aria-expanded="false" @click=${more}>${icon("more")}</button>` : nothing}</span>`;
}

function say(app: App, item: Wire.InboxItem, event: Event): void {
  event.preventDefault();
  const answer = String(new FormData(event.currentTarget as HTMLFormElement).get("answer")).trim();
  if (answer) void app.listing.respond(item, { answer });
}
