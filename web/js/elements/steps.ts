// What a member did in a turn: thoughts, and uses of tools with their diffs, each one line that opens.

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { diffView } from "../text/diff.ts";

const ICONS: Record<string, string> = {
  read: "file", edit: "edit", delete: "trash", move: "right", search: "search", execute: "terminal", fetch: "globe", think: "bulb", other: "tool",
};
const SHORT = 140;

const kindOf = (step: Step) => (step.tool ? step.tool.kind : step.thought ? "think" : step.action ? "execute" : "read");
const wordsOf = (step: Step) => step.tool?.title || step.thought || step.action || step.observation || "";
const firstLine = (text: string) => text.trim().split("\n")[0].slice(0, SHORT);

/** ± lines, or how a command ended. */
function result({ tool }: Step): (HTMLElement | null)[] {
  if (!tool) return [];
  const { added, removed, exit, status } = tool, hasFailed = status === "failed" || (exit ?? 0) > 0;
  return [
    added !== undefined && added !== null ? h("span", { class: "plus", text: `+${added}` }) : null,
    removed !== undefined && removed !== null ? h("span", { class: "minus", text: `−${removed}` }) : null,
    hasFailed ? h("span", { class: "minus", text: exit ? `✗ exit ${exit}` : "✗" }) : null,
  ];
}

export function makeStep(step: Step, t: Translate): HTMLElement {
  const kind = kindOf(step), words = wordsOf(step), line = firstLine(words);
  const rest = [step.observation !== words ? step.observation : "", words.trim() !== line ? words : ""].filter(Boolean).join("\n\n");
  const label = step.tool ? "" : t(`step.${step.thought ? "thought" : step.action ? "action" : "observation"}`);
  const head = [icon(ICONS[kind] ?? "tool"), h("b", { class: "unseen", text: label }), h("span", { class: "line", text: line }), ...result(step)];
  if (!step.diff && !rest) return h("li", { class: `step ${kind}` }, h("p", { class: "head" }, ...head));
  return h("li", { class: `step ${kind}` }, h("details", {}, h("summary", { class: "head" }, ...head),
    step.diff ? diffView(step.diff) : null, rest ? h("pre", { class: "rest", tabindex: 0, text: rest }) : null));
}

/** All of a turn's, folded to what they were. */
export function makeSteps(steps: Step[], t: Translate): HTMLElement {
  const tools = steps.filter((step) => step.tool || step.action), latest = (tools.at(-1) ?? steps.at(-1)) as Step;
  return h("details", { class: "did" },
    h("summary", {}, h("span", { text: t("steps", { count: steps.length }) }), h("span", { class: "latest", text: firstLine(wordsOf(latest)) }), ...result(latest)),
    h("ol", {}, ...steps.map((step) => makeStep(step, t))));
}
