// Everything the page can do, by name: Ctrl+K, a few letters, Enter.

import { find, h, hear, keyed, set, tell } from "../dom.js";
import { Part } from "../part.js";
import { showPane } from "./pane-tabs.js";
import { haltOf } from "./queue-bar.js";

const SHOWN = 60;

export class CommandPalette extends Part {
  #active = 0;

  connectedCallback() {
    hear("palette", () => this.#open());
  }

  /** @param {Translate} t */
  build(t) {
    this.append(h("dialog", { "aria-label": t("palette") },
      h("input", { type: "text", role: "combobox", "aria-expanded": "true", "aria-controls": "deeds", "aria-label": t("palette"), placeholder: t("palette.hint"), autocomplete: "off", oninput: () => { this.#active = 0; this.#draw(); }, onkeydown: (event) => this.#key(event) }),
      h("ul", { id: "deeds", role: "listbox", "aria-label": t("palette") })));
  }

  get #dialog() {
    return find(this, "dialog");
  }

  #open() {
    if (this.#dialog.open) return this.#dialog.close();
    find(this, "input").value = "";
    this.#active = 0;
    this.#draw();
    this.#dialog.showModal();
  }

  /** @returns {Deed[]} */
  get #deeds() {
    const { app } = this, { t, view } = app;
    const sent = (/** @type {CommandName} */ event) => () => void app.send(event);
    const isOpen = app.mayWrite && view?.status !== "completed";
    return [
      app.mayCreate && { name: t("new_session"), run: () => { showPane("talk"); app.goHome(); find(document, "#goal")?.focus(); } },
      isOpen && view?.status === "active" && { name: t("queue.pause"), key: view.is_steered ? "Esc" : "", run: sent("user.pause") },
      isOpen && view && haltOf(app, view) && { name: t("queue.resume"), run: sent("user.resume") },
      isOpen && view?.pause_reason?.startsWith("agent_") && { name: t("retry_turn"), run: sent("user.retry") },
      isOpen && view?.work && { name: t("plan.replan"), run: sent("user.replan") },
      isOpen && view?.work && !view.work.outcome && { name: t("plan.cancel"), run: sent("user.cancel_plan") },
      isOpen && view?.status === "active" && { name: t("queue.cancel"), key: view.is_steered ? "" : "Esc", run: sent("user.stop") },
      isOpen && { name: t("end_session"), run: () => app.askToEnd() },
      app.tape && { name: t("replay"), run: () => (app.replay ? app.endReplay() : app.startReplay()) },
      app.tape && { name: t("export"), run: () => void app.export() },
      ...["system", "light", "dark"].map((theme) => ({ name: `${t("theme")}: ${t(`theme.${theme}`)}`, run: () => tell("theme", theme) })),
      ...app.languages.map(({ code, name }) => ({ name, run: () => tell("language", code) })),
      { name: t("inspector_toggle"), run: () => tell("inspector") },
      { name: t("settings"), run: () => tell("settings") },
      { name: t("help"), key: "?", run: () => tell("help") },
      { name: t("logout"), run: () => void app.logout() },
      ...app.sessions.map((each) => ({ name: `${t("open")}: ${each.title || each.team} · ${each.session_id.slice(0, 8)}`, run: () => app.open(each.session_id) })),
    ].filter((each) => !!each);
  }

  #draw() {
    const wanted = find(this, "input").value.trim().toLowerCase().split(/\s+/);
    const found = this.#deeds.filter((deed) => wanted.every((/** @type {string} */ word) => deed.name.toLowerCase().includes(word))).slice(0, SHOWN);
    const list = find(this, "ul");
    keyed(list, found, (deed) => deed.name, (deed) => h("li", { role: "option", onclick: () => this.#do(deed) }, h("span", { text: deed.name }), deed.key ? h("kbd", { text: deed.key }) : null));
    found.forEach((_, at) => set(list.children[at], { id: `deed-${at}`, "aria-selected": String(at === this.#active) }));
    list.children[this.#active]?.scrollIntoView({ block: "nearest" });
    set(find(this, "input"), { "aria-activedescendant": found.length ? `deed-${this.#active}` : null });
    return found;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.isComposing || event.keyCode === 229) return;
    const found = this.#draw();
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && found.length) {
      event.preventDefault();
      this.#active = (this.#active + by + found.length) % found.length;
      this.#draw();
    }
    if (event.key === "Enter" && found[this.#active]) {
      event.preventDefault();
      this.#do(found[this.#active]);
    }
  }

  /** @param {Deed} deed */
  #do(deed) {
    this.#dialog.close();
    deed.run();
  }
}
