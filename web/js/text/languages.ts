// The languages that code is coloured in, and highlight.js's tree of scopes as DOM.

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import shell from "highlight.js/lib/languages/shell";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const LANGUAGES = { bash, c, cpp, csharp, css, diff, go, ini, java, javascript, json, markdown, python, ruby, rust, shell, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

type Scope = { scope?: string; children: (Scope | string)[] };

/** Spans with the scopes of highlight.js; null for a language that is not known. */
export function colour(text: string, lang: string): Node[] | null {
  if (!hljs.getLanguage(lang)) return null;
  const { _emitter } = hljs.highlight(text, { language: lang, ignoreIllegals: true }) as unknown as { _emitter: { rootNode: Scope } };
  return _emitter.rootNode.children.map(make);
}

function make(part: Scope | string): Node {
  if (typeof part === "string") return document.createTextNode(part);
  const span = document.createElement("span");
  if (part.scope) span.className = `hl-${part.scope.split(".")[0]}`;
  span.append(...part.children.map(make));
  return span;
}
