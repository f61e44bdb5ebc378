// One task in the plan editor: title, aim, who, what it waits for, its place.

import { find, h, keyed, set } from "../dom.js";
import { followersOf, moveTask } from "../plan/edit.js";
import { icon } from "../icons.js";
import { openMenu } from "../menu.ts";

/** @param {PlanEditor} editor @param {Task} task */
export function makeRow(editor, task) {
  const { t } = editor.app, { id } = task;
  const read = (/** @type {{target: any}} */ event) => event.target.value;
  const button = (/** @type {string} */ name, /** @type {string} */ symbol, /** @type {() => void} */ onclick) =>
    h("button", { class: `ghost ${name}`, "aria-label": t(`plan.${name}`), title: t(`plan.${name}`), onclick }, icon(symbol));
  const executors = editor.app.view?.members.filter((each) => each.kind === "ai") ?? [];
  const row = h("li", { class: "row", "data-task": id },
    h("span", { class: "id", draggable: "true", title: id, "aria-hidden": "true" }, icon("grip")),
    h("input", { class: "title", "aria-label": t("plan.task_title"), placeholder: t("plan.task_title"), value: task.title, maxlength: 200, oninput: (event) => editor.patch(id, { title: read(event) }) }),
    h("select", { class: "who", "aria-label": t("plan.who"), onchange: (event) => editor.patch(id, { member: read(event) || undefined }) },
      h("option", { value: "", text: task.role || t("any_executor") }), ...executors.map((each) => h("option", { value: each.id, text: each.display_name, selected: each.id === task.member }))),
    h("span", { class: "moves" }, button("up", "up", () => editor.move(id, -1)), button("down", "down", () => editor.move(id, 1)), button("remove", "x", () => editor.removeTask(id))),
    h("textarea", { class: "objective", rows: 1, "aria-label": t("plan.objective"), placeholder: t("plan.objective"), value: task.objective ?? "", oninput: (event) => editor.patch(id, { objective: read(event) }) }),
    h("div", { class: "deps", role: "group", "aria-label": t("plan.deps") }, h("span", { text: t("plan.deps") }), h("span", { class: "chips" }),
      h("button", { class: "ghost after", "aria-haspopup": "menu", "aria-expanded": "false", onclick: (event) => pickBefore(editor, id, event.currentTarget) }, icon("plus"), t("plan.after_add"))),
    h("p", { class: "was" }), h("ul", { class: "problems" }));
  makeDraggable(row, editor, id);
  return row;
}

/** Which tasks come first: a menu of those that do not yet, and do not wait for this one. @param {PlanEditor} editor @param {string} id @param {any} anchor */
function pickBefore(editor, id, anchor) {
  const { t } = editor.app, task = editor.tasks.find((each) => each.id === id), now = task?.depends_on ?? [];
  const after = followersOf(editor.tasks, id), others = editor.tasks.filter((each) => !after.has(each.id) && !now.includes(each.id));
  openMenu(anchor, others.map((each) => ({ label: each.title || each.id, icon: "plus", run: () => editor.patch(id, { depends_on: [...now, each.id] }) })), t("plan.deps"));
}

/** By its grip, to before the row where it is dropped. @param {HTMLElement} row @param {PlanEditor} editor @param {string} id */
function makeDraggable(row, editor, id) {
  const kind = "text/moot-task";
  row.addEventListener("dragstart", (event) => { event.dataTransfer?.setData(kind, id); row.classList.add("dragged"); });
  row.addEventListener("dragend", () => row.classList.remove("dragged"));
  row.addEventListener("dragover", (event) => { event.preventDefault(); row.classList.add("over"); });
  row.addEventListener("dragleave", () => row.classList.remove("over"));
  row.addEventListener("drop", (event) => {
    event.preventDefault();
    row.classList.remove("over");
    const moved = event.dataTransfer?.getData(kind), at = (/** @type {string} */ each) => editor.tasks.findIndex((task) => task.id === each);
    if (moved && moved !== id) editor.change(moveTask(editor.tasks, at(moved), at(id) - at(moved)));
  });
}

/** @param {Element} row @param {PlanEditor} editor @param {Task} task @param {number} at
 * @param {{changed: string[], problems: string[], was: Task | undefined}} state `was`: as it was proposed */
export function updateRow(row, editor, task, at, { changed, problems, was }) {
  const { t } = editor.app;
  set(row, { "data-changed": changed.length ? changed.join(" ") : null, "data-problem": problems.length ? "" : null, "aria-label": `${at + 1}. ${task.title}` });
  set(find(row, ".title"), { value: task.title, "aria-invalid": problems.length ? "true" : null });
  set(find(row, ".objective"), { value: task.objective ?? "" });
  set(find(row, ".who"), { value: task.member ?? "" });
  set(find(row, ".up"), { disabled: at === 0 });
  set(find(row, ".down"), { disabled: at === editor.tasks.length - 1 });
  const others = editor.tasks.filter((each) => each.id !== task.id);
  set(find(row, ".deps"), { hidden: !others.length });
  const before = task.depends_on ?? [], titles = new Map(editor.tasks.map((each) => [each.id, each.title || each.id]));
  const drop = (/** @type {string} */ id) => editor.patch(task.id, { depends_on: (editor.tasks.find((each) => each.id === task.id)?.depends_on ?? []).filter((each) => each !== id) });
  keyed(find(row, ".chips"), before, (id) => `${id} ${titles.get(id)}`, (id) => h("span", { class: "chip", "data-before": id }, h("span", { text: titles.get(id) ?? id }),
    h("button", { class: "ghost", "aria-label": t("plan.after_remove", { title: titles.get(id) ?? id }), onclick: () => drop(id) }, icon("x"))));
  set(find(row, ".after"), { hidden: before.length + followersOf(editor.tasks, task.id).size >= editor.tasks.length });
  keyed(find(row, ".problems"), problems, (text) => text, (text) => h("li", { text }));
  const told = changed.map((field) => describe(editor, field, was)).filter(Boolean).join(" · ");
  set(find(row, ".was"), { text: told, hidden: !told });
  set(find(row, ".id"), { title: changed.map((field) => t(`changed.${field}`)).join(", ") });
}

/** What was proposed where something else stands now. @param {PlanEditor} editor @param {string} field @param {Task | undefined} was */
function describe({ app }, field, was) {
  if (!was) return app.t("changed.added");
  const value = was[/** @type {keyof Task} */ (field)];
  const text = Array.isArray(value) ? value.join(", ") : app.view?.members.find((each) => each.id === value)?.display_name ?? value;
  return `${app.t(`changed.${field}`)}: ${text || "–"}`;
}
