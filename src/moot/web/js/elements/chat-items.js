// What stands in a conversation, one maker each.

import { find, h, set, tell } from "../dom.js";
import { word } from "../i18n.js";
import { body } from "../text/body.js";
import { nameOf } from "../view/names.js";
import { noteText } from "../view/note-text.js";

const NEWEST_CHARS = 160; // of a thought that is folded up

/** @param {App} app @param {string} member */
function avatar({ view }, member) {
  const at = view?.members.findIndex((each) => each.id === member) ?? 0;
  const known = view?.members[at];
  const letter = [...(known?.display_name ?? member)][0] ?? "?";
  return h("span", { class: `avatar c${Math.max(0, at) % 8} ${known?.kind ?? "ai"}`, "aria-hidden": "true", text: letter.toUpperCase() });
}

/** @param {string} at @param {string} language */
const clock = (at, language) => new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(new Date(at));

/** @param {App} app @param {number} seq */
function place(app, seq) {
  return h("button", { class: "ghost place", text: `#${seq}`, title: app.t("to_event"), "aria-label": `${app.t("to_event")} ${seq}`, onclick: () => app.select(seq) });
}

/** What a member does in the team, where it is not the name already. @param {App} app @param {string} member */
function roleOf({ t, view }, member) {
  const { kind, role = "", display_name: name = "" } = view?.members.find((each) => each.id === member) ?? {};
  const told = word(t, "role", role).replaceAll("_", " ").replace(/ agent$/, "");
  return kind === "ai" && told.toLowerCase() !== name.toLowerCase() ? told : "";
}

/** @param {App} app @param {string[]} to */
const addressees = ({ view }, to) => `→ ${to.map((each) => nameOf(view, each)).join(", ")}`;

/** @param {App} app @param {NoteFrame} frame */
export function makeMessage(app, { seq = 0, timestamp, text, source = {}, metadata: { member, to = [] } }) {
  const isHuman = app.view?.members.find((each) => each.id === member)?.kind === "human";
  const isMine = isHuman && member === app.speaksAs;
  const content = h("div", { class: "body" });
  content.append(body(text.trim(), app.t));
  return h("article", { class: `message ${isHuman ? "human" : "ai"}${isMine ? " mine" : ""}`, "data-seq": seq, onmouseenter: () => tell("highlight", seq), onmouseleave: () => tell("highlight", null) },
    avatar(app, member),
    h("header", {}, h("b", { text: nameOf(app.view, member) }), to.length > 0 && h("span", { class: "to", text: addressees(app, to) }), h("span", { class: "author", text: roleOf(app, member), title: `${source.loop_id ?? ""}.${source.role ?? ""}` }),
      h("time", { datetime: timestamp, text: clock(timestamp, app.language) }), place(app, seq)),
    content);
}

/** @param {App} app @param {Writing} turn */
export function makeTurn(app, turn) {
  const node = h("article", { class: "message ai writing", "aria-busy": "true" },
    avatar(app, turn.member),
    h("header", {}, h("b", { text: nameOf(app.view, turn.member) }), h("span", { class: "author" })),
    h("ol", { class: "thoughts" }),
    h("details", { class: "thinking" }, h("summary", {}, h("b", { text: app.t("step.thought") }), h("span", { class: "newest" })), h("p", {})),
    h("div", { class: "body" }));
  updateTurn(app, node, turn);
  return node;
}

/** @param {App} app @param {HTMLElement} node @param {Writing} turn */
export function updateTurn(app, node, turn) {
  const list = find(node, ".thoughts");
  for (const step of turn.steps.slice(list.childElementCount)) {
    const kind = step.thought ? "thought" : step.action ? "action" : "observation";
    list.append(h("li", { class: kind }, h("b", { text: app.t(`step.${kind}`) }), " ", step.thought ?? step.action ?? step.observation ?? ""));
  }
  const thought = turn.thinking.trim();
  set(find(node, ".author"), { text: app.t(thought ? "thinking" : "writing") });
  set(find(node, ".thinking"), { hidden: !thought });
  set(find(node, ".thinking .newest"), { text: thought.slice(thought.lastIndexOf("\n") + 1).slice(-NEWEST_CHARS) });
  set(find(node, ".thinking p"), { text: thought });
  set(find(node, ".body"), { text: turn.text });
  node.classList.toggle("silent", !turn.text);
}

