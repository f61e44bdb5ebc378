// A plan that waits to be approved: its tasks, and what can be done with it. What it is about is told by the line above it.

import { h, tell } from "../dom.js";
import { icon } from "../icons.js";
import { wavesOf } from "../plan/edit.js";
import { planList } from "./plan-list.ts";

/** @param {App} app @param {any} question */
export function planCard(app, { step_id, tasks = [] }) {
  const { t } = app;
  const why = h("textarea", { rows: 2, placeholder: t("plan.feedback"), "aria-label": t("plan.feedback") });
  const feedback = h("form", {
    class: "open", hidden: true,
    onsubmit: (event) => {
      event.preventDefault();
      const answer = /** @type {HTMLTextAreaElement} */ (why).value.trim();
      app.answer(step_id, answer ? { answer } : { confirmed: false });
    },
  }, why, h("button", { class: "primary", text: t("plan.again") }),
  h("button", { class: "danger", text: t("plan.reject"), onclick: () => app.answer(step_id, { confirmed: false }) }));
  const reject = () => {
    feedback.hidden = !feedback.hidden;
    if (!feedback.hidden) why.focus();
  };
  return h("div", { class: "plan" },
    h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": t("tab.tasks") }, planList(app, tasks)),
    h("div", { class: "buttons" },
      h("button", { class: "primary", "data-key": "a", text: t("plan.approve", { count: tasks.length }), onclick: () => app.answer(step_id, { confirmed: true }) }),
      h("button", { "data-key": "e", onclick: () => tell("plan", step_id) }, icon("edit"), t("plan.edit")),
      h("button", { class: "ghost", "data-key": "r", text: t("plan.reject_ask"), "aria-expanded": null, onclick: reject }),
      h("span", { class: "waves", text: t("plan.waves", { count: wavesOf(tasks).length, n: wavesOf(tasks)[0]?.length ?? 0 }) })),
    feedback);
}
