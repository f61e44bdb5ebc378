// The tasks of the work, by how far they are. A card that has the focus stays where it is.

import { find, h, keyed, set } from "../dom.js";
import { failure, word } from "../i18n.js";
import { Part } from "../part.js";
import { isFinished, nameOf, runsOf, slotName } from "../view/names.js";

/** @type {Record<string, string>} */
const COLUMNS = {
  CREATED: "ready", READY: "ready", DISPATCHING: "dispatching", DISPATCH_FAILED: "dispatching", DISPATCHED: "dispatching",
  RUNNING: "running", EXECUTION_FAILED: "running", EXECUTION_SUCCEEDED: "review", REVIEWING: "review",
  REWORK_REQUIRED: "review", DONE: "done", BLOCKED: "failed", CANCELLED: "failed",
};
const LEADING = ["planner", "reviewer", "aggregator"]; // they do no tasks
const ORDER = ["running", "dispatching", "review", "ready", "failed", "done"];

export class TaskBoard extends Part {
  /** @type {Map<string, string>} where a focused card stays */
  #held = new Map();

  /** @param {Translate} t */
  build(t) {
    this.append(h("p", { class: "goal" }), h("p", { class: "overall" }, h("progress", { max: 1, "aria-label": t("progress") }), h("span", {})),
      ...ORDER.map((name) => h("section", { class: `column ${name}` }, h("h2", {}), h("ul", {}))), h("p", { class: "empty", text: t("no_tasks") }));
  }

