// Every key that a module asks for is in the catalogue, and nothing in it is unused.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";

import { pickLanguage, translator } from "../../../web/js/i18n.js";

const web = new URL("../../../web/", import.meta.url);
const texts = (name) => Object.entries(JSON.parse(readFileSync(new URL(`../src/moot/texts/${name}.json`, web), "utf8")));
const words = Object.fromEntries(["zh", "en"].map((name) => [name, Object.fromEntries( // as gateway/page.py serves them
  texts(name).filter(([key]) => /^(ui|option)\./.test(key)).map(([key, text]) => [key.replace(/^ui\./, ""), text]))]));
const sources = readdirSync(new URL("js/", web), { recursive: true }).filter((name) => /(?<!\.d)\.[jt]s$/.test(name))
  .map((name) => readFileSync(new URL(`js/${name}`, web), "utf8")).join("\n");
const python = new URL("../src/moot/", web); // other screens read some of these texts, too
const others = readdirSync(python, { recursive: true }).filter((name) => name.endsWith(".py"))
  .map((name) => readFileSync(new URL(name, python), "utf8")).join("\n");
const elsewhere = [...others.matchAll(/ui\.([\w.]+\.)\{/g)].map((found) => found[1]);
const has = (key) => key in words.en || `${key}.other` in words.en;

test("every key that is asked for is there", () => {
  const asked = [...sources.matchAll(/\bt\("([^"]+)"/g)].map((found) => found[1]);
  assert.ok(asked.length > 80);
  assert.deepEqual([...new Set(asked)].filter((key) => !has(key)), []);
});

test("every word is used", () => {
  const families = [...sources.matchAll(/\bt\(`([^`$]+)\$\{|\bword\(t, "(\w+)"/g)].map((found) => found[1] ?? `${found[2]}.`);
  const unused = Object.keys(words.en).map((key) => key.replace(/\.(one|other)$/, ""))
    .filter((key) => !sources.includes(`"${key}"`) && !others.includes(`ui.${key}`) && !others.includes(`words("${key}")`) && !elsewhere.some((family) => key.startsWith(family)) && !families.some((family) => key.startsWith(family)));
  assert.deepEqual(unused, []);
});

test("plural forms are the language's own, unknown names stay", () => {
  const en = translator(words.en, "en"), zh = translator(words.zh, "zh");
  assert.equal(en("plan.approve", { count: 1 }), "Approve 1 task");
  assert.equal(en("plan.approve", { count: 3 }), "Approve 3 tasks");
  assert.equal(zh("plan.approve", { count: 3 }), "批准 3 个任务");
  assert.equal(en("no.such.key"), "no.such.key");
  assert.equal(en("removed", { title: "$& {title}" }), "“$& {title}” is removed");
});

test("the language comes from the address, then the choice, then the browser", () => {
  assert.equal(pickLanguage(["zh", "en"], "en", ["zh", "en", "en-US"]), "zh");
  assert.equal(pickLanguage(["zh", "en"], "en", [null, "en", "zh-CN"]), "en");
  assert.equal(pickLanguage(["zh", "en"], "en", [null, null, "fr", "zh-TW"]), "zh");
  assert.equal(pickLanguage(["zh", "en"], "en", ["xx", null]), "en");
});
