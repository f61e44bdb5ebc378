// One event, whole: what people read first, the JSON second.

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { nameOf } from "../view/names.js";
import { describe } from "../view/row-text.js";

/** @param {App} app @param {Frame} frame */
export function details(app, frame) {
  const { t } = app, view = app.tape?.view, said = frame.metadata ?? {}, source = frame.source ?? {};
  const json = JSON.stringify(frame, null, 2), row = app.tape?.rows.list.find((each) => each.frame === frame);
  const facts = [
    [t("fact.who"), source.member ? nameOf(view, source.member) : "Moot"],
    [t("fact.role"), `${source.loop_id}.${source.role}`],
    [t("fact.what"), frame.show_content || (typeof frame.content === "string" && frame.content) || (row && describe(row, app))],
    ...Object.entries(said).filter(([key, value]) => isShort(value) && key !== "text" && key !== "member"),
  ];
  const copy = h("button", { class: "ghost", text: t("copy"), onclick: () => void navigator.clipboard?.writeText(json) });
  const close = h("button", { class: "ghost", "aria-label": t("close"), onclick: () => app.select(null) }, icon("x"));
  return h("div", {},
    h("header", {}, h("b", { text: `#${frame.seq} ${frame.timeline ? t(`event.${frame.timeline}`) : frame.event}` }), h("span", { class: "space" }), copy, close),
    h("p", { class: "name", text: `${frame.event} · ${new Intl.DateTimeFormat(app.language, { dateStyle: "short", timeStyle: "medium", hourCycle: "h23" }).format(new Date(frame.timestamp))}` }),
    h("dl", {}, ...facts.filter(([, value]) => value !== undefined && value !== null && value !== "").flatMap(([key, value]) =>
      [h("dt", { text: String(key) }), h("dd", { text: Array.isArray(value) ? value.join(", ") : String(value) })])),
    h("details", {}, h("summary", { text: "JSON" }), h("pre", { tabindex: 0, text: json })));
}

/** @param {unknown} value */
const isShort = (value) => typeof value !== "object" || (Array.isArray(value) && value.every((each) => typeof each !== "object"));
