// The tasks of a plan, one line each: numbered while it is proposed, with how far each is once it was approved.

import { find, h, keyed, set } from "../dom.js";
import { columnOf } from "../view/columns.js";
import { isFinished, nameOf } from "../view/names.js";
import { avatar } from "./avatar.ts";

const MARKS: Record<string, string> = { done: "✓", failed: "✗", running: "●", review: "◐" };

export function planList(app: App, tasks: Task[]): HTMLElement {
  const { t } = app, titles = new Map(tasks.map(({ id, title }) => [id, title]));
  return h("ol", { class: "tasks" }, ...tasks.map((task, at) => {
    const after = task.depends_on?.map((id) => titles.get(id) ?? id).join(", ");
    const row = h("li", { "data-of": task.id }, h("span", { class: "mark", "aria-hidden": "true", text: `${at + 1}` }), h("b", { text: task.title }),
      h("span", { class: "who" }, h("span", { class: "face" }), h("span", { class: "name" })), h("span", { class: "state" }), after ? h("span", { class: "deps", text: t("after", { tasks: after }) }) : null);
    showDoer(app, row, task.member, task.role || t("any_executor"));
    return row;
  }));
}

function showDoer({ view }: App, row: HTMLElement, member = "", otherwise = ""): void {
  keyed(find(row, ".face"), member ? [member] : [], (id) => id, (id) => avatar(view, id, "small"));
  set(find(row, ".name"), { text: nameOf(view, member) || otherwise });
}

/** How far each task is, and how many are finished; nothing if another plan has taken the place of this one. */
export function followPlan(app: App, list: Element): string {
  const rows = [...list.children] as HTMLElement[], { t, view } = app, tasks = view?.work?.tasks ?? {};
  const runs = rows.map((row) => tasks[row.dataset.of ?? ""]);
  if (!runs.every(Boolean)) return "";
  rows.forEach((row, at) => {
    const run = runs[at], { task, state } = run, column = run.is_skipped ? "skipped" : columnOf(run);
    set(row, { "data-column": column });
    set(find(row, ".mark"), { text: column === "skipped" ? "–" : MARKS[column] ?? "" });
    set(find(row, "b"), { text: task.title });
    set(find(row, ".state"), { text: column === "done" ? "" : t(column === "skipped" ? "task.skipped" : state === "BLOCKED" ? "partial.failed" : `state.${state}`) });
    showDoer(app, row, run.member || task.member, task.role);
  });
  return `${runs.filter(isFinished).length}/${rows.length}`;
}
