// What happened, row by row: thousands of rows, a few dozen of them in the document.

import { find, h, hear, keyed, set } from "../dom.js";
import { Part } from "../part.js";
import { nameOf } from "../view/names.js";
import { describe } from "../view/row-text.js";

const ROW = 30, MARGIN = 10;
const FILTERS = ["semantic", "routing", "dispatch", "steps", "errors"];
/** @type {Record<string, string>} */
const ICONS = { input: "▶", semantic: "◇", routing: "↳", dispatch: "⇢", steps: "•", errors: "✗", flow: "◆" };

export class TimeLine extends Part {
  /** @type {Set<string>} */
  #hidden = new Set();
  /** @type {Row[]} */
  #rows = [];
  #key = "";
  #scrolled = /** @type {number | null} */ (null);

  connectedCallback() {
    hear("highlight", (seq) => this.#highlight(seq));
  }

  /** @param {Translate} t */
  build(t) {
    const toggle = (/** @type {string} */ name) => () => {
      if (!this.#hidden.delete(name)) this.#hidden.add(name);
      this.render(this.app);
    };
    this.append(
      h("div", { class: "filters", role: "group", "aria-label": t("filters") }, ...FILTERS.map((name) => h("button", { class: `filter ${name}`, text: t(`filter.${name}`), onclick: toggle(name) }))),
      h("div", { class: "scroller", role: "listbox", tabindex: 0, "aria-label": t("tab.timeline"), onscroll: () => this.#draw(), onkeydown: (event) => this.#keydown(event) },
        h("div", { class: "spacer", role: "presentation" }, h("div", { class: "window", role: "presentation" }))),
      h("p", { class: "empty", text: t("no_events") }),
      h("div", { class: "details", tabindex: -1, hidden: true }));
  }

  get #scroller() {
    return find(this, ".scroller");
  }

  /** @param {App} app */
  render(app) {
    for (const name of FILTERS) set(find(this, `.filter.${name}`), { "aria-pressed": String(!this.#hidden.has(name)) });
    const rows = app.tape?.rows, until = app.replay?.seq ?? Infinity;
    const key = `${app.tape?.id} ${rows?.version} ${until} ${[...this.#hidden].join()}`;
    const { scrollTop, clientHeight, scrollHeight } = this.#scroller;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < ROW * 2;
    if (key !== this.#key) {
      this.#key = key;
      this.#scroller.hidden = !rows?.list.length;
      this.#rows = (rows?.list ?? []).filter((row) => row.seq <= until && !this.#hidden.has(row.category));
      find(this, ".spacer").style.height = `${this.#rows.length * ROW}px`;
      if (isAtEnd) this.#scroller.scrollTop = this.#rows.length * ROW;
    }
    set(find(this, ".empty"), { hidden: this.#rows.length > 0 || !app.view });
    this.#scroller.hidden = !this.#rows.length;
    if (app.selected !== this.#scrolled && rows?.list.length) {
      this.#scrolled = app.selected;
      this.#reveal();
    }
    this.#draw();
    this.#showDetails();
  }

  /** Only the rows that can be seen are in the document. */
  #draw() {
    const { scrollTop, clientHeight } = this.#scroller;
    const first = Math.max(0, Math.floor(scrollTop / ROW) - MARGIN);
    const shown = this.#rows.slice(first, first + Math.min(90, Math.ceil(clientHeight / ROW) + 2 * MARGIN));
    const list = find(this, ".window");
    list.style.transform = `translateY(${first * ROW}px)`;
    keyed(list, shown, (row) => String(row.seq), (row) => this.#make(row), (node, row) => this.#show(node, row));
    const { selected } = this.app;
    shown.forEach((row, at) => set(list.children[at], {
      "aria-selected": String(isAt(row, selected)), "aria-posinset": first + at + 1, "aria-setsize": this.#rows.length,
    }));
    set(this.#scroller, { "aria-activedescendant": shown.some((row) => isAt(row, selected)) ? `row-${this.#rows.find((row) => isAt(row, selected))?.seq}` : null });
  }

  /** @param {Row} row */
  #make(row) {
    return h("div", {
      class: "row", role: "option", id: `row-${row.seq}`, "data-seq": row.seq, onclick: () => this.app.select(row.seq),
      onmouseenter: () => pointAt(row.seq, true), onmouseleave: () => pointAt(row.seq, false),
    }, h("span", { class: "mark", "aria-hidden": "true" }), h("span", { class: "label" }), h("span", { class: "what" }), h("span", { class: "when" }));
  }

  /** @param {HTMLElement} node @param {Row} row */
  #show(node, row) {
    const { t, language } = this.app, view = this.app.tape?.view;
    const name = row.member && view ? nameOf(view, row.member) : "";
    const isOpen = row.endedAt === undefined && ["turn.started", "solver.start", "understanding.started", "agent.user_confirm", "task.dispatch_requested"].includes(row.event);
    const isAgain = row.event === "error.recovery_started"; // what failed is told by the row before
    set(node, { class: `row ${row.category}${row.isHead ? " head" : ""}`, "data-outcome": isAgain ? "again" : row.outcome ?? (isOpen ? "open" : "") });
    set(find(node, ".mark"), { text: isAgain ? "↻" : row.outcome === "failed" ? ICONS.errors : row.outcome === "ok" && row.category !== "input" ? "✓" : ICONS[row.category] });
    set(find(node, ".label"), { text: t(`event.${row.name}`) });
    set(find(node, ".what"), { text: [name, describe(row, this.app)].filter(Boolean).join(" · ") });
    set(find(node, ".when"), { text: row.endedAt ? duration(row) : clock(row.at, language) });
  }

  #reveal() {
    const at = this.#rows.findIndex((row) => isAt(row, this.app.selected));
    if (at < 0) return;
    const top = at * ROW, { scrollTop, clientHeight } = this.#scroller;
    if (top < scrollTop || top + ROW > scrollTop + clientHeight) this.#scroller.scrollTop = top - clientHeight / 2;
  }

  #showDetails() {
    const panel = find(this, ".details"), seq = this.app.selected;
    const frame = seq === null ? undefined : this.app.tape?.frames[seq - 1];
    panel.hidden = !frame;
    const shown = `${this.app.tape?.id} ${seq} ${this.app.language}`;
    if (frame && panel.dataset.shown !== shown) {
      panel.dataset.shown = shown;
      void import("./lazy.js").then(({ details }) => this.app.selected === seq && panel.replaceChildren(details(this.app, frame)), () => undefined);
    }
  }

  /** @param {number} by */
  step(by) {
    const at = this.#rows.findIndex((row) => isAt(row, this.app.selected));
    const row = this.#rows[at < 0 ? (by > 0 ? 0 : this.#rows.length - 1) : Math.max(0, Math.min(this.#rows.length - 1, at + by))];
    if (row) this.app.select(row.seq);
  }

  /** @param {KeyboardEvent} event */
  #keydown(event) {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 }[event.key];
    if (!by) return;
    event.preventDefault();
    this.step(by);
  }

  /** @param {number | null} seq */
  #highlight(seq) {
    for (const node of this.querySelectorAll(".row.pointed")) node.classList.remove("pointed");
    if (seq !== null) this.querySelector(`[data-seq="${seq}"]`)?.classList.add("pointed");
  }
}

/** @param {Row} row @param {number | null} seq */
const isAt = (row, seq) => seq !== null && (row.seq === seq || row.endSeq === seq);

/** The message that a row is about is shown beside it. @param {number} seq @param {boolean} isOn */
function pointAt(seq, isOn) {
  document.querySelector(`chat-log [data-seq="${seq}"]`)?.classList.toggle("pointed", isOn);
}

/** @param {Row} row */
function duration({ at, endedAt }) {
  const ms = Date.parse(endedAt ?? at) - Date.parse(at);
  return ms < 1000 ? `${ms} ms` : ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

/** @param {string} at @param {string} language */
const clock = (at, language) => new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false }).format(new Date(at));
