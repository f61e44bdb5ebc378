// What goes on, above the message box: who acts and who is next, chips that can be skipped and moved; paused, and how to go on.

import { find, h, keyed, set } from "../dom.js";
import { icon } from "../icons.js";
import { Part } from "../part.js";
import { nameOf, queueLine, runsOf } from "../view/names.js";
import { avatar } from "./avatar.ts";

const SHOWN = 6;

export class QueueBar extends Part {
  /** @param {Translate} t */
  build(t) {
    /** @type {<Name extends CommandName>(event: Name, fields?: Wire.Commands[Name]) => () => void} */
    const act = (event, fields) => () => void this.app.send(event, fields);
    const button = (/** @type {string} */ name, /** @type {string} */ symbol, /** @type {() => void} */ onclick) =>
      h("button", { class: name, title: t(`queue.${name}.hint`), onclick }, symbol ? icon(symbol) : null, t(`queue.${name}`));
    this.append(
      h("span", { class: "halt" }), h("ol", {}), h("span", { class: "more" }),
      h("span", { class: "actions" },
        button("skip", "", act("user.queue", { action: "skip" })), button("clear", "", act("user.queue", { action: "clear" })),
        h("button", { class: "again", onclick: act("user.retry") }, icon("retry"), t("retry_turn")),
        button("pause", "pause", act("user.pause", { trigger: "pause_button" })), button("resume", "play", act("user.resume"))));
  }

  /** @param {App} app @param {View | null} view */
  render(app, view) {
    const line = view && queueLine(view, app.speaksAs, { queue: app.t("queue.line"), you: app.t("you") });
    const works = view ? workers(view) : [];
    const halted = view ? haltOf(app, view) : "";
    this.hidden = !app.tape || !view || (!line && !view.running.length && !works.length && !halted);
    if (!view || this.hidden) return;
    set(find(this, ".halt"), { text: halted, hidden: !halted, "data-kind": view.pause_reason?.startsWith("agent_") ? "failed" : "paused" });
    const list = find(this, "ol");
    set(list, { "aria-label": line ?? app.t("queue") });
    const acting = [...view.running.map(({ turn_id, member, started_at }) => ({ key: `run ${turn_id}`, member, at: -1, what: "", since: started_at })), ...works];
    const chips = [...acting,
      ...view.pending.slice(0, SHOWN).map((member, at) => ({ key: `${at} ${member}`, member, at, what: "", since: "" }))];
    keyed(list, chips, (chip) => chip.key, (chip) => this.#chip(chip));
    set(find(this, ".more"), { text: view.pending.length > SHOWN ? `+${view.pending.length - SHOWN}` : "", hidden: view.pending.length <= SHOWN });
    const may = app.mayWrite, runs = acting.length > 0;
    const hasFailed = view.status === "paused" && ["agent_error", "agent_timeout"].includes(view.pause_reason ?? "");
    set(find(this, ".pause"), { hidden: !may || !runs || view.interrupt === "PAUSING" });
    set(find(this, ".again"), { hidden: !may || !hasFailed });
    set(find(this, ".resume"), { hidden: !may || hasFailed || runs || view.status === "completed" || !(view.pending.length || halted) });
    set(find(this, ".skip"), { hidden: !may || !view.pending.length });
    set(find(this, ".clear"), { hidden: !may || !view.pending.length });
    this.tick();
  }

  tick() {
    for (const each of /** @type {NodeListOf<HTMLElement>} */ (this.querySelectorAll(".elapsed"))) {
      set(each, { text: elapsed(each.dataset.since ?? "", this.app.replay?.at) });
    }
  }

  /** @param {{member: string, at: number, what: string, since: string}} chip */
  #chip({ member, at, what, since }) {
    const { app } = this, { t } = app;
    const name = member === app.speaksAs ? t("you") : nameOf(app.view, member);
    if (at < 0) return h("li", { class: "chip running", "aria-current": "step" }, avatar(app.view, member, "small"), h("b", { text: name }), what && h("span", { class: "what", text: what }), h("span", { class: "elapsed", "data-since": since }));
    const skip = () => void app.send("user.queue", { action: "skip", member });
    const move = (/** @type {number} */ to) => void app.send("user.queue", { action: "move", member, to });
    const chip = h("li", { class: "chip", draggable: "true", "data-at": at, "data-member": member },
      h("button", {
        class: "grip", text: name, title: t("queue.move.hint"), "aria-label": t("queue.move", { name }),
        onkeydown: (event) => {
          if (!event.altKey || !["ArrowLeft", "ArrowRight"].includes(event.key)) return;
          event.preventDefault();
          move(Math.max(0, at + (event.key === "ArrowLeft" ? -1 : 1)));
        },
      }),
      h("button", { class: "ghost x", "aria-label": t("queue.skip_one", { name }), onclick: skip }, icon("x")));
    chip.addEventListener("dragstart", (event) => event.dataTransfer?.setData("text/moot-member", member));
    chip.addEventListener("dragover", (event) => event.preventDefault());
    chip.addEventListener("drop", (event) => {
      event.preventDefault();
      const dragged = event.dataTransfer?.getData("text/moot-member");
      if (dragged && dragged !== member) void app.send("user.queue", { action: "move", member: dragged, to: at });
    });
    if (!app.mayWrite) for (const each of chip.querySelectorAll("button")) each.disabled = true;
    return chip;
  }
}

/** Why nothing goes on by itself, where somebody can make it. @param {App} app @param {View} view */
export function haltOf({ t }, view) {
  const { status, pause_reason: reason, interrupt, questions } = view;
  if (status === "completed") return "";
  if (interrupt === "PAUSING") return t("status.pausing");
  if (interrupt === "PAUSED") return t("status.paused");
  if (status !== "paused" || questions.length) return "";
  if (reason === "agent_error" || reason === "agent_timeout") return t("status.failed");
  if (reason === "budget" || reason === "hop_limit") return t(`halt.${reason}`);
  return reason === "user_pause" && view.pending.length ? t("status.paused") : "";
}

/** Who runs a task. @param {View} view */
function workers(view) {
  return runsOf(view).filter((run) => run.state === "RUNNING").map((run) => ({
    key: `task ${run.task.id} ${run.attempt}`, member: run.member, at: -1, what: run.task.title, since: run.started_at,
  }));
}

/** @param {string} from @param {string} [to] */
export function elapsed(from, to) {
  const seconds = Math.max(0, Math.floor(((to ? Date.parse(to) : Date.now()) - Date.parse(from)) / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
