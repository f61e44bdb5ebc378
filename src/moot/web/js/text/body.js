// A message's text as DOM, from the tree: elements and text nodes, nothing that could be markup.

import { h } from "../dom.js";
import { parse } from "./markdown.js";

const LONG = 30_000; // beyond this a message is shown as it is

/** @param {string} text @param {Translate} t @returns {DocumentFragment} */
export function body(text, t) {
  const fragment = document.createDocumentFragment();
  if (text.length > LONG) fragment.append(h("p", { class: "plain", text }));
  else for (const node of parse(text)) fragment.append(build(node, t));
  return fragment;
}

/** @param {Piece[] | undefined} nodes @param {Translate} t */
const all = (nodes, t) => (nodes ?? []).map((node) => build(node, t));

/** @param {Piece} node @param {Translate} t @returns {Node} */
function build(node, t) {
  switch (node.type) {
    case "text": return document.createTextNode(node.text ?? "");
    case "strong": return h("strong", {}, ...all(node.children, t));
    case "em": return h("em", {}, ...all(node.children, t));
    case "strike": return h("s", {}, ...all(node.children, t));
    case "inlineCode": return h("code", { text: node.text });
    case "link": return link(node);
    case "code": return code(node, t);
    case "heading": return h("p", { class: `heading h${node.level}` }, ...all(node.children, t));
    case "rule": return h("hr");
    case "quote": return h("blockquote", {}, ...all(node.children, t));
    case "list": return list(node, t);
    case "table": return table(node, t);
    default: return h("p", {}, ...all(node.children, t));
  }
}

/** The host is shown where the text does not show it. @param {Piece} node */
function link({ href = "", text = "" }) {
  const { host, pathname } = new URL(href);
  const where = host || pathname;
  const anchor = h("a", { href, target: "_blank", rel: "noopener noreferrer", text });
  if (text.includes(where)) return anchor;
  return h("span", {}, anchor, h("span", { class: "host", text: ` (${where})` }));
}

/** @param {Piece} node @param {Translate} t */
function code({ text = "", lang = "" }, t) {
  const copy = h("button", {
    class: "copy ghost", text: t("copy"),
    onclick: (event) => {
      void navigator.clipboard?.writeText(text);
      /** @type {HTMLElement} */ (event.currentTarget).textContent = t("copied");
    },
  });
  return h("figure", { class: "code" }, h("figcaption", {}, h("span", { text: lang }), copy), h("pre", { tabindex: 0 }, h("code", { text })));
}

/** @param {Piece} node @param {Translate} t */
function list({ items = [], start }, t) {
  const entries = items.map((blocks) => h("li", {}, ...all(blocks, t)));
  return h(start === undefined ? "ul" : "ol", start === undefined ? {} : { start }, ...entries);
}

/** @param {Piece} node @param {Translate} t */
function table({ rows = [] }, t) {
  const [head, ...rest] = rows;
  const row = (/** @type {Piece[][]} */ cells, /** @type {string} */ tag) => h("tr", {}, ...cells.map((cell) => h(tag, {}, ...all(cell, t))));
  return h("div", { class: "table", tabindex: 0, role: "group" }, h("table", {}, h("thead", {}, row(head, "th")), h("tbody", {}, ...rest.map((cells) => row(cells, "td")))));
}
