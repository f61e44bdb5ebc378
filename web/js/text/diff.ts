// A unified diff, line by line: what was added, what was removed, where.

import { h } from "../dom.js";
import { highlight } from "./highlight.ts";

const LINES = 400;

/** The kind of a line of a unified diff. */
export function kindOf(line: string): "add" | "del" | "hunk" | "meta" | "same" {
  if (line.startsWith("@@")) return "hunk";
  if (/^(diff |index |--- |\+\+\+ |new file|deleted file|rename |similarity )/.test(line)) return "meta";
  return line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : "same";
}

export function diffView(text: string): HTMLElement {
  const lines = text.replace(/\n$/, "").split("\n");
  const rows = lines.slice(0, LINES).map((line) => h("span", { class: `d-${kindOf(line)}`, text: `${line || " "}\n` }));
  if (lines.length > LINES) rows.push(h("span", { class: "d-meta", text: `… ${lines.length - LINES}\n` }));
  return h("pre", { class: "diff", tabindex: 0 }, h("code", {}, ...rows));
}

/** A line with its numbers before and after; 0 where it has none. */
export type DiffLine = { kind: ReturnType<typeof kindOf>; text: string; from: number; to: number };

/** The lines of a unified diff, numbered; what stands before the first hunk is left out. */
export function readHunks(text: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let from = 0, to = 0, isIn = false;
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
    if (hunk) {
      [from, to, isIn] = [Number(hunk[1]), Number(hunk[2]), true];
      lines.push({ kind: "hunk", text: line, from: 0, to: 0 });
    } else if (isIn && !line.startsWith("\\")) {
      const kind = line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : "same";
      lines.push({ kind, text: line.slice(1), from: kind === "add" ? 0 : from, to: kind === "del" ? 0 : to });
      if (kind !== "add") from++;
      if (kind !== "del") to++;
    } else if (!isIn && line.startsWith("Binary")) lines.push({ kind: "meta", text: line, from: 0, to: 0 });
  }
  return lines;
}

/** The rows of two columns: what was, beside what is. A line of its own, such as the head of a hunk, is the left one. */
export function pairLines(lines: DiffLine[]): Array<[DiffLine | null, DiffLine | null]> {
  const rows: Array<[DiffLine | null, DiffLine | null]> = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] as DiffLine;
    if (line.kind !== "del" && line.kind !== "add") {
      rows.push([line, line]);
      at++;
      continue;
    }
    const removed = take(lines, at, "del"), added = take(lines, at + removed.length, "add");
    for (let n = 0; n < Math.max(removed.length, added.length); n++) rows.push([removed[n] ?? null, added[n] ?? null]);
    at += removed.length + added.length;
  }
  return rows;
}

function take(lines: DiffLine[], start: number, kind: DiffLine["kind"]): DiffLine[] {
  let end = start;
  while (lines[end]?.kind === kind) end++;
  return lines.slice(start, end);
}

const codes = new WeakMap<DiffLine, Partial<Record<"left" | "right", HTMLElement>>>();

/** The text of a line in the colours of its language, which the name of the file tells. The same element each time. */
export function codeOf(line: DiffLine, side: "left" | "right", path: string): HTMLElement {
  const made = codes.get(line) ?? {};
  codes.set(line, made);
  if (!made[side]) {
    made[side] = h("code", { text: line.text });
    if (path && line.kind !== "hunk" && line.text.trim()) highlight(made[side], line.text, languageOf(path));
  }
  return made[side];
}

function languageOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return name.includes(".") ? name.slice(name.lastIndexOf(".") + 1) : name;
}
