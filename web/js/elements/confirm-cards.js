// Questions that wait for one answer: one card that can show any of them, plans with their tasks.

import { find, h, keyed, set, tell } from "../dom.js";
import { icon } from "../icons.js";
import { openMenu } from "../menu.ts";
import { Part } from "../part.js";
import { diffView } from "../text/diff.ts";
import { nameOf } from "../view/names.js";
import { planCard } from "./plan-card.js";

const LIKELY = ["allow_once", "allow", "retry", "approve", "continue", "finish_first", "apply"]; // what is chosen most

/** How a choice stands out: the one that is made most, those that lose something. @param {string} id */
export const levelOf = (id) => (LIKELY.includes(id) ? "primary" : /^(reject|cancel|abort|discard)/.test(id) ? "danger" : "");

export class ConfirmCards extends Part {
  /** @param {App} app @param {View | null} view */
  render(app, view) {
    this.hidden = !view?.questions.length;
    keyed(this, view?.questions ?? [], (each) => each.step_id, (each) => this.#make(each));
    for (const card of this.children) for (const button of card.querySelectorAll("button:not(.look), textarea, select, input")) {
      set(button, { disabled: !app.mayWrite });
    }
    this.tick();
  }

  tick() {
    for (const question of this.app?.view?.questions ?? []) {
      const left = this.querySelector(`[data-step="${CSS.escape(question.step_id)}"] .left`);
      if (left) set(left, { text: leftText(this.app, question) });
    }
  }

  /** @param {Question} question */
  #make(question) {
    const { app } = this, { t, view } = app;
    const asker = question.code ? "Moot" : question.who || nameOf(view, question.asked_by) || "Moot";
    const content = question.kind === "plan" ? planCard(app, question) : choices(app, question);
    const card = h("section", { class: `card ${question.kind}`, "data-step": question.step_id, "aria-label": t("card.title"), tabindex: -1 },
      h("header", {}, h("b", {}, icon("alert"), t("card.title")), h("span", { class: "asker", text: asker === "Moot" ? "" : t("card.by", { name: asker }) }), h("span", { class: "left" })),
      h("p", { class: "what", text: question.text.replaceAll("`", "") }),
      evidence(question), content);
    card.addEventListener("keydown", (event) => pressKey(card, event));
    return card;
  }
}

/** A, E and R where the card has the focus; Esc leaves it. @param {HTMLElement} card @param {KeyboardEvent} event */
function pressKey(card, event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.key === "Escape") {
    event.preventDefault(); // what runs goes on
    return find(document, "#composer").focus();
  }
  if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input, textarea, select")) return;
  const button = card.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!(button instanceof HTMLButtonElement)) return;
  event.preventDefault();
  button.click();
}

/** What would happen: the command in full, or the change. @param {Question} question */
function evidence({ tool, diff }) {
  if (diff) return h("div", { class: "evidence" }, diffView(diff));
  return tool?.kind === "execute" && tool.title ? h("div", { class: "evidence" }, h("code", { class: "command", text: tool.title })) : null;
}

/** @param {App} app @param {Question} question */
function choices(app, question) {
  const { t } = app, { step_id, options } = question;
  const isMany = question.selection === "multiple";
  const isOutput = question.code === "review_output";
  const isOpen = !options.length || question.allow_custom_input || isOutput || question.code === "supervisor_stuck" || (question.kind === "ask_user" && !question.selection);
  const box = h("textarea", { rows: 2, placeholder: t("card.answer"), "aria-label": t("card.answer") });
  const send = () => {
    const answer = /** @type {HTMLTextAreaElement} */ (box).value.trim();
    const chosen = [...content.querySelectorAll("input:checked")].map((each) => /** @type {HTMLInputElement} */ (each).value);
    if (answer || chosen.length) app.answer(step_id, { ...(chosen.length ? { selected_ids: chosen } : {}), ...(answer ? { answer } : {}) });
  };
  const pick = (/** @type {string} */ choice) => () => {
    const edited = content.querySelector(".output");
    if (choice === "edit" && edited instanceof HTMLElement) return toggle(edited);
    const answer = /** @type {HTMLTextAreaElement} */ (box).value.trim();
    app.answer(step_id, { choice, ...(answer ? { answer } : {}) });
  };
  const reassign = (/** @type {HTMLElement} */ anchor) => openMenu(anchor, [{ id: "", display_name: t("anybody") }, ...(app.view?.members ?? []).filter((each) => each.kind === "ai")].map(({ id, display_name: label }) => (
    { label, icon: id ? "right" : "users", run: () => app.answer(step_id, { choice: "reassign", ...(id ? { answer: id } : {}) }) })), t("reassign_to"));
  const choose = (/** @type {Option} */ { id, label }) => (id === "reassign"
    ? h("button", { "aria-haspopup": "menu", "aria-expanded": "false", onclick: (event) => reassign(/** @type {any} */ (event).currentTarget) }, label, icon("down"))
    : h("button", { class: levelOf(id), text: label, onclick: pick(id) }));
  const listed = options.map((option) => isMany
    ? h("label", { class: "option" }, h("input", { type: "checkbox", value: option.id }), h("span", { text: option.label }), describe(option))
    : h("div", { class: "option" }, choose(option), describe(option)));
  const content = h("div", { class: "choices" }, ...listed,
    question.code === "take_work" && h("button", { class: "ghost look", onclick: () => tell("tab", "changes") }, t("take.look"), icon("right")),
    (isOpen || isMany) && h("form", { class: "open", onsubmit: (event) => { event.preventDefault(); send(); } },
      isOpen && box, h("button", { class: "primary", text: t("card.send") })),
    isOutput && outputForm(app, question));
  return content;
}

/** @param {HTMLElement} form */
function toggle(form) {
  form.hidden = !form.hidden;
  if (!form.hidden) form.querySelector("textarea")?.focus();
}

/** What an agent wrote, to be put right. @param {App} app @param {Question} question */
function outputForm(app, { step_id, job: role }) {
  const { t } = app, job = app.view?.supervision;
  const writer = app.view?.members.find((each) => each.role === role)?.id;
  const written = Object.entries(job?.state ?? {}).filter(([key]) => writer && job?.writers[key] === writer);
  const box = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: 10, "aria-label": t("card.output"), spellcheck: "false", value: JSON.stringify(Object.fromEntries(written), null, 2) }));
  const problem = h("p", { class: "problem", role: "alert" });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      app.answer(step_id, { choice: "edit", state: JSON.parse(box.value) });
    } catch (error) {
      problem.textContent = error instanceof Error ? error.message : String(error);
    }
  };
  return h("form", { class: "open output", hidden: true, onsubmit: submit }, box, h("button", { class: "primary", text: t("card.save") }), problem);
}

/** @param {Option} option */
const describe = ({ description }) => (description ? h("small", { text: description }) : null);

/** @param {App} app @param {Question} question */
function leftText(app, { expires_at, default: otherwise, options }) {
  const { t, language } = app;
  if (!expires_at) return "";
  const seconds = Math.max(0, Math.round((Date.parse(expires_at) - Date.now()) / 1000));
  const time = new Intl.NumberFormat(language, { minimumIntegerDigits: 2 }).format(seconds % 60);
  const known = options.find((option) => option.id === otherwise);
  const after = known ? known.label : otherwise;
  return t("card.left", { time: `${Math.floor(seconds / 60)}:${time}` }) + (after ? ` · ${t("card.default", { option: after })}` : "");
}