/** @param {App} app @param {Sent} sent */
export function makeUnsent(app, { fields }) {
  return h("article", { class: "message human unsent" }, avatar(app, app.speaksAs ?? ""),
    h("header", {}, h("b", { text: app.t("you") }), h("span", { class: "author", text: app.t("unsent_mark") })),
    h("div", { class: "body", text: fields.content }));
}

/** A line of Moot's own. @param {App} app @param {string} kind @param {NoteFrame} item */
export function makeNote(app, kind, item) {
  const { name, text } = noteText(app, kind, item), isJob = item.event === "supervisor.ended";
  const more = (isJob || item.event === "solver.completed") && item.text, made = isJob && item.metadata?.deliverable;
  return h("div", { class: `note ${kind} ${name}`, "data-seq": item.seq },
    made ? post(app, text, made) : more ? result(app, text, more, isJob) : h("span", { text }), name === "nobody_addressed" && offers(app), place(app, item.seq ?? 0));
}

/** One button for each AI that a message to nobody can be given to. @param {App} app */
function offers(app) {
  const ais = app.view?.members.filter((each) => each.kind === "ai") ?? [];
  return h("span", { class: "offers" }, ...ais.map((each) => h("button", { text: each.display_name, onclick: () => void app.say("", [each.id]) })));
}

/** What a job made, as a post: to be read, copied and kept. @param {App} app @param {string} summary @param {Deliverable} made */
function post(app, summary, { body: text, title = "", tags = [], pictures = [] }) {
  const content = h("div", { class: "body" }), hashtags = tags.map((tag) => `#${tag.replaceAll(" ", "_")}`).join(" ");
  content.append(body(text.trim(), app.t));
  const markdown = [title && `# ${title}`, text, hashtags].filter(Boolean).join("\n\n");
  return h("details", { open: true, class: "deliverable" },
    h("summary", {}, h("b", { text: summary }), h("span", { class: "first", text: title || text.trim().split("\n")[0].slice(0, 160) })),
    title ? h("h3", { text: title }) : null, ...pictures.map((picture) => figure(app, picture)), content,
    hashtags ? h("p", { class: "tags", text: hashtags }) : null,
    h("p", { class: "take" }, h("button", { class: "ghost", text: app.t("copy"), onclick: () => void navigator.clipboard?.writeText(markdown) }),
      h("a", { href: `data:text/markdown;charset=utf-8,${encodeURIComponent(markdown)}`, download: `${title || "moot"}.md`, text: app.t("download") })));
}

/** A picture that a tool made: its data if the log has it, else where it is. @param {App} app @param {Picture} picture */
function figure(app, { asset_id: id, src = "", caption = "", is_placeholder: isPlaceholder = false }) {
  const shown = src.startsWith("data:image/") ? h("img", { src, alt: caption || id })
    : src.startsWith("https:") ? h("a", { href: src, rel: "noopener noreferrer", target: "_blank", text: caption || id }) : null;
  const mark = isPlaceholder ? ` (${app.t("placeholder")})` : "";
  return h("figure", {}, shown, h("figcaption", { text: `${caption || id}${mark}` }));
}

/** What a task brought, folded up to its first line; what a whole job brought, to be read.
 * @param {App} app @param {string} summary @param {string} text @param {boolean} isOpen */
function result(app, summary, text, isOpen) {
  const content = h("div", { class: "body" });
  content.append(body(text.trim(), app.t));
  return h("details", { open: isOpen }, h("summary", {}, h("b", { text: summary }), h("span", { class: "first", text: text.trim().split("\n")[0].slice(0, 160) })), content);
}

/** @param {Element} log @param {number | null} seq @returns {Element | null} the item at the event, or the first after it */
export function markSelected(log, seq) {
  for (const each of log.querySelectorAll(".selected")) each.classList.remove("selected");
  if (seq === null) return null;
  const exact = log.querySelector(`[data-seq="${seq}"]`);
  exact?.classList.add("selected");
  return exact;
}
