// Markdown as a tree, parsed by markdown-it. HTML is text here, and nothing in the tree is markup: body.ts makes nodes of it.

import MarkdownIt from "markdown-it";
import type { Token } from "markdown-it";
import cjkFriendly from "markdown-it-cjk-friendly"; // **注意：**请看 is bold

/** An element, a text, or a block of code. `line` is where a block of the top level begins. */
export type Piece = {
  tag: string;
  text?: string;
  attrs?: Record<string, string>;
  children?: Piece[];
  lang?: string;
  line?: number;
};

const TASK = /^\[([ xX])\]\s+/;
const ADDRESS = /https?:\/\/[^\s<>"'`\]）】。，、]*[^\s<>"'`\]）】。，、.,;:!?)]/g; // bare, in a text
const parser = MarkdownIt({ html: false }).use(cjkFriendly);

export function parse(text: string): Piece[] {
  return build(parser.parse(text, {})).flatMap(withLinks);
}

function build(tokens: Token[]): Piece[] {
  const root: Piece = { tag: "root", children: [] };
  const open: Piece[] = [root];
  for (const token of tokens) {
    const here = open[open.length - 1].children as Piece[];
    const line = open.length === 1 && token.map ? { line: token.map[0] } : {};
    if (token.nesting < 0) open.pop();
    else if (token.nesting > 0) {
      const piece: Piece = { tag: tagOf(token), children: [], ...attrsOf(token), ...line };
      if (!token.hidden) here.push(piece); // the paragraph of a tight list is no paragraph
      open.push(token.hidden ? { tag: "", children: here } : piece);
    } else here.push(...leaf(token).map((piece) => ({ ...piece, ...line })));
  }
  return (root.children as Piece[]).map(withTasks);
}

/** Addresses that stand in a text are links, but not inside of one. */
function withLinks(piece: Piece): Piece[] {
  if (piece.tag !== "text") return [piece.tag === "a" || !piece.children ? piece : { ...piece, children: piece.children.flatMap(withLinks) }];
  const text = piece.text ?? "", found: Piece[] = [];
  let last = 0;
  for (const { 0: href, index } of text.matchAll(ADDRESS)) {
    if (index > last) found.push({ tag: "text", text: text.slice(last, index) });
    found.push({ tag: "a", attrs: { href }, children: [{ tag: "text", text: href }] });
    last = index + href.length;
  }
  return found.length ? [...found, ...(last < text.length ? [{ tag: "text", text: text.slice(last) }] : [])] : [piece];
}

function leaf(token: Token): Piece[] {
  switch (token.type) {
    case "inline": return build(token.children ?? []);
    case "text": return token.content ? [{ tag: "text", text: token.content }] : [];
    case "softbreak": return [{ tag: "text", text: "\n" }];
    case "hardbreak": return [{ tag: "br" }];
    case "code_inline": return [{ tag: "code", text: token.content }];
    case "fence": return [{ tag: "pre", text: token.content, lang: parser.utils.unescapeAll(token.info.trim()).split(/\s/)[0] }];
    case "code_block": return [{ tag: "pre", text: token.content }];
    case "hr": return [{ tag: "hr" }];
    case "image": return [{ tag: "img", text: token.content, attrs: { src: token.attrGet("src") ?? "" } }];
    default: return token.content ? [{ tag: "text", text: token.content }] : [];
  }
}

const tagOf = (token: Token) => token.tag;

function attrsOf(token: Token): { attrs?: Record<string, string> } {
  const attrs: Record<string, string> = {};
  for (const [name, value] of token.attrs ?? []) {
    if (name === "style") attrs.align = value.replace("text-align:", "");
    else if (["href", "title", "start"].includes(name)) attrs[name] = String(value);
  }
  return Object.keys(attrs).length ? { attrs } : {};
}

/** `- [x] done` has a box. */
function withTasks(piece: Piece): Piece {
  const children = piece.children?.map(withTasks);
  if (piece.tag !== "li" || !children) return children ? { ...piece, children } : piece;
  const holder = children[0]?.tag === "p" ? children[0].children as Piece[] : children, first = holder[0];
  const task = first?.tag === "text" ? TASK.exec(first.text ?? "") : null;
  if (!task) return { ...piece, children };
  holder.splice(0, 1, { tag: "input", attrs: { checked: task[1] === " " ? "" : "checked" } }, { ...first, text: (first.text ?? "").slice(task[0].length) });
  return { ...piece, children, attrs: { task: "" } };
}

/** An address that may be opened: absolute, and of the web or of mail. */
export function safeLink(target: string): URL | null {
  try {
    const url = new URL(target);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url : null;
  } catch {
    return null;
  }
}
