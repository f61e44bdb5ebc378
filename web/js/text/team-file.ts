// Reading and changing single values of a team file in its text: comments, order and style of everything else stay.

import { yamlLanguage } from "@codemirror/lang-yaml";

type Node = ReturnType<typeof yamlLanguage.parser.parse>["topNode"];
export type Path = (string | number)[];

/** What a form shows of a member; null where the text has something that is no plain text. */
export type MemberFields = { at: number; id: string; kind: string; name: string | null; role: string | null; instructions: string | null; model: string | null; agent: string };

const MAPS = ["BlockMapping", "FlowMapping"], LISTS = ["BlockSequence", "FlowSequence"], SCALARS = ["Literal", "QuotedLiteral", "BlockLiteral"];
const HEADS = ["moot", "name", "description", "id", "kind", "role"]; // what is new comes behind these
const PLAIN = /^\p{L}[^:#\n"'`{}[\]&*!|>%@]*$/u, RESERVED = /^(true|false|null|yes|no|on|off)$/i;

/** The value of a key, or an item of a list. */
function find(text: string, path: Path): Node | null {
  const top = [...children(yamlLanguage.parser.parse(text).topNode)].find((each) => each.name === "Document"); // comments may come first
  let node: Node | null = top ? childOf(top) : null;
  for (const step of path) {
    if (!node) return null;
    node = typeof step === "number" ? itemOf(node, step) : pairOf(text, node, step);
  }
  return node;
}

const childOf = (node: Node): Node | null => [...children(node)].find((each) => [...MAPS, ...LISTS, ...SCALARS].includes(each.name)) ?? null;

function* children(node: Node): Generator<Node> {
  for (let each = node.firstChild; each; each = each.nextSibling) yield each;
}

function itemOf(list: Node, at: number): Node | null {
  if (!LISTS.includes(list.name)) return null;
  const item = [...children(list)].filter((each) => each.name === "Item")[at];
  return item ? childOf(item) : null;
}

function pairOf(text: string, map: Node, key: string): Node | null {
  if (!MAPS.includes(map.name)) return null;
  const pair = [...children(map)].find((each) => each.name === "Pair" && each.firstChild && text.slice(each.firstChild.from, each.firstChild.to) === key);
  return pair ? [...children(pair)].find((each) => each !== pair.firstChild && [...MAPS, ...LISTS, ...SCALARS].includes(each.name)) ?? null : null;
}

/** A text as it is meant; null if it is no plain text; empty if it is not there. */
export function read(text: string, path: Path): string | null {
  const node = find(text, path);
  if (!node) return "";
  const raw = text.slice(node.from, node.to);
  if (node.name === "Literal") return raw.replace(/\s*\n\s*/g, " ");
  if (node.name === "QuotedLiteral") return unquote(raw);
  if (node.name !== "BlockLiteral" || !raw.startsWith("|")) return null;
  const lines = raw.split("\n").slice(1), indent = Math.min(...lines.filter((line) => line.trim()).map((line) => line.search(/\S/)));
  return lines.map((line) => line.slice(indent)).join("\n").trimEnd();
}

function unquote(raw: string): string | null {
  if (raw.startsWith("'")) return raw.slice(1, -1).replaceAll("''", "'");
  try {
    return JSON.parse(raw);
  } catch {
    return null;
  }
}

/** The text with another value there. */
export function write(text: string, path: Path, value: string): string {
  const node = find(text, path), key = path[path.length - 1], map = find(text, path.slice(0, -1));
  if (node) return text.slice(0, node.from) + encode(value, columnOf(text, node.parent as Node), isFlow(node)) + text.slice(node.to);
  if (!map || !MAPS.includes(map.name) || !value) return text;
  if (map.name === "FlowMapping") return `${text.slice(0, map.to - 1)}, ${key}: ${encode(value, 0, true)}${text.slice(map.to - 1)}`;
  const pairs = [...children(map)].filter((each) => each.name === "Pair"), heads = pairs.filter((each) => each.firstChild && HEADS.includes(text.slice(each.firstChild.from, each.firstChild.to)));
  const last = heads[heads.length - 1] ?? pairs[0], indent = columnOf(text, pairs[0]), end = lineEnd(text, last.to);
  return `${text.slice(0, end)}\n${" ".repeat(indent)}${key}: ${encode(value, indent, false)}${text.slice(end)}`;
}

const lineEnd = (text: string, at: number) => (text.indexOf("\n", at) < 0 ? text.length : text.indexOf("\n", at));
const columnOf = (text: string, { from }: Node) => from - (text.lastIndexOf("\n", from - 1) + 1);
const isFlow = (node: Node | null): boolean => node !== null && (node.name.startsWith("Flow") || isFlow(node.parent));

function encode(value: string, indent: number, isFlowed: boolean): string {
  if (PLAIN.test(value) && !RESERVED.test(value) && value === value.trim() && !(isFlowed && value.includes(","))) return value;
  if (isFlowed || !value.includes("\n")) return JSON.stringify(value);
  return `|-\n${value.split("\n").map((line) => (line ? " ".repeat(indent + 2) + line : "")).join("\n")}`;
}

export function readMembers(text: string): MemberFields[] {
  const list = find(text, ["members"]), count = list && LISTS.includes(list.name) ? [...children(list)].filter((each) => each.name === "Item").length : 0;
  return Array.from({ length: count }, (_, at) => {
    const get = (...path: Path) => read(text, ["members", at, ...path]);
    const agent = get("agent");
    return { at, id: get("id") ?? "", kind: get("kind") || "ai", name: get("name"), role: get("role"), instructions: get("instructions"), model: agent === null ? get("agent", "model") : "", agent: agent || get("agent", "preset") || get("agent", "type") || "" };
  });
}
