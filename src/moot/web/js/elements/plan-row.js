// One task in the plan editor: title, aim, who, what it waits for, its place.

import { find, h, keyed, set } from "../dom.js";

/** @param {PlanEditor} editor @param {Task} task */
export function makeRow(editor, task) {
  const { t } = editor.app, { id } = task;
  const read = (/** @type {{target: any}} */ event) => event.target.value;
  const button = (/** @type {string} */ name, /** @type {string} */ icon, /** @type {() => void} */ onclick) =>
    h("button", { class: `ghost ${name}`, text: icon, "aria-label": t(`plan.${name}`), title: t(`plan.${name}`), onclick });
  const executors = editor.app.view?.members.filter((each) => each.kind === "ai") ?? [];
  return h("li", { class: "row", "data-task": id },
    h("span", { class: "id", text: id }),
    h("input", { class: "title", "aria-label": t("plan.task_title"), placeholder: t("plan.task_title"), value: task.title, maxlength: 200, oninput: (event) => editor.patch(id, { title: read(event) }) }),
    h("select", { class: "who", "aria-label": t("plan.who"), onchange: (event) => editor.patch(id, { member: read(event) || undefined }) },
      h("option", { value: "", text: task.role || t("any_executor") }), ...executors.map((each) => h("option", { value: each.id, text: each.display_name, selected: each.id === task.member }))),
    h("span", { class: "moves" }, button("up", "↑", () => editor.move(id, -1)), button("down", "↓", () => editor.move(id, 1)), button("remove", "✕", () => editor.removeTask(id))),
    h("textarea", { class: "objective", rows: 1, "aria-label": t("plan.objective"), placeholder: t("plan.objective"), value: task.objective ?? "", oninput: (event) => editor.patch(id, { objective: read(event) }) }),
    h("fieldset", { class: "deps" }, h("legend", { text: t("plan.deps") }), h("span", { class: "boxes" })),
    h("p", { class: "was" }), h("ul", { class: "problems" }));
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
  const boxes = find(row, ".boxes");
  keyed(boxes, others, (each) => each.id, (each) => h("label", {}, h("input", {
    type: "checkbox",
    onchange: (event) => {
      const isOn = event.target.checked;
      const now = editor.tasks.find((one) => one.id === task.id)?.depends_on ?? [];
      editor.patch(task.id, { depends_on: isOn ? [...now, each.id] : now.filter((id) => id !== each.id) });
    },
  }), h("span", {})));
  others.forEach((each, index) => {
    set(find(boxes.children[index], "input"), { checked: (task.depends_on ?? []).includes(each.id) });
    set(find(boxes.children[index], "span"), { text: each.id, title: each.title });
  });
  keyed(find(row, ".problems"), problems, (text) => text, (text) => h("li", { text }));
  const before = changed.map((field) => describe(editor, field, was)).filter(Boolean).join(" · ");
  set(find(row, ".was"), { text: before, hidden: !before });
  set(find(row, ".id"), { title: changed.map((field) => t(`changed.${field}`)).join(", ") });
}

/** What was proposed where something else stands now. @param {PlanEditor} editor @param {string} field @param {Task | undefined} was */
function describe({ app }, field, was) {
  if (!was) return app.t("changed.added");
  const value = was[/** @type {keyof Task} */ (field)];
  const text = Array.isArray(value) ? value.join(", ") : app.view?.members.find((each) => each.id === value)?.display_name ?? value;
  return `${app.t(`changed.${field}`)}: ${text || "–"}`;
}
