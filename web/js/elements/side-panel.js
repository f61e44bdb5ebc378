// Beside the conversation: the work, what happened, who is in the team; and the state machines, for those who look into Moot itself.

import { find, h, set } from "../dom.js";
import { Part } from "../part.js";
import { recall, remember } from "../prefs.js";
import { runsOf } from "../view/names.js";
import { load } from "./later.js";

const TABS = ["tasks", "changes", "timeline", "team", "state"];
const NARROWEST = 320, USUAL = 392, WIDEST = 960, STEP = 32; // pixels
/** @type {Record<string, string[]>} */
const PARTS = { tasks: ["task-board", "job-board"], changes: ["changes-panel"], timeline: ["time-line"], team: ["team-panel"], state: ["state-map"] };

export class SidePanel extends Part {
  #chosen = recall("tab");

  /** The one that was chosen; at first the work, or what happened where there is no such thing. */
  get #tab() {
    const { view } = this.app;
    return this.#chosen && TABS.includes(this.#chosen) && (this.#chosen !== "changes" || view?.workspace) ? this.#chosen : view?.is_steered ? "tasks" : "timeline";
  }

  /** @param {Translate} t */
  build(t) {
    const tabs = TABS.map((name) => h("button", {
      role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, text: t(`tab.${name}`), onclick: () => this.show(name),
      onkeydown: (event) => this.#key(event, name),
    }));
    this.append(this.#edge(t), h("div", { role: "tablist", "aria-label": t("inspector") }, ...tabs),
      ...TABS.map((name) => h("div", { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}` }, ...PARTS[name].map((part) => h(part)))));
  }

  /** The panel is as wide as one pulls it, with the mouse or with the arrow keys. @param {Translate} t */
  #edge(t) {
    const edge = h("div", { class: "resize", role: "separator", tabindex: 0, "aria-orientation": "vertical", "aria-label": t("inspector.width"), "aria-valuemin": NARROWEST, "aria-valuemax": WIDEST });
    const show = (/** @type {number} */ wanted) => {
      const width = Math.round(Math.min(WIDEST, innerWidth / 2, Math.max(NARROWEST, wanted)));
      document.documentElement.style.setProperty("--inspector", `${width}px`);
      edge.setAttribute("aria-valuenow", String(width));
      return width;
    };
    const widen = (/** @type {number} */ wanted) => remember("inspector_width", String(show(wanted)));
    edge.addEventListener("pointerdown", (event) => { event.preventDefault(); edge.setPointerCapture(event.pointerId); });
    edge.addEventListener("pointermove", (event) => { if (edge.hasPointerCapture(event.pointerId)) widen(innerWidth - event.clientX); });
    edge.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: STEP, ArrowRight: -STEP }[event.key];
      if (by) widen(this.clientWidth + by);
    });
    show(Number(recall("inspector_width")) || USUAL);
    return edge;
  }

  /** @param {KeyboardEvent} event @param {string} name */
  #key(event, name) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const shown = TABS.filter((each) => !find(this, `#tab-${each}`).hidden), next = shown[(shown.indexOf(name) + by + shown.length) % shown.length];
    this.show(next);
    find(this, `#tab-${next}`).focus();
  }

  /** @param {string} name */
  show(name) {
    this.#chosen = name;
    remember("tab", name);
    this.app.changed();
  }

  /** @param {App} app @param {View | null} view */
  render(app, view) {
    set(this, { "data-tab": this.#tab });
    const isWide = this.#tab === "changes" && recall("diff") === "split" && Boolean(view?.workspace); // side by side needs room
    document.documentElement.toggleAttribute("data-wide", isWide);
    const failed = runsOf(view).filter((run) => run.state === "BLOCKED" && !run.is_skipped).length;
    for (const name of TABS) {
      const isShown = name === this.#tab;
      set(find(this, `#tab-${name}`), { hidden: name === "changes" && !view?.workspace, "aria-selected": String(isShown), tabindex: isShown ? 0 : -1, "data-failed": name === "tasks" && failed ? failed : null });
      const panel = find(this, `#panel-${name}`);
      panel.hidden = !isShown;
      if (!isShown) continue;
      const isJob = Boolean(view?.supervision);
      for (const part of panel.children) {
        part.hidden = (part.localName === "job-board" && !isJob) || (part.localName === "task-board" && isJob);
        if (!part.hidden) void load(part.localName, app);
        if (!part.hidden) part.update?.(app);
      }
    }
  }

  tick() {
    for (const part of find(this, `#panel-${this.#tab}`)?.children ?? []) if (!part.hidden) part.tick?.();
  }
}
