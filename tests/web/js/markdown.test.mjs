// Markdown as a tree: CommonMark, tables, lists of tasks; HTML is text, and emphasis works beside Chinese punctuation.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import test from "node:test";

import { parse, safeLink } from "../../../web/js/text/markdown.ts";

const WITHOUT = new Set(["HTML blocks", "Raw HTML", "Images"]); // HTML is text here, images are links

/** The tree as CommonMark's examples have it: only the tests need markup. */
function html(pieces) {
  const escape = (text) => text.replace(/[&<>"]/g, (each) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[each]);
  return pieces.map(({ tag, text = "", attrs = {}, children, lang }) => {
    if (tag === "text") return escape(text);
    if (tag === "pre") return `<pre><code${lang ? ` class="language-${escape(lang)}"` : ""}>${escape(text)}</code></pre>`;
    if (tag === "code") return `<code>${escape(text)}</code>`;
    if (tag === "hr" || tag === "br") return `<${tag} />`;
    const told = Object.entries(attrs).map(([name, value]) => ` ${name}="${escape(value)}"`).join("");
    return `<${tag}${told}>${html(children ?? [])}</${tag}>`;
  }).join("");
}

const plain = (text) => text.replace(/<\/?p>/g, "").replace(/\s+/g, "");

test("at least 500 of the examples of CommonMark come out as they should", () => {
  const { tests } = createRequire(new URL("../../../web/package.json", import.meta.url))("commonmark-spec");
  const wanted = tests.filter(({ section, html }) => !WITHOUT.has(section) && !/<img|<!--|<\?|<a>|<bar|<b2|<responsive/.test(html));
  const passed = wanted.filter((each) => plain(html(parse(each.markdown.replaceAll("→", "\t")))) === plain(each.html.replaceAll("→", "\t")));
  const failed = wanted.filter((each) => !passed.includes(each)).map(({ number, section }) => `${number} ${section}`);
  assert.ok(passed.length >= 500, `${passed.length} of ${wanted.length}; not: ${failed.join(", ")}`);
  if (process.env.MOOT_COUNT) console.log(`# CommonMark ${passed.length} of ${wanted.length}; not: ${failed.join(", ")}`);
});

test("markdown becomes a tree, HTML stays text", () => {
  assert.equal(html(parse("# Hi\n\n<b>x</b>")), "<h1>Hi</h1><p>&lt;b&gt;x&lt;/b&gt;</p>");
  assert.deepEqual(parse("```py\n**a**\n```"), [{ tag: "pre", lang: "py", text: "**a**\n", line: 0 }]);
  assert.deepEqual(parse("```\nnever closed").map(({ tag }) => tag), ["pre"]);
  assert.equal(html(parse("~~gone~~")), "<p><s>gone</s></p>");
  assert.deepEqual(parse("one\n\ntwo\n\n- three").map(({ line }) => line), [0, 2, 4]);
});

test("tables have their alignment, tasks their boxes", () => {
  const [table] = parse("| a | b |\n|:--|--:|\n| `x|y` | 2 |");
  assert.deepEqual(table.children[0].children[0].children.map(({ attrs }) => attrs.align), ["left", "right"]);
  const [list] = parse("- [x] done\n- [ ] open\n- [link]");
  assert.deepEqual(list.children.map(({ children }) => children[0].tag === "input" && children[0].attrs.checked), ["checked", "", false]);
});

test("emphasis is seen beside Chinese punctuation", () => {
  assert.equal(html(parse("**注意：**请看")), "<p><strong>注意：</strong>请看</p>");
});

test("only addresses of the web and of mail are links", () => {
  for (const bad of ["javascript:alert(1)", "data:text/html,x", "//evil.test", "/api/me", "vbscript:x", "file:///etc/passwd", "ftp://a"]) {
    assert.equal(safeLink(bad), null, bad);
  }
  assert.equal(safeLink("https://a.b/c").host, "a.b");
  assert.equal(html(parse("[x](javascript:alert(1))")), "<p>[x](javascript:alert(1))</p>");
  assert.equal(html(parse("see https://a.b/c, ok")), '<p>see <a href="https://a.b/c">https://a.b/c</a>, ok</p>');
});

test("markdown is quick whatever is thrown at it", () => {
  const started = performance.now();
  for (const text of ["*".repeat(5000), "[".repeat(5000), "> ".repeat(2000), "- ".repeat(2000), "`".repeat(5001), "_a".repeat(3000), "|".repeat(3000), "[](".repeat(2000), "**a".repeat(2000)]) parse(text);
  assert.ok(performance.now() - started < 3000);
});
