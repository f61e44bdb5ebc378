// A message's text as DOM: elements and text nodes, nothing that could be markup. Also while it is being written.

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { highlight } from "./highlight.ts";
import { parse, safeLink } from "./markdown.ts";
import type { Piece } from "./markdown.ts";

const LONG = 60_000; // beyond this a message is shown as it is
const COPIED_MS = 1_500;
const PLAIN = new Set(["p", "strong", "em", "s", "blockquote", "ul", "ol", "li", "hr", "br", "thead", "tbody", "tr"]);

export function body(text: string, t: Translate): DocumentFragment {
  const fragment = document.createDocumentFragment();
  if (text.length > LONG) fragment.append(h("p", { class: "plain", text }));
  else for (const piece of parse(text)) fragment.append(make(piece, t));
  return fragment;
}

type Written = { text: string; line: number; before: number };
const written = new WeakMap<Element, Written>();

/** The text so far, in a place that had the beginning of it: only the last block is made again. */
export function write(place: HTMLElement, text: string, t: Translate): void {
  const last = written.get(place);
  if (last?.text === text) return;
  const goesOn = last !== undefined && text.startsWith(last.text) && text.length <= LONG;
  if (!goesOn) place.replaceChildren();
  const offset = goesOn ? last.line : 0, kept = goesOn ? last.before : 0;
  const lines = text.split("\n");
  const pieces = text.length > LONG ? [] : parse(lines.slice(offset).join("\n"));
  while (place.childNodes.length > kept) place.lastChild?.remove();
  if (text.length > LONG) place.append(h("p", { class: "plain", text }));
  else for (const piece of pieces) place.append(make(piece, t, true));
  const end = pieces.at(-1)?.line ?? 0;
  written.set(place, { text, line: offset + end, before: Math.max(0, place.childNodes.length - 1) });
}

const all = (pieces: Piece[] | undefined, t: Translate, isGrowing: boolean): Node[] => (pieces ?? []).map((piece) => make(piece, t, isGrowing));

function make(piece: Piece, t: Translate, isGrowing = false): Node {
  const { tag, text = "", attrs = {}, children } = piece;
  if (tag === "text") return document.createTextNode(text);
  if (PLAIN.has(tag)) return h(tag, { start: attrs.start, class: "task" in attrs ? "todo" : null }, ...all(children, t, isGrowing));
  switch (tag) {
    case "code": return h("code", { text });
    case "pre": return code(text, piece.lang ?? "", t, isGrowing);
    case "a": return link(attrs.href ?? "", all(children, t, isGrowing));
    case "img": return link(attrs.src ?? "", [document.createTextNode(text || (attrs.src ?? ""))]);
    case "table": return h("div", { class: "table", tabindex: 0, role: "group" }, h("table", {}, ...all(children, t, isGrowing)));
    case "th": case "td": return h(tag, { class: attrs.align ? `to-${attrs.align}` : null }, ...all(children, t, isGrowing));
    case "input": return h("input", { type: "checkbox", checked: attrs.checked !== "", disabled: true, "aria-label": t(attrs.checked ? "todo.done" : "todo.open") });
    default: return /^h[1-6]$/.test(tag) ? h("p", { class: `heading ${tag}` }, ...all(children, t, isGrowing)) : h("span", {}, ...all(children, t, isGrowing));
  }
}

/** The host is shown where the text does not show it; what is no address of the web, as files are, is no link. */
function link(href: string, content: Node[]): Node {
  const url = safeLink(href), text = content.map((each) => each.textContent).join("");
  if (!url) return h("span", { class: "path", title: href }, ...content);
  const where = url.host || url.pathname;
  const anchor = h("a", { href: url.href, target: "_blank", rel: "noopener noreferrer" }, ...content);
  return text.includes(where) ? anchor : h("span", {}, anchor, h("span", { class: "host", text: ` (${where})` }));
}

function code(text: string, lang: string, t: Translate, isGrowing: boolean): HTMLElement {
  const source = text.replace(/\n$/, ""), content = h("code", { text: source });
  if (!isGrowing) highlight(content, source, lang);
  return h("figure", { class: "code" }, h("figcaption", {}, h("span", { text: lang }), copyButton(() => source, t)), h("pre", { tabindex: 0 }, content));
}

/** Says for a moment that it did. */
export function copyButton(text: () => string, t: Translate, label = ""): HTMLElement {
  const button = h("button", {
    class: "copy ghost", title: t("copy"), "aria-label": t("copy"),
    onclick: () => {
      void navigator.clipboard?.writeText(text());
      show("check", t("copied"));
      setTimeout(() => show("copy", label), COPIED_MS);
    },
  });
  const show = (name: string, words: string) => button.replaceChildren(icon(name), ...(words ? [h("span", { text: words })] : []));
  show("copy", label);
  return button;
}

const POLISH = /(?<!\S)[#>]+\s+|[*`]+|\b_+|_+\b/g; // a line of a list has no room for Markdown; what stands within a word is part of a name
export const polish = (text: string) => text.replace(POLISH, "");
export const plain = (text: string) => polish(text).trim();
export const firstLine = (text: string) => plain(text.trim().split("\n")[0]).slice(0, 160);