  /** @param {App} app @param {View | null} view */
  render(app, view) {
    const work = view?.work, { t } = app;
    const runs = runsOf(view);
    const done = runs.filter(isFinished).length;
    set(find(this, ".empty"), { hidden: runs.length > 0 });
    set(find(this, ".goal"), { text: work ? `${work.question}` : "", hidden: !work?.question });
    set(find(this, ".overall"), { hidden: !runs.length });
    set(find(this, "progress"), { value: runs.length ? done / runs.length : 0 });
    set(find(this, ".overall span"), { text: `${done}/${runs.length}${work?.is_aggregating ? ` · ${t("aggregating")}` : ""}${work?.outcome ? ` · ${t(`outcome.${work.outcome}`)}` : ""}` });
    const columns = new Map(runs.map((run) => [run, this.#columnOf(run)])); // before anything moves: moving moves the focus
    for (const name of ORDER) {
      const here = runs.filter((run) => columns.get(run) === name);
      const column = find(this, `.column.${name}`);
      column.hidden = !here.length;
      set(find(column, "h2"), { text: `${t(`column.${name}`)} (${here.length})` });
      keyed(find(column, "ul"), here, (run) => run.task.id, (run) => this.#make(run), (node, run) => this.#show(node, run));
    }
    this.tick();
  }

  /** @param {TaskRun} run */
  #columnOf(run) {
    const focused = this.querySelector(`[data-task="${CSS.escape(run.task.id)}"]:focus-within`);
    if (focused && this.#held.has(run.task.id)) return this.#held.get(run.task.id);
    const column = run.is_skipped ? "done" : COLUMNS[run.state] ?? "ready";
    this.#held.set(run.task.id, column);
    return column;
  }

  /** @param {TaskRun} run */
  #make({ task: { id } }) {
    const { t } = this.app;
    const act = (/** @type {string} */ name, /** @type {"user.cancel_task" | "user.restart_task"} */ event) => h("button", { class: name, text: t(`task.${name}`), onclick: () => void this.app.send(event, { task_id: id }) });
    return h("li", { class: "task", "data-task": id },
      h("p", { class: "head" }, h("b", {}), h("span", { class: "who" })),
      h("p", { class: "how" }, h("progress", { max: 100, "aria-label": t("progress") }), h("span", { class: "count" })),
      h("p", { class: "say" }),
      h("details", {}, h("summary", { text: t("details") }), h("p", { class: "result" })),
      h("p", { class: "buttons" }, act("retry", "user.restart_task"),
        h("button", { class: "reassign", text: t("task.reassign"), "aria-expanded": "false", onclick: (event) => toggle(event.target) }),
        act("cancel", "user.cancel_task")),
      this.#others(id));
  }

  /** Whom it can be given to. @param {string} task_id */
  #others(task_id) {
    const { t, view } = this.app;
    const able = view?.members.filter((each) => each.kind === "ai" && !LEADING.includes(each.role ?? "")) ?? [];
    const form = h("form", { class: "others", hidden: true, onsubmit: (event) => {
      event.preventDefault();
      this.app.send("user.restart_task", { task_id, member: find(form, "select").value });
      toggle(find(/** @type {HTMLElement} */ (form.parentElement), ".reassign"));
    } },
    h("select", { "aria-label": t("reassign_to") }, ...able.map((each) => h("option", { value: each.id, text: each.display_name }))),
    h("button", { class: "give", text: t("task.give") }));
    return form;
  }

  /** @param {HTMLElement} node @param {TaskRun} run */
  #show(node, run) {
    const { app } = this, { t } = app, { task, state } = run;
    const view = /** @type {any} */ (app.view);
    set(node, { "data-state": state });
    set(find(node, "b"), { text: task.title });
    set(find(node, ".who"), { text: run.agent_id ? slotName(view, run.agent_id) : nameOf(view, run.member || task.member) || task.role || "" });
    const isCounted = state === "RUNNING";
    set(find(node, ".how"), { hidden: !isCounted });
    const percent = run.percent ?? (run.total ? (100 * run.done) / run.total : null);
    if (percent === null) find(node, "progress").removeAttribute("value");
    else set(find(node, "progress"), { value: percent });
    set(find(node, ".count"), { text: run.done || run.total ? `${run.done}${run.total ? `/${run.total}` : ""} ${run.step}` : "" });
    const rest = [task.objective, task.depends_on?.length && t("after", { tasks: task.depends_on.map((id) => app.view?.work?.tasks[id]?.task.title ?? id).join(", ") }), run.feedback && `${t("feedback")}: ${run.feedback}`, run.result].filter(Boolean);
    set(find(node, ".result"), { text: rest.join("\n\n") });
    set(find(node, "details"), { hidden: !rest.length });
    const isOver = isFinished(run) || state === "CANCELLED";
    const isMine = app.mayWrite && Boolean(app.view?.work) && !["COMPLETED", "FAILED"].includes(app.view?.work?.status ?? "");
    const isOpen = isMine && !isFinished(run);
    set(find(node, ".retry"), { hidden: !isOpen || !["EXECUTION_FAILED", "DISPATCH_FAILED", "BLOCKED", "CANCELLED"].includes(state) });
    const others = find(node, ".others"), options = [...find(others, "select").options];
    for (const option of options) option.disabled = option.value === run.member;
    const other = options.find((option) => !option.disabled);
    set(find(node, ".reassign"), { hidden: !isOpen || !other });
    if (!isOpen) others.hidden = true;
    if (others.hidden && other) find(others, "select").value = other.value;
    set(find(node, ".cancel"), { hidden: !isMine || isOver || state === "BLOCKED" });
  }

  /** What is said of a task counts down: the next attempt. */
  tick() {
    for (const run of runsOf(this.app?.view)) {
      const node = this.querySelector(`[data-task="${CSS.escape(run.task.id)}"] .say`);
      if (node) set(node, { text: sayOf(this.app, run) });
    }
  }
}

/** @param {HTMLElement} button what it opens stands beside its row */
function toggle(button) {
  const form = find(/** @type {HTMLElement} */ (button.closest(".task")), ".others");
  form.hidden = !form.hidden;
  set(button, { "aria-expanded": String(!form.hidden) });
  (form.hidden ? button : find(form, "select")).focus();
}

/** What happened, what was tried, what comes. @param {App} app @param {TaskRun} run */
function sayOf({ t }, run) {
  const { state } = run;
  if (run.is_skipped) return t("task.skipped");
  if (state === "DONE") return "";
  const said = [state === "RUNNING" && run.attempt === 1 ? "" : t(`state.${state}`)];
  if (state === "DISPATCHED" && run.place) said.push(t("task.place", { n: run.place }));
  if (run.attempt > 1) said.push(t("task.attempt", { n: run.attempt }));
  if (["EXECUTION_FAILED", "BLOCKED"].includes(state) && run.error_type) said.push(failure(t, run.error_type, run.message));
  if (state === "DISPATCH_FAILED") said.push(word(t, "error", run.message));
  if (run.retries && run.max_attempts) said.push(t("task.retries", { n: run.retries, max: run.max_attempts }));
  if (run.retry_at) said.push(t("task.next_in", { s: Math.max(0, Math.round((Date.parse(run.retry_at) - Date.now()) / 1000)) }));
  return said.filter(Boolean).join(" · ");
}
