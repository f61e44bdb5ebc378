// What can be written at a place of a team file, by its JSON Schema: keys with what they mean, and the values of a choice.

export type Schema = Record<string, any>;
export type Offered = { label: string; info: string; isKey: boolean };

/** The keys above a line, by their indentation; items of lists have no key of their own. */
function pathTo(lines: string[], at: number, indent: number): string[] {
  const path: string[] = [];
  for (let row = at - 1, left = indent; row >= 0 && left > 0; row--) {
    const found = /^(\s*(?:- +)*)([\w-]+):/.exec(lines[row]);
    if (!found || !lines[row].trim() || found[1].length >= left) continue;
    path.unshift(found[2]);
    left = found[1].includes("-") ? found[1].indexOf("-") : found[1].length;
    if (found[1].includes("-")) path.shift(); // a brother in the same item
  }
  return path;
}

function* variants(root: Schema, schema: Schema | undefined): Generator<Schema> {
  if (!schema) return;
  if (schema.$ref) return yield* variants(root, root.$defs[schema.$ref.split("/").pop()]);
  for (const each of [...schema.anyOf ?? [], ...schema.oneOf ?? []]) yield* variants(root, each);
  if (schema.items) yield* variants(root, schema.items);
  if (schema.properties || schema.enum || schema.const !== undefined || schema.additionalProperties) yield schema;
}

function* below(root: Schema, path: string[]): Generator<Schema> {
  let here = [...variants(root, root)];
  for (const key of path) here = here.flatMap((each) => [...variants(root, each.properties?.[key] ?? (typeof each.additionalProperties === "object" ? each.additionalProperties : undefined))]);
  yield* here;
}

/** @param before the text up to the caret */
export function offer(root: Schema, before: string): { from: number; offers: Offered[] } | null {
  const lines = before.split("\n"), line = lines[lines.length - 1];
  const value = /^(\s*(?:- +)*)([\w-]+): +([\w-]*)$/.exec(line), key = /^(\s*(?:- +)*)([\w-]*)$/.exec(line);
  const found = value ?? key;
  if (!found) return null;
  const path = pathTo(lines, lines.length - 1, found[1].length), typed = found[found.length - 1];
  const offers = new Map<string, Offered>();
  for (const schema of below(root, value ? [...path, value[2]] : path)) {
    if (value) for (const each of schema.enum ?? []) offers.set(String(each), { label: String(each), info: "", isKey: false });
    else for (const [name, { description = "" }] of Object.entries<Schema>(schema.properties ?? {})) offers.set(name, { label: name, info: description, isKey: true });
  }
  return offers.size ? { from: before.length - typed.length, offers: [...offers.values()] } : null;
}
