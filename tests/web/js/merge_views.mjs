// Takes sessions (one JSON array of frames a line) as the page does, and writes the view after every frame.

import { createInterface } from "node:readline";

import { Tape } from "../../../web/js/tape.js";

for await (const line of createInterface({ input: process.stdin })) {
  const tape = new Tape("s");
  const views = JSON.parse(line).map((frame) => (tape.push(frame), tape.view));
  process.stdout.write(`${JSON.stringify(views)}\n`);
}
