// A supervisor's job: its goal, who acts and why, tools, the review, and what the agents share.

import { find, h, keyed, set } from "../dom.js";
import { Part } from "../part.js";
import { dataText } from "../view/data-text.js";
import { nameOf, roleName } from "../view/names.js";

export class JobBoard extends Part {
  /** @param {Translate} t */
  build(t) {
    const section = (/** @type {string} */ name) => h("section", { class: name }, h("h2", { text: t(`job.${name}`) }), h("ul", {}));
    this.append(h("p", { class: "goal" }), h("p", { class: "acting", role: "status" }),
      section("tools"), section("choices"), section("shared"), h("p", { class: "empty", text: t("no_tasks") }));
  }

  /** @param {App} app @param {View | null} view */
  render(app, view) {
    const job = view?.supervision, { t } = app;
    set(find(this, ".empty"), { hidden: Boolean(job) });
    for (const each of this.querySelectorAll("section, .goal, .acting")) /** @type {HTMLElement} */ (each).hidden = !job;
    if (!job || !view) return;
    set(find(this, ".goal"), { text: job.goal });
    const review = job.review ? ` · ${t(job.review.approved ? "mark.review_approved" : "mark.review_rejected", { n: job.review.iteration })}` : "";
    const now = job.outcome ? t(`mark.job.${job.outcome}`) : t("job.acting", { name: roleName(view, job.acting), n: job.steps });
    set(find(this, ".acting"), { text: now + review });
    this.#list("tools", job.tools, (row) => row.call_id + row.is_done, (row) => h("li", { class: row.error ? "failed" : row.is_done ? "done" : "running" },
      h("b", { text: `${row.is_done ? (row.error ? "✗" : "✓") : "⏳"} ${row.name}` }), h("span", { class: "who", text: roleName(view, row.agent) }),
      h("p", { text: dataText(read(row.args)) }), h("p", { class: "result", text: row.error || (row.is_done ? dataText(read(row.result)) : "") })));
    const seqs = choiceSeqs(app);
    this.#list("choices", [...job.choices].reverse(), (choice) => String(choice.number), (choice) => h("li", { class: choice.fault || choice.corrected_from ? "corrected" : "" },
      place(app, seqs[choice.number - 1]),
      h("b", { text: choice.fault ? t("job.undecided") : `→ ${roleName(view, choice.next)}` }),
      choice.corrected_from && h("span", { class: "who", text: t("job.corrected", { from: roleName(view, choice.corrected_from) }) }),
      h("p", { text: choice.guidance || choice.given }), choice.focus_areas.length ? h("p", { class: "who", text: choice.focus_areas.join(" · ") }) : null));
    const keys = Object.keys(job.state).filter((key) => job.writers[key]);
    this.#list("shared", keys, (key) => key + JSON.stringify(job.state[key]), (key) => h("li", {}, h("details", {},
      h("summary", {}, h("code", { text: key }), h("span", { class: "who", text: nameOf(view, job.writers[key]) })), h("pre", { tabindex: 0, text: JSON.stringify(job.state[key], null, 2) }))));
  }

  /** @template T @param {string} name @param {T[]} items @param {(item: T) => string} keyOf @param {(item: T) => HTMLElement} make */
  #list(name, items, keyOf, make) {
    const section = find(this, `.${name}`);
    section.hidden = !items.length;
    keyed(find(section, "ul"), items, keyOf, make);
  }
}

/** Where the choices of the job stand in the log. @param {App} app */
function choiceSeqs({ tape, seq }) {
  const frames = tape?.frames.slice(0, seq) ?? [];
  return frames.slice(frames.findLastIndex((frame) => frame.event === "supervisor.started"))
    .filter((frame) => frame.event === "supervisor.decided" || frame.event === "supervisor.undecided").map((frame) => frame.seq ?? 0);
}

/** @param {App} app @param {number | undefined} seq */
const place = (app, seq) => seq !== undefined && h("button", { class: "ghost place", text: `#${seq}`, "aria-label": `${app.t("to_event")} ${seq}`, onclick: () => app.select(seq) });

/** @param {string} json perhaps cut */
function read(json) {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
