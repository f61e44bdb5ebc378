// What a row of the timeline says beside its name, in the reader's words. The event's details have the raw values.

import { failure, word } from "../i18n.js";
import { nameOf, roleName } from "./names.js";
import { ROWS } from "./telling.generated.js";

/** @type {Record<string, (told: Told) => string>} */
const TELL = {
  "message.posted": ({ said }) => said.text.trim() || said.raw || "",
  "understanding.completed"({ said, t, language }) {
    const { type, confidence } = said.analysis?.task_relation ?? {};
    return type ? `${word(t, "relation", type)} · ${new Intl.NumberFormat(language, { style: "percent" }).format(confidence)}` : "";
  },
  "routing.decided"({ said, t, view }) {
    if (said.route) return word(t, "route", said.route);
    const { type, member, addressees } = said.action ?? {};
    const named = said.queue_updates?.length ? said.queue_updates : addressees ?? [member];
    return `${word(t, "action", type)} ${named.map((/** @type {string} */ id) => nameOf(view, id)).join(" → ")}`;
  },
  "supervisor.decided"({ said: { next, corrected_from: from }, view, t }) {
    const chosen = next === "END" ? t("mark.decided_end") : `→ ${roleName(view, next)}`;
    return from ? `${chosen} · ${t("job.corrected", { from: roleName(view, from) })}` : chosen;
  },
  "supervisor.reviewed": ({ said, t }) => t(said.approved ? "review.passed" : "review.sent_back"),
  "workflow.changed": ({ said, t }) => [said.from, said.to].filter(Boolean).map((state) => word(t, "phase", state)).join(" → "),
  "agent.user_confirm": ({ frame, said }) => frame.show_content ?? said.kind,
  "task.dispatch_requested": ({ title, said }) => [said.place, title].filter(Boolean).join(" · "),
  "task.dispatch_nacked": ({ title, said, t }) => `${title}: ${word(t, "error", said.reason)}`,
  "solver.start": ({ title, said, t }) => said.attempt > 1 ? `${t("task.attempt", { n: said.attempt })} · ${title}` : title,
  "solver.progress": ({ frame, said }) => `${said.done}${said.total ? `/${said.total}` : ""} ${frame.show_content ?? said.step ?? ""}`,
  "error.recovery_started": ({ title, said }) => `${said.attempt}/${said.max_attempts} · ${title}`,
  "task.reviewed": ({ title, said, t }) => verdict(t, title, said),
  "plan.reviewed": ({ said, t }) => verdict(t, word(t, "work", "plan"), said),
  "aggregate.reviewed": ({ said, t }) => verdict(t, word(t, "work", "aggregate"), said),
  "workflow.evaluated": ({ said, t }) => [word(t, "evaluated", said.decision), said.reason].filter(Boolean).join(": "),
};

/** @param {Translate} t @param {string} subject @param {any} review */
function verdict(t, subject, { pass, feedback }) {
  return `${t(pass ? "review.passed" : "review.sent_back")}: ${[subject, feedback].filter(Boolean).join(" · ")}`;
}

/** One line, as the teller of the other screens has it (telling/timeline.py). @param {Row} row @param {App} app */
export const describe = (row, app) => tell(row, app).trim().replace(/\s+/g, " ").slice(0, 200);

/** @param {Row} row @param {App} app @returns {string} */
function tell({ frame, title }, { t, language, tape }) {
  const said = frame.metadata ?? {}, view = tape?.view ?? null;
  const job = said.job && view?.work ? word(t, "work", said.job.split(":")[0]) : "";
  const about = [job, title].filter(Boolean).join(" · ");
  const special = TELL[frame.event];
  if (ROWS[frame.event]?.isShown) return frame.show_content ?? "";
  if (special) return special({ said, title: about, frame, t, view, language });
  if (said.error_type) return `${about}${about && ": "}${failure(t, said.error_type, said.message)}`;
  return about || word(t, "outcome", String(said.reason ?? said.status ?? ""));
}
