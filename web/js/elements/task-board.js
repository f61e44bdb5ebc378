// The tasks of the work: as a graph, by when they ran, and by how far they are. A card that has the focus stays where it is.

import { find, h, keyed, set } from "../dom.js";
import { failure, word } from "../i18n.js";
import { icon } from "../icons.js";
import { openMenu } from "../menu.ts";
import { Part } from "../part.js";
import { recall, remember } from "../prefs.js";
import { write } from "../text/body.ts";
import { columnOf } from "../view/columns.js";
import { isFinished, nameOf, runsOf } from "../view/names.js";
import { avatar } from "./avatar.ts";
import { load } from "./later.js";

const LEADING = ["planner", "reviewer", "aggregator"]; // they do no tasks
const ORDER = ["failed", "running", "dispatching", "review", "ready", "done"];
const GRAPHED = 40; // more tasks than that are a list
const NEAR = 24; // pixels
const VIEWS = ["graph", "board", "time"];

export class TaskBoard extends Part {
  /** @type {Map<string, string>} where a focused card stays */
  #held = new Map();

  /** What somebody acts on may move, and takes the focus along. */
  #acted = "";
  #chosen = recall("work_view");

  /** The one that was chosen; at first a graph, where it says something. @param {TaskRun[]} runs */
  #viewOf(runs) {
    return this.#chosen ?? (runs.length <= GRAPHED && runs.some((run) => run.task.depends_on?.length) ? "graph" : "board");
  }

  connectedCallback() {
    this.addEventListener("choose", (event) => this.#choose(/** @type {CustomEvent} */ (event).detail));
  }

  /** @param {string} id its card comes into sight */
  #choose(id) {
    for (const each of this.querySelectorAll("[data-chosen]")) each.removeAttribute("data-chosen");
    const card = find(this, `[data-task="${CSS.escape(id)}"]`);
    card?.setAttribute("data-chosen", "");
    card?.scrollIntoView({ block: "nearest" });
    const more = find(card, "details");
    if (more && !more.hidden) more.open = true;
  }

  /** @param {Translate} t */
  build(t) {
    const view = (/** @type {string} */ name) => h("button", { "data-view": name, text: t(`work.${name}`), onclick: () => { this.#chosen = name; remember("work_view", name); this.app.changed(); } });
    this.append(h("p", { class: "goal" }), h("p", { class: "overall" }, h("progress", { max: 1, "aria-label": t("progress") }), h("span", {})),
      h("div", { class: "views", role: "group", "aria-label": t("work.views") }, ...VIEWS.map(view)), h("plan-graph"), h("plan-time"),
      ...ORDER.map((name) => h("section", { class: `column ${name}` }, h("h2", {}), h("ul", {}))), h("p", { class: "empty", text: t("no_tasks") }));
  }

  /** @param {App} app @param {View | null} view */
  render(app, view) {
    const work = view?.work, { t } = app;
    const runs = runsOf(view), isProposed = !runs.length && Boolean(work?.proposed.length);
    const done = runs.filter(isFinished).length;
    set(find(this, ".empty"), { text: t(isProposed ? "work.proposed" : "no_tasks"), hidden: runs.length > 0 });
    set(find(this, ".goal"), { text: work ? `${work.question}` : "", hidden: !work?.question });
    set(find(this, ".overall"), { hidden: !runs.length });
    set(find(this, "progress"), { value: runs.length ? done / runs.length : 0 });
    set(find(this, ".overall span"), { text: `${done}/${runs.length}${work?.is_aggregating ? ` · ${t("aggregating")}` : ""}${work?.outcome ? ` · ${t(`outcome.${work.outcome}`)}` : ""}` });
    const shown = this.#viewOf(runs);
    set(find(this, ".views"), { hidden: !runs.length });
    for (const button of this.querySelectorAll("[data-view]")) set(button, { "aria-pressed": String(button.getAttribute("data-view") === shown) });
    for (const [name, part] of [["graph", "plan-graph"], ["time", "plan-time"]]) {
      const isShown = runs.length ? shown === name : isProposed && name === "graph";
      set(find(this, part), { hidden: !isShown });
      if (!isShown) continue;
      void load(part, app);
      find(this, part).update?.(app);
    }
    const focused = this.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement) : null;
    const columns = new Map(runs.map((run) => [run, this.#columnOf(run)])); // before anything moves: moving moves the focus
    for (const name of ORDER) {
      const here = runs.filter((run) => columns.get(run) === name);
      const column = find(this, `.column.${name}`);
      column.hidden = !here.length;
      set(find(column, "h2"), { text: `${t(`column.${name}`)} (${here.length})` });
      keyed(find(column, "ul"), here, (run) => run.task.id, (run) => this.#make(run), (node, run) => this.#show(node, run));
    }
    if (focused && document.activeElement === document.body && focused.isConnected) focused.focus();
    for (const run of runs) if (run.state === "RUNNING") this.#stream(run);
    this.tick();
  }

  /** What is being written for a task, or else thought; its end is in sight unless somebody has scrolled. @param {TaskRun} run */
  #stream({ task: { id } }) {
    const { app } = this, place = find(this, `[data-task="${CSS.escape(id)}"] .live`), { text, thinking } = app.tape?.conversation.streamOfTask(id) ?? { text: "", thinking: "" };
    const isAtEnd = place.scrollHeight - place.scrollTop - place.clientHeight < NEAR;
    set(place, { hidden: !text && !thinking, class: `live body${text ? "" : " thought"}` });
    write(place, text || thinking, app.t);
    if (isAtEnd) place.scrollTop = place.scrollHeight;
  }

  /** @param {TaskRun} run */
  #columnOf(run) {
    const focused = this.querySelector(`[data-task="${CSS.escape(run.task.id)}"]:focus-within`);
    if (focused && this.#acted !== run.task.id && this.#held.has(run.task.id)) return this.#held.get(run.task.id);
    const column = columnOf(run);
    this.#held.set(run.task.id, column);
    return column;
  }

  /** @param {TaskRun} run */
  #make({ task: { id } }) {
    const { t } = this.app, more = t("task.more");
    return h("li", { class: "task", "data-task": id },
      h("p", { class: "head" }, h("b", {}), h("span", { class: "who" }, h("span", { class: "face" }), h("span", { class: "name" })),
        h("button", { class: "ghost more", title: more, "aria-label": more, "aria-haspopup": "menu", "aria-expanded": "false", onclick: (event) => this.#offer(/** @type {any} */ (event).currentTarget, id) }, icon("more"))),
      h("p", { class: "how" }, h("progress", { max: 100, "aria-label": t("progress") }), h("span", { class: "count" })),
      h("p", { class: "say" }), h("p", { class: "tree" }), h("div", { class: "live body", role: "group", "aria-label": t("task.live"), tabindex: 0, hidden: true }),
      h("details", {}, h("summary", { text: t("details") }), h("div", { class: "result body" })),
      h("p", { class: "buttons" }, h("button", { class: "retry", onclick: () => void this.app.send("user.restart_task", { task_id: id }) }, icon("retry"), t("task.retry"))));
  }

  /** What can be done with a task: run again, by somebody else, or not at all. @param {HTMLElement} anchor @param {string} task_id */
  #offer(anchor, task_id) {
    const { app } = this, { t, view } = app, run = /** @type {TaskRun} */ (runsOf(view).find((each) => each.task.id === task_id));
    const others = view?.members.filter((each) => each.kind === "ai" && !LEADING.includes(each.role ?? "") && each.id !== run.member) ?? [];
    const may = allowed(app, run);
    this.#acted = task_id;
    openMenu(anchor, [
      ...(may.retry ? [{ label: t("task.retry"), icon: "retry", run: () => void app.send("user.restart_task", { task_id }) }] : []),
      ...(may.reassign ? others.map(({ id, display_name: name }) => ({ label: t("task.give_to", { name }), icon: "users", run: () => void app.send("user.restart_task", { task_id, member: id }) })) : []),
      ...(may.cancel ? [{ label: t("task.cancel"), icon: "x", isBad: true, run: () => void app.send("user.cancel_task", { task_id }) }] : []),
    ], t("task.more"));
  }

  /** @param {HTMLElement} node @param {TaskRun} run */
  #show(node, run) {
    const { app } = this, { t } = app, { task, state } = run;
    const view = /** @type {any} */ (app.view);
    set(node, { "data-state": state });
    set(find(node, "b"), { text: task.title });
    const doer = run.member || task.member || "";
    keyed(find(node, ".face"), doer ? [doer] : [], (id) => id, (id) => avatar(view, id, "small"));
    set(find(node, ".name"), { text: nameOf(view, run.member || task.member) || task.role || "" });
    const isCounted = state === "RUNNING";
    set(find(node, ".how"), { hidden: !isCounted });
    if (!isCounted) set(find(node, ".live"), { hidden: true });
    const percent = run.percent ?? (run.total ? (100 * run.done) / run.total : null);
    if (percent === null) find(node, "progress").removeAttribute("value");
    else set(find(node, "progress"), { value: percent });
    set(find(node, ".count"), { text: run.done || run.total ? `${run.done}${run.total ? `/${run.total}` : ""} ${run.step}` : "" });
    const rest = [task.objective, task.depends_on?.length && t("after", { tasks: task.depends_on.map((id) => app.view?.work?.tasks[id]?.task.title ?? id).join(", ") }), run.feedback && `${t("feedback")}: ${run.feedback}`, run.result].filter(Boolean);
    write(find(node, ".result"), rest.join("\n\n"), t);
    set(find(node, "details"), { hidden: !rest.length });
    set(find(node, ".tree"), { text: treeText(t, run), hidden: !run.tree, title: run.tree ? `${t("tree")}: ${run.tree.branch}` : null });
    const may = allowed(app, run);
    set(find(node, ".retry"), { hidden: !may.retry });
    set(find(node, ".more"), { hidden: !may.retry && !may.reassign && !may.cancel });
  }

  /** What is said of a task counts down: the next attempt. */
  tick() {
    for (const run of runsOf(this.app?.view)) {
      const node = this.querySelector(`[data-task="${CSS.escape(run.task.id)}"] .say`);
      if (node) set(node, { text: sayOf(this.app, run) });
    }
  }
}

/** @param {App} app @param {TaskRun} run */
function allowed({ mayWrite, view }, run) {
  const isOpen = mayWrite && Boolean(view?.work) && !["COMPLETED", "FAILED"].includes(view?.work?.status ?? ""), { state } = run;
  return {
    retry: isOpen && !isFinished(run) && ["EXECUTION_FAILED", "DISPATCH_FAILED", "BLOCKED", "CANCELLED"].includes(state),
    reassign: isOpen && !isFinished(run),
    cancel: isOpen && !isFinished(run) && state !== "CANCELLED" && state !== "BLOCKED",
  };
}

/** Where its files are: lines, checks, place in the merge queue. @param {Translate} t @param {TaskRun} run */
function treeText(t, { tree }) {
  if (!tree) return "";
  const checks = tree.checks.map((check) => (check.exit ? `✗ ${check.command}` : `✓ ${check.command}`));
  return [`+${tree.added} −${tree.removed}`, t(`tree.${tree.stage}`, { n: tree.place ?? 0 }), ...(checks.length ? [`${t("tree.checks")}: ${checks.join(", ")}`] : []), ...tree.conflicts].join(" · ");
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
