// Who it is, at a glance: a colour and one or two letters of each member's own.

import { h } from "../dom.js";

const COLOURS = 12;

const isWide = (letter = "") => letter > "\u2e7f"; // one of them fills the place of two

/** Letters that no earlier member of the team has. */
function lettersOf(view: View | null, id: string): string {
  const taken = new Set<string>();
  for (const { id: each, display_name: name } of view?.members ?? []) {
    const letters = [...name], words = name.split(/\s+/).filter(Boolean);
    const options = [letters[0] ?? "?", ...(isWide(letters[0]) ? letters.slice(1) : []), words.length > 1 ? [...words[0]][0] + [...words[1]][0] : "", letters.slice(0, 2).join(""), (letters[0] ?? "") + (letters[2] ?? "")];
    const own = options.find((option) => option && !taken.has(option.toUpperCase())) ?? options[0];
    if (each === id) return own.length > 1 ? own[0].toUpperCase() + own.slice(1) : own.toUpperCase();
    taken.add(own.toUpperCase());
  }
  return ([...id][0] ?? "?").toUpperCase();
}

export function avatar(view: View | null, member: string, size = ""): HTMLElement {
  const at = view?.members.findIndex((each) => each.id === member) ?? -1, known = view?.members[at];
  return h("span", { class: `avatar c${Math.max(0, at) % COLOURS} ${known?.kind ?? "ai"} ${size}`.trim(), "aria-hidden": "true", title: size ? known?.display_name ?? member : null, text: lettersOf(view, member) });
}
