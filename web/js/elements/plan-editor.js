// Editing a plan: a dialog with a row for each task, what is wrong at its row, and a button that says what it does.

import { dialogHead, find, h, hear, keyed, set } from "../dom.js";
import { Part } from "../part.js";
import { nameOf } from "../view/names.js";
import { answerLabel } from "../view/note-text.js";
import { diff, findProblems, freshId, moveTask, wavesOf } from "../plan/edit.js";
import { recallJson, remember } from "../prefs.js";
import { makeRow, updateRow } from "./plan-row.js";

export class PlanEditor extends Part {
  #stepId = "";
  /** @type {Task[]} */
  #proposed = [];
  /** @type {Task[]} */
  tasks = [];
  /** @type {string[]} what the server found wrong */
  #refused = [];

  connectedCallback() {
    hear("plan", (stepId) => this.#open(stepId));
  }

  /** @param {Translate} t */
  build(t) {
    const add = () => {
      const id = freshId(this.tasks);
      this.change([...this.tasks, { id, title: "", depends_on: [] }]);
      find(this, `[data-task="${CSS.escape(id)}"] .title`).focus();
    };
    this.append(h("dialog", { "aria-labelledby": "plan-title" }, h("form", { method: "dialog", onsubmit: (event) => { event.preventDefault(); this.#approve(); } },
      dialogHead(t, "plan-title", t("plan.title")),
      h("p", { class: "gone", role: "status" }),
      h("div", { class: "sides" }, h("ol", { class: "rows" }), h("plan-graph")),
      h("ul", { class: "removed" }),
      h("div", { role: "alert" }, h("ul", { class: "problems general" })),
      h("footer", {},
        h("button", { text: `+ ${t("plan.add")}`, onclick: add }),
        h("button", { class: "ghost reset", text: t("plan.reset"), onclick: () => this.change(structuredClone(this.#proposed)) }),
        h("span", { class: "space" }),
        h("span", { class: "tally" }),
        h("button", { text: t("plan.later"), onclick: () => this.#dialog.close() }),
        h("button", { class: "primary approve" })))));
    if (this.#stepId) this.#open(this.#stepId);
  }

  get #dialog() {
    return find(this, "dialog");
  }

  get #question() {
    return (this.app.view?.questions.find((each) => each.step_id === this.#stepId));
  }

  /** @param {string} stepId */
  #open(stepId) {
    this.#stepId = stepId;
    this.#proposed = structuredClone(this.#question?.tasks ?? []);
    this.tasks = recallJson(`plan.${stepId}`, structuredClone(this.#proposed));
    this.#refused = [];
    this.#draw();
    if (!this.#dialog.open) this.#dialog.showModal();
    find(this, ".title")?.focus();
  }

  /** @param {Task[]} tasks */
  change(tasks) {
    this.tasks = tasks;
    this.#refused = [];
    const isSame = diff(this.#proposed, tasks).count === 0;
    remember(`plan.${this.#stepId}`, isSame ? null : JSON.stringify(tasks));
    this.#draw();
  }

  /** @param {string} id @param {Partial<Task>} fields */
  patch(id, fields) {
    this.change(this.tasks.map((task) => (task.id === id ? { ...task, ...fields } : task)));
  }

  /** @param {string} id @param {number} by */
  move(id, by) {
    this.change(moveTask(this.tasks, this.tasks.findIndex((task) => task.id === id), by));
    find(this, `[data-task="${CSS.escape(id)}"] .${by < 0 ? "up" : "down"}`)?.focus();
  }

  /** @param {string} id those who waited for it wait no more */
  removeTask(id) {
    const kept = this.tasks.filter((task) => task.id !== id);
    this.change(kept.map((task) => ({ ...task, depends_on: (task.depends_on ?? []).filter((each) => each !== id) })));
    (find(this, ".rows .title") ?? find(this, ".approve")).focus();
  }

  #draw() {
    const { t } = this.app, { tasks } = this;
    const changes = diff(this.#proposed, tasks), problems = findProblems(tasks);
    const rows = find(this, ".rows");
    keyed(rows, tasks, (task) => task.id, (task) => makeRow(this, task));
    tasks.forEach((task, at) => updateRow(rows.children[at], this, task, at, {
      changed: changes.added.includes(task.id) ? ["added"] : changes.changed[task.id] ?? [],
      was: this.#proposed.find((each) => each.id === task.id),
      problems: problems.filter((each) => each.at === at).map(({ code, params }) => t(code, params)),
    }));
    keyed(find(this, ".removed"), changes.removed, (task) => task.id, (task) => h("li", {}, h("s", { text: task.title }), " ",
      h("button", { class: "ghost", text: t("undo"), onclick: () => this.change([...this.tasks, task]) })));
    const general = problems.filter((each) => each.at < 0).map(({ code, params }) => t(code, params));
    keyed(find(this, ".general"), [...general, ...this.#refused], (text) => text, (text) => h("li", { text }));
    const count = tasks.length;
    const label = changes.count ? t("plan.approve_changed", { count, changed: changes.count }) : t("plan.approve", { count });
    set(find(this, ".approve"), { text: label, disabled: problems.length > 0 || !this.#question || !this.app.mayWrite });
    set(find(this, ".reset"), { disabled: !changes.count });
    const graph = find(this, "plan-graph");
    graph.tasks = problems.length ? graph.tasks ?? [] : tasks; // one that cannot be is not drawn
    graph.update(this.app);
    const waves = wavesOf(tasks);
    set(find(this, ".tally"), { text: t("plan.waves", { count: waves.length, n: waves[0]?.length ?? 0 }) });
  }

  #approve() {
    if (!this.#question || findProblems(this.tasks).length) return;
    const edited = diff(this.#proposed, this.tasks).count ? { tasks: this.tasks } : {};
    this.app.answer(this.#stepId, { confirmed: true, ...edited });
  }

  /** The server did not take it: what it says stands in the dialog. @param {{sentence: string, problems?: string[]}} why */
  refuse({ sentence, problems }) {
    this.#refused = problems?.length ? problems : [sentence];
    if (this.#dialog.open) this.#draw();
    return this.#dialog.open;
  }

  render() {
    if (!this.#dialog.open) return;
    const answer = this.#question ? null : this.app.tape?.conversation.lastAnswer, by = answer?.metadata.by;
    set(find(this, ".gone"), { text: this.#question ? "" : this.app.t("plan.gone", { label: answer ? answerLabel(this.app, answer) : "", name: nameOf(this.app.view, by) }), hidden: Boolean(this.#question) });
    if (!this.#question) {
      remember(`plan.${this.#stepId}`, null);
      if (answer && by === this.app.speaksAs) this.#dialog.close();
    }
    set(find(this, ".approve"), { disabled: !this.#question || findProblems(this.tasks).length > 0 });
  }
}
