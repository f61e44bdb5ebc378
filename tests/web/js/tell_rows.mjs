// Takes sessions (one JSON object a line: frames, view, words, language) and writes the rows of the page's timeline.

import { createInterface } from "node:readline";

import { translator } from "../../../web/js/i18n.js";
import { describe } from "../../../web/js/view/row-text.js";
import { Rows } from "../../../web/js/view/rows.js";

for await (const line of createInterface({ input: process.stdin })) {
  const { frames, view, words, language } = JSON.parse(line);
  const rows = new Rows(), app = { t: translator(words, language), language, tape: { view } };
  for (const frame of frames) rows.push(frame);
  const told = rows.list.map((row) => [row.seq, row.name, row.category, row.outcome ?? "", row.endedAt ?? "", describe(row, app)]);
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
