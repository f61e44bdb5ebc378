// What stands in a conversation, one maker each.

import { api } from "../api.js";
import { find, h, set, tell } from "../dom.js";
import { word } from "../i18n.js";
import { icon } from "../icons.js";
import { body, copyButton, firstLine, write } from "../text/body.ts";
import { actors, nameOf } from "../view/names.js";
import { noteText, toneOf } from "../view/note-text.js";
import { avatar } from "./avatar.ts";
import { followPlan, planList } from "./plan-list.ts";
import { makeStep, makeSteps } from "./steps.ts";

const NEWEST_CHARS = 160; // of a thought that is folded up

const clocks = new Map<string, Intl.DateTimeFormat>();
const clock = (at: string, language: string) => {
  if (!clocks.has(language)) clocks.set(language, new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit" }));
  return (clocks.get(language) as Intl.DateTimeFormat).format(new Date(at));
};

function place(app: App, seq: number): HTMLElement {
  return h("button", { class: "ghost place", text: `#${seq}`, title: app.t("to_event"), "aria-label": `${app.t("to_event")} ${seq}`, onclick: () => app.select(seq) });
}

/** What a member does in the team, where it is not the name already. */
function roleOf({ t, view }: App, member: string): string {
  const { kind, role = "", display_name: name = "" } = view?.members.find((each) => each.id === member) ?? {};
  const told = word(t, "role", role).replaceAll("_", " ").replace(/ agent$/, "");
  return kind === "ai" && told.toLowerCase() !== name.toLowerCase() ? told : "";
}

/** Seconds and money of a turn. */
function costOf({ t, language }: App, turn: Turn | undefined): string {
  if (!turn?.endedAt || !turn.startedAt) return "";
  const seconds = (Date.parse(turn.endedAt) - Date.parse(turn.startedAt)) / 1000;
  const tokens = (turn.usage?.input_tokens ?? 0) + (turn.usage?.output_tokens ?? 0);
  const cost = turn.usage?.cost_usd;
  return [
    seconds >= 1 ? `${Math.round(seconds)} s` : "",
    tokens ? t("tokens", { count: tokens, n: new Intl.NumberFormat(language, { notation: "compact" }).format(tokens) }) : "",
    cost ? new Intl.NumberFormat(language, { style: "currency", currency: "USD", maximumFractionDigits: 3 }).format(cost) : "",
  ].filter(Boolean).join(" · ");
}

/** What is said again: a human's words to the same people; for an answer, the words before it, to its author. */
function askAgain(app: App, { seq = 0, metadata: { member, to = [] } }: NoteFrame): void {
  const items = app.tape?.conversation.items ?? [], isHuman = (id: string) => app.humans.some((each) => each.id === id);
  const asked = items.findLast((each) => each.kind === "message" && each.seq <= seq && isHuman(each.item.metadata.member))?.item.metadata;
  if (asked) app.say(asked.text || asked.raw, isHuman(member) ? to : [member]);
}

function actions(app: App, item: NoteFrame): HTMLElement {
  const { t, view } = app, { seq = 0, metadata: { member } } = item, text = item.text.trim(), isAi = view?.members.find((each) => each.id === member)?.kind === "ai";
  const mayTalk = app.mayWrite && !view?.is_steered;
  const button = (name: string, symbol: string, onclick: () => void) => h("button", { class: `ghost ${name}`, title: t(`act.${name}`), "aria-label": t(`act.${name}`), onclick }, icon(symbol));
  const address = () => {
    void navigator.clipboard?.writeText(`${location.origin}${location.pathname}#${seq}`);
    app.toast(t("link_copied"), "info", undefined, 2_000);
  };
  const comment = () => { tell("quote", text); tell("address", member); };
  return h("span", { class: "acts", role: "group", "aria-label": t("act.group") }, copyButton(() => text, t),
    app.mayWrite ? button("quote", "quote", () => tell("quote", text)) : null,
    mayTalk && isAi ? button("comment", "chat", comment) : null,
    mayTalk ? button("retry", "retry", () => askAgain(app, item)) : null,
    app.mayCreate && !app.replay ? button("fork", "fork", () => void app.fork(seq)) : null,
    button("link", "link", address), place(app, seq));
}

export function makeMessage(app: App, item: NoteFrame): HTMLElement {
  const { seq = 0, timestamp, text, source = {}, metadata: { member, to = [] }, turn, joins } = item, { view, t } = app;
  const isHuman = view?.members.find((each) => each.id === member)?.kind === "human";
  const isMine = isHuman && member === app.speaksAs;
  const content = h("div", { class: "body" });
  content.append(body(text.trim(), t));
  const addressees = to.map((each: string) => nameOf(view, each)).join(", ");
  const node = h("article", {
    class: `message ${isHuman ? "human" : "ai"}${isMine ? " mine" : ""}${joins ? " joined" : ""}`, "data-seq": seq,
    onmouseenter: () => tell("highlight", seq), onmouseleave: () => tell("highlight", null),
  },
  avatar(view, member),
  h("header", {}, h("b", { text: nameOf(view, member) }), addressees && h("span", { class: "to", text: `→ ${addressees}` }),
    h("span", { class: "author", text: roleOf(app, member), title: `${source.loop_id ?? ""}.${source.role ?? ""}` }),
    h("time", { datetime: timestamp, text: clock(timestamp, app.language) }), h("span", { class: "cost" })),
  turn?.steps.length ? makeSteps(turn.steps, t) : null,
  content, attachments(app, item.metadata.attachments ?? []), actions(app, item));
  updateMessage(app, node, item);
  return node;
}

/** Files that came with a message: pictures are shown, everything else can be saved. */
function attachments(app: App, files: Wire.Attachment[]): HTMLElement | null {
  if (!files.length) return null;
  const id = app.tape?.id ?? "", path = ({ sha256, name = "" }: Wire.Attachment) => `/api/sessions/${id}/files/${sha256}?name=${encodeURIComponent(name)}`;
  return h("ul", { class: "attachments" }, ...files.map((file) => {
    if (file.media_type?.startsWith("image/")) return h("li", {}, picture(path(file), file.name ?? ""));
    return h("li", {}, h("button", { class: "chip", onclick: () => void app.save(path(file), file.name ?? "file") }, icon("file"), file.name ?? "", icon("download")));
  }));
}

/** An element's own request could not carry the login: the picture is fetched first. */
function picture(path: string, alt: string): HTMLElement {
  const image = h("img", { alt }) as HTMLImageElement;
  void api.blob(path).then((address) => {
    image.onload = () => URL.revokeObjectURL(address);
    image.src = address;
  }, () => image.replaceWith(h("span", { class: "chip", text: alt })));
  return image;
}

/** What a turn cost is known a moment after what it said. */
export function updateMessage(app: App, node: HTMLElement, { turn }: NoteFrame): void {
  set(find(node, ".cost"), { text: costOf(app, turn) });
}

/** What was written before somebody stopped it, or before it failed. */
export function makePartial(app: App, item: NoteFrame): HTMLElement {
  const node = makeMessage(app, { ...item, joins: false });
  node.classList.add("partial");
  const hasFailed = item.event === "turn.failed";
  find(node, "header .author").replaceWith(h("span", { class: `pill ${hasFailed ? "bad" : ""}` }, icon(hasFailed ? "alert" : "stop"), app.t(hasFailed ? "partial.failed" : "partial.stopped")));
  return node;
}

export function makeTurn(app: App, turn: Writing): HTMLElement {
  const node = h("article", { class: "message ai writing", "aria-busy": "true" },
    avatar(app.view, turn.member),
    h("header", {}, h("b", { text: nameOf(app.view, turn.member) }), h("span", { class: "author" })),
    h("ol", { class: "thoughts" }),
    h("details", { class: "thinking" }, h("summary", {}, h("b", { text: app.t("step.thought") }), h("span", { class: "newest" })), h("p", {})),
    h("div", { class: "body" }));
  updateTurn(app, node, turn);
  return node;
}

export function updateTurn(app: App, node: HTMLElement, turn: Writing): void {
  const list = find(node, ".thoughts");
  for (const step of turn.steps.slice(list.childElementCount)) list.append(makeStep(step, app.t));
  const thought = turn.thinking.trim();
  set(find(node, ".author"), { text: app.t(thought ? "thinking" : "writing") });
  set(find(node, ".thinking"), { hidden: !thought });
  set(find(node, ".thinking .newest"), { text: thought.slice(thought.lastIndexOf("\n") + 1).slice(-NEWEST_CHARS) });
  set(find(node, ".thinking p"), { text: thought });
  write(find(node, ":scope > .body"), turn.text, app.t);
  node.classList.toggle("silent", !turn.text);
}

export function makeUnsent(app: App, { fields }: Sent): HTMLElement {
  return h("article", { class: "message human unsent" }, avatar(app.view, app.speaksAs ?? ""),
    h("header", {}, h("b", { text: app.t("you") }), h("span", { class: "author", text: app.t("unsent_mark") })),
    h("div", { class: "body", text: fields.content }));
}

/** A line of Moot's own. */
export function makeNote(app: App, kind: string, item: NoteFrame): HTMLElement {
  const { name, text } = noteText(app, kind, item), isJob = item.event === "supervisor.ended";
  const more = (isJob || item.event === "solver.completed") && item.text, made = isJob && item.metadata?.deliverable;
  const tone = toneOf(kind, name, item);
  return h("div", { class: `note ${kind} ${name}${item.event === "solver.completed" ? " result" : ""}`, "data-seq": item.seq, "data-tone": tone },
    made ? post(app, text, made) : isPlan(kind, item) ? planBlock(app, text, item) : more ? result(app, text, more, isJob) : h("span", { text }), name === "nobody_addressed" && offers(app), place(app, item.seq ?? 0));
}

/** What was written for a task is told as done when the reviewer has accepted it. */
export function updateNote(app: App, node: HTMLElement, kind: string, item: NoteFrame): void {
  const { name, text } = noteText(app, kind, item);
  node.classList.toggle("task_done", name === "task_done");
  set(node, { "data-tone": toneOf(kind, name, item) });
  set(find(node, "summary b") ?? find(node, "span"), { text });
}

const isPlan = (kind: string, { asked, metadata }: NoteFrame) => kind === "answer" && metadata.confirmed && asked?.metadata?.tasks?.length;

/** A plan that was approved, while it runs and afterwards. */
function planBlock(app: App, summary: string, { asked, metadata }: NoteFrame): HTMLElement {
  const node = h("details", { open: true, class: "plan-block" }, h("summary", {}, h("b", { text: summary }), h("span", { class: "tally" })), planList(app, metadata.tasks ?? asked?.metadata.tasks));
  updatePlan(app, node);
  return node;
}

export function updatePlan(app: App, node: Element): void {
  const tally = followPlan(app, find(node, "ol"));
  if (tally) set(find(node, ".tally"), { text: tally });
}

/** Steps of the work, folded up to the newest. */
export function makeTrace(app: App, trace: Trace): HTMLElement {
  const node = h("div", { class: "note trace", "data-seq": trace.steps[0].seq }, h("details", {}, h("summary", {}, h("span", { class: "count" }), h("span", { class: "latest" })), h("ol", {})), place(app, trace.steps[0].seq));
  updateTrace(app, node, trace);
  return node;
}

export function updateTrace(app: App, node: HTMLElement, { steps }: Trace): void {
  const told = app.replay ? steps.filter((step) => step.seq <= app.seq) : steps, list = find(node, "ol");
  while (list.childElementCount > told.length) list.lastElementChild?.remove();
  for (const step of told.slice(list.childElementCount)) list.append(h("li", { text: stepText(app, step) }));
  const latest = told.findLast((step) => !step.isInner);
  node.classList.toggle("inner", !latest);
  set(find(node, ".count"), { text: app.t("steps", { count: told.length }) });
  set(find(node, ".latest"), { text: latest ? stepText(app, latest) : "" });
}

const stepText = ({ view }: App, { text, title, ...step }: Trace["steps"][0]) => [actors(view, step), text, title].filter(Boolean).join(" · ");

/** One button for each AI that a message to nobody can be given to. */
function offers(app: App): HTMLElement {
  const ais = app.view?.members.filter((each) => each.kind === "ai") ?? [];
  return h("span", { class: "offers" }, ...ais.map((each) => h("button", { onclick: () => void app.say("", [each.id]) }, avatar(app.view, each.id, "small"), each.display_name)));
}

/** What a job made, as a post: to be read, copied and kept. */
function post(app: App, summary: string, { body: text, title = "", tags = [], pictures = [] }: Deliverable): HTMLElement {
  const content = h("div", { class: "body" }), hashtags = tags.map((tag) => `#${tag.replaceAll(" ", "_")}`).join(" ");
  content.append(body(text.trim(), app.t));
  const markdown = [title && `# ${title}`, text, hashtags].filter(Boolean).join("\n\n");
  return h("details", { open: true, class: "deliverable" },
    h("summary", {}, h("b", { text: summary }), h("span", { class: "first", text: title || firstLine(text) })),
    title ? h("h3", { text: title }) : null, pictures.length ? h("div", { class: "pictures" }, ...pictures.map((picture) => figure(app, picture))) : null, content,
    hashtags ? h("p", { class: "tags", text: hashtags }) : null,
    h("p", { class: "take" }, copyButton(() => markdown, app.t, app.t("copy")),
      h("a", { href: `data:text/markdown;charset=utf-8,${encodeURIComponent(markdown)}`, download: `${title || "moot"}.md` }, icon("download"), app.t("download"))));
}

/** A picture that a tool made: its data if the log has it, else where it is. */
function figure(app: App, { asset_id: id, src = "", caption = "", is_placeholder: isPlaceholder = false }: Picture): HTMLElement {
  const shown = src.startsWith("data:image/") ? h("img", { src, alt: caption || id })
    : src.startsWith("https:") ? h("a", { href: src, rel: "noopener noreferrer", target: "_blank", text: caption || id }) : null;
  const mark = isPlaceholder ? ` (${app.t("placeholder")})` : "";
  return h("figure", {}, shown, h("figcaption", { text: `${caption || id}${mark}` }));
}

/** What a task brought, folded up to its first line; what a whole job brought, to be read. */
function result(app: App, summary: string, text: string, isOpen: boolean): HTMLElement {
  const content = h("div", { class: "body" });
  content.append(body(text.trim(), app.t));
  return h("details", { open: isOpen }, h("summary", {}, h("b", { text: summary }), h("span", { class: "first", text: firstLine(text) })), content);
}

/** Returns the item at the event. */
export function markSelected(log: Element, seq: number | null): Element | null {
  for (const each of log.querySelectorAll(".selected")) each.classList.remove("selected");
  if (seq === null) return null;
  const exact = log.querySelector(`[data-seq="${seq}"]`);
  exact?.classList.add("selected");
  return exact;
}
