// A small Markdown, parsed into a tree. HTML is text here, images are links, and a link must be http, https or mailto.

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const QUOTE = /^ {0,3}> ?/;
const RULE = /^ {0,3}([-*_])(\s*\1){2,}\s*$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])\s+/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)+\|?\s*$/;
const DEPTH = 8;

/** @param {string} text @returns {Piece[]} */
export function parse(text, depth = 0) {
  const lines = text.split("\n");
  /** @type {Piece[]} */
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    const [block, next] = readBlock(lines, at, depth);
    if (block) blocks.push(block);
    at = next;
  }
  return blocks;
}

/** @param {string[]} lines @param {number} at @param {number} depth @returns {[Piece | null, number]} */
function readBlock(lines, at, depth) {
  const line = lines[at];
  if (!line.trim()) return [null, at + 1];
  const fence = FENCE.exec(line);
  if (fence) return readFence(lines, at, fence[1], fence[2]);
  const heading = HEADING.exec(line);
  if (heading) return [{ type: "heading", level: heading[1].length, children: inline(heading[2]) }, at + 1];
  if (RULE.test(line)) return [{ type: "rule" }, at + 1];
  if (QUOTE.test(line) && depth < DEPTH) {
    const end = runOf(lines, at, (each) => QUOTE.test(each));
    const inner = lines.slice(at, end).map((each) => each.replace(QUOTE, "")).join("\n");
    return [{ type: "quote", children: parse(inner, depth + 1) }, end];
  }
  if (ITEM.test(line) && depth < DEPTH) return readList(lines, at, depth);
  if (line.includes("|") && TABLE_RULE.test(lines[at + 1] ?? "")) return readTable(lines, at);
  const end = runOf(lines, at + 1, (each) => each.trim() !== "" && !startsBlock(each));
  return [{ type: "paragraph", children: inline(lines.slice(at, end).join("\n")) }, end];
}

/** @param {string} line */
const startsBlock = (line) => FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || RULE.test(line) || ITEM.test(line);

/** @param {string[]} lines @param {number} at @param {(line: string) => boolean} belongs */
function runOf(lines, at, belongs) {
  while (at < lines.length && belongs(lines[at])) at++;
  return at;
}

/** @param {string[]} lines @param {number} at @param {string} mark @param {string} lang @returns {[Piece, number]} */
function readFence(lines, at, mark, lang) {
  const end = runOf(lines, at + 1, (each) => !(each.trim().startsWith(mark) && each.trim().replaceAll(mark[0], "") === ""));
  return [{ type: "code", lang, text: lines.slice(at + 1, end).join("\n") }, end + 1];
}

/** @param {string[]} lines @param {number} at @param {number} depth @returns {[Piece, number]} */
function readList(lines, at, depth) {
  const first = /** @type {RegExpExecArray} */ (ITEM.exec(lines[at]));
  const isOrdered = /\d/.test(first[2]);
  /** @type {Piece[][]} */
  const items = [];
  while (at < lines.length) {
    const found = ITEM.exec(lines[at]);
    if (!found || /\d/.test(found[2]) !== isOrdered || RULE.test(lines[at])) break;
    const indent = found[0].length;
    const belongs = (/** @type {string} */ each) =>
      each.trim() === "" ? false : each.search(/\S/) >= Math.min(indent, 2) || !startsBlock(each);
    let end = runOf(lines, at + 1, belongs);
    while (end + 1 < lines.length && !lines[end].trim() && lines[end + 1].search(/\S/) >= indent) end = runOf(lines, end + 1, belongs);
    const inner = [lines[at].slice(indent), ...lines.slice(at + 1, end).map((each) => each.slice(Math.min(indent, Math.max(0, each.search(/\S/)))))];
    items.push(parse(inner.join("\n"), depth + 1));
    at = end;
    if (at + 1 < lines.length && !lines[at].trim() && ITEM.test(lines[at + 1])) at++;
  }
  return [{ type: "list", ...(isOrdered ? { start: parseInt(first[2], 10) } : {}), items }, at];
}

/** @param {string[]} lines @param {number} at @returns {[Piece, number]} */
function readTable(lines, at) {
  const end = runOf(lines, at + 2, (each) => each.includes("|"));
  const cells = (/** @type {string} */ line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => inline(cell.trim()));
  return [{ type: "table", rows: [lines[at], ...lines.slice(at + 2, end)].map(cells) }, end];
}

const SPANS = new RegExp([
  /(`+)(?<code>[\s\S]+?)\1(?!`)/,
  /!?\[(?<label>[^\[\]]*)\]\((?<target>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+"[^"]*")?\)/,
  /(?<url>https?:\/\/[^\s<>"'`\]）】。，、]+[^\s<>"'`\]）】。，、.,;:!?)])/,
  /\*\*(?<strong>[^\s*](?:[\s\S]*?[^\s])?)\*\*/,
  /(?<![\w*])\*(?<em>[^\s*](?:[^*]*?[^\s*])?)\*(?![\w*])/,
  /(?<![\w_])_(?<em2>[^\s_](?:[^_]*?[^\s_])?)_(?![\w_])/,
  /~~(?<strike>[^\s~](?:[^~]*?[^\s~])?)~~/,
].map((each) => each.source).join("|"), "gu");

/** @param {string} text @returns {Piece[]} */
export function inline(text, depth = 0) {
  /** @type {Piece[]} */
  const nodes = [];
  let last = 0;
  for (const found of depth < DEPTH ? text.matchAll(SPANS) : []) {
    if (found.index > last) nodes.push({ type: "text", text: text.slice(last, found.index) });
    nodes.push(span(found, depth));
    last = found.index + found[0].length;
  }
  if (last < text.length) nodes.push({ type: "text", text: text.slice(last) });
  return nodes;
}

/** @param {RegExpMatchArray} found @param {number} depth @returns {Piece} */
function span(found, depth) {
  const { code, label, target, url, strong, em, em2, strike } = found.groups ?? {};
  if (code !== undefined) return { type: "inlineCode", text: code.trim() || code };
  if (url) return { type: "link", href: url, text: url };
  if (target !== undefined) {
    const href = safeLink(target);
    return href ? { type: "link", href, text: label || target } : { type: "text", text: found[0] };
  }
  if (strong) return { type: "strong", children: inline(strong, depth + 1) };
  if (strike) return { type: "strike", children: inline(strike, depth + 1) };
  return { type: "em", children: inline(em ?? em2, depth + 1) };
}

/** @param {string} target @returns {string | null} */
export function safeLink(target) {
  try {
    const url = new URL(target);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}
