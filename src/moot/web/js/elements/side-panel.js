// The inspector: timeline, tasks, state; one at a time.

import { find, h, set } from "../dom.js";
import { Part } from "../part.js";
import { recall, remember } from "../prefs.js";
import { runsOf } from "../view/names.js";

const TABS = ["timeline", "tasks", "state"];
/** @type {Record<string, string[]>} */
const PARTS = { timeline: ["time-line"], tasks: ["task-board", "job-board"], state: ["state-map"] };

export class SidePanel extends Part {
  #tab = recall("tab") ?? "timeline";

  /** @param {Translate} t */
  build(t) {
    const tabs = TABS.map((name) => h("button", {
      role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, text: t(`tab.${name}`), onclick: () => this.show(name),
      onkeydown: (event) => this.#key(event, name),
    }));
    this.append(h("div", { role: "tablist", "aria-label": t("inspector") }, ...tabs),
      ...TABS.map((name) => h("div", { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}` }, ...PARTS[name].map((part) => h(part)))));
  }

  /** @param {KeyboardEvent} event @param {string} name */
  #key(event, name) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const next = TABS[(TABS.indexOf(name) + by + TABS.length) % TABS.length];
    this.show(next);
    find(this, `#tab-${next}`).focus();
  }

  /** @param {string} name */
  show(name) {
    this.#tab = name;
    remember("tab", name);
    this.app.changed();
  }

  /** @param {App} app @param {View | null} view */
  render(app, view) {
    const failed = runsOf(view).filter((run) => run.state === "BLOCKED" && !run.is_skipped).length;
    for (const name of TABS) {
      const isShown = name === this.#tab;
      set(find(this, `#tab-${name}`), { "aria-selected": String(isShown), tabindex: isShown ? 0 : -1, "data-failed": name === "tasks" && failed ? failed : null });
      const panel = find(this, `#panel-${name}`);
      panel.hidden = !isShown;
      if (!isShown) continue;
      const isJob = view?.flow === "supervisor";
      for (const part of panel.children) {
        part.hidden = (part.localName === "job-board" && !isJob) || (part.localName === "task-board" && isJob);
        if (!part.hidden) part.update(app);
      }
    }
  }

  tick() {
    for (const part of find(this, `#panel-${this.#tab}`)?.children ?? []) if (!part.hidden) part.tick();
  }
}
