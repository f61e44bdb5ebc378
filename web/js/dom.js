// Building and keeping DOM. Text becomes text, never markup.

import { icon } from "./icons.js";

/** A button that does something on the page sends no form. @type {Make} */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  if (tag === "button" && props.onclick) node.setAttribute("type", "button");
  set(node, props);
  for (const child of children) if (child != null && child !== false) node.append(child);
  return node;
}

/** Changes only what is different, so that nothing flickers and no focus is lost. @type {Change} */
export function set(node, props) {
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "text") { if (node.textContent !== value) node.textContent = value; }
    else if (PROPERTIES.has(name) && !(name === "value" && ["option", "progress"].includes(node.localName))) {
      const target = /** @type {any} */ (node);
      if (target[name] !== value) target[name] = value;
    } else if (value === false || value == null) node.removeAttribute(name);
    else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value === true ? "" : String(value));
  }
  return node;
}

const PROPERTIES = new Set(["value", "checked", "hidden", "disabled", "open", "selected", "max"]);

/** @type {WeakMap<Element, Map<string, {node: HTMLElement, item: any}>>} */
const kept = new WeakMap();

/** The children of `parent` are the items, in order; the same key keeps its node. @type {Keep} */
export function keyed(parent, items, keyOf, make, update) {
  const before = kept.get(parent) ?? new Map(), wanted = new Map();
  for (const item of items) if (!wanted.has(keyOf(item))) wanted.set(keyOf(item), item);
  for (const [key, { node }] of before) if (!wanted.has(key)) node.remove(); // first: if the first one goes, the others stay where they are
  const after = new Map();
  let cursor = parent.firstElementChild;
  for (const [key, item] of wanted) {
    const known = before.get(key);
    const node = known?.node ?? make(item);
    if (update && known?.item !== item) update(node, item);
    after.set(key, { node, item });
    if (cursor && node === cursor) cursor = cursor.nextElementSibling;
    else parent.insertBefore(node, cursor);
  }
  kept.set(parent, after);
}

/** @param {ParentNode} root @param {string} selector @returns {any} */
export const find = (root, selector) => root.querySelector(selector);

/** The head of a dialog: what it is, and the way out. @param {Translate} t @param {string} id @param {string} text */
export const dialogHead = (t, id, text) => h("header", {}, h("h2", { id, text }),
  h("button", { class: "icon", "aria-label": t("close"), onclick: (event) => event.target.closest("dialog").close() }, icon("x")));

/** Something is wanted of another part of the page. @param {string} name @param {any} [detail] */
export const tell = (name, detail) => void document.dispatchEvent(new CustomEvent(`moot-${name}`, { detail }));

/** @param {string} name @param {(detail: any) => void} deed */
export const hear = (name, deed) =>
  document.addEventListener(`moot-${name}`, (event) => deed(/** @type {CustomEvent} */ (event).detail));

/** @param {EventTarget | null} target whether keys typed there are text */
export const isTyping = (target) =>
  target instanceof HTMLElement && (target.matches("input, textarea, select") || target.isContentEditable);
