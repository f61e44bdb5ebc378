// The editor of a team file: YAML in colours, keys by the schema, problems at their lines. It sits in a shadow root, because
// it adds styles of its own. Loaded when a file is first opened.

import { autocompletion } from "@codemirror/autocomplete";
import type { CompletionContext } from "@codemirror/autocomplete";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { linter } from "@codemirror/lint";
import { unifiedMergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { tags } from "@lezer/highlight";
import { EditorView, basicSetup } from "codemirror";
import { offer } from "./schema-complete.ts";
import type { Schema } from "./schema-complete.ts";

export { read, readMembers, write } from "./team-file.ts";

const LINT_MS = 400;

const look = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--surface)", color: "var(--ink)", fontSize: "0.8125rem" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--ink-soft)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--sunken)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--accent-wash) !important" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", border: "1px solid var(--line)", borderRadius: "6px", color: "var(--ink)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--accent-ink)" },
  ".cm-completionInfo": { maxWidth: "20rem", fontFamily: "var(--font)" },
  ".cm-changedLine, .cm-insertedLine": { backgroundColor: "var(--good-wash) !important" },
  ".cm-deletedChunk": { backgroundColor: "var(--bad-wash) !important" },
  ".cm-changedText, .cm-deletedText": { background: "none !important" },
  ".cm-collapsedLines": { background: "var(--sunken)", color: "var(--ink-soft)" },
  ".cm-collapsedLines::before, .cm-collapsedLines::after": { content: "''" },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--ink)" },
});
const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "light-dark(#3049b5, #9bb4ff)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: tags.comment, color: "var(--ink-soft)", fontStyle: "italic" },
  { tag: [tags.number, tags.bool, tags.null], color: "light-dark(#a8431a, #f2a988)" },
]);

export type Editor = { show: (text: string) => void; compare: (before: string | null) => void; goTo: (line: number) => void; focus: () => void };
type Problem = Wire.SourceProblem;

export function openEditor(place: HTMLElement, text: string, given: { label: string; unchanged: string; schema: Schema; changed: (text: string) => void; check: (text: string) => Promise<Problem[]> }): Editor {
  const root = place.shadowRoot ?? place.attachShadow({ mode: "open" });
  root.replaceChildren();
  let before: string | null = null, view: EditorView;
  const complete = (context: CompletionContext) => {
    const found = offer(given.schema, context.state.sliceDoc(0, context.pos));
    if (!found || (!context.explicit && found.from === context.pos)) return null;
    return { from: found.from, options: found.offers.map((each) => ({ label: each.label, info: each.info || undefined, type: each.isKey ? "property" : "enum", apply: each.isKey ? `${each.label}: ` : each.label })) };
  };
  const check = linter(async ({ state }) => (await given.check(state.doc.toString())).map(({ line, text: message }) => {
    const at = state.doc.line(Math.max(1, Math.min(line ?? 1, state.doc.lines)));
    return { from: at.from, to: at.to, severity: "error" as const, message };
  }), { delay: LINT_MS });
  const draw = (doc: string) => {
    view?.destroy();
    const rest = before === null ? [] : [unifiedMergeView({ original: before, mergeControls: false, gutter: true, highlightChanges: false, collapseUnchanged: { margin: 3, minSize: 6 } })];
    const state = EditorState.create({ doc, extensions: [
      EditorState.phrases.of({ "$ unchanged lines": given.unchanged }), basicSetup, yaml(), syntaxHighlighting(colours), look, check, autocompletion({ override: [complete] }), ...rest, EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": given.label, tabindex: "0" }),
      EditorView.updateListener.of((update) => update.docChanged && given.changed(update.state.doc.toString())),
    ] });
    view = new EditorView({ state, parent: root, root });
    view.dom.style.height = "100%";
  };
  draw(text);
  return {
    show: (next) => { if (next !== view.state.doc.toString()) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } }); },
    compare: (other) => { before = other; draw(view.state.doc.toString()); },
    goTo: (line) => { const at = view.state.doc.line(Math.max(1, Math.min(line, view.state.doc.lines))); view.dispatch({ selection: { anchor: at.from }, scrollIntoView: true }); view.focus(); },
    focus: () => view.focus(),
  };
}
