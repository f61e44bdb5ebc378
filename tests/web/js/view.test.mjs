// The reducer folds the recorded sessions to the views that the Python reducer folds them to.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { EMPTY, queueLine, reduce } from "../../../src/moot/web/js/view/view.js";

const data = new URL("../../data/", import.meta.url);
const read = (path) => readFileSync(new URL(path, data), "utf8");
const frames = read("golden/chat-v1.jsonl").split("\n").slice(0, -1).map((line) => JSON.parse(line));
const expected = JSON.parse(read("protocol/chat-v1.view.json"));
const fold = (list, view = EMPTY) => list.reduce(reduce, view);
const plain = (value) => JSON.parse(JSON.stringify(value));
const delta = (turn_id, text, session_id = "golden-chat-v1") => ({ event: "turn.delta", session_id, metadata: { turn_id, text } });

test("the golden log folds to the expected view", () => {
  const { timeline, ...rest } = expected; // the page reads the timeline off the frames themselves
  const view = plain(fold(frames));
  for (const [key, value] of Object.entries(view)) {
    if (["connection", "answers", "marks", "delivers", "is_unaddressed"].includes(key)) continue; // the page's own
    assert.deepEqual(value, rest[key] ?? plain(EMPTY)[key], key);
  }
  assert.deepEqual(frames.filter((frame) => frame.timeline).map((frame) => frame.timeline), timeline.map((row) => row.name));
});

test("a frame counts once", () => {
  const once = fold(frames);
  assert.deepEqual(fold([...frames.slice(0, 40), ...frames.slice(10)]), once);
  assert.deepEqual(fold(frames.flatMap((frame) => [frame, frame])), once);
});

test("what a newer server says is no harm", () => {
  const view = fold(frames.slice(0, 5));
  const newer = { ...frames[5], event: "plan.dreamt", metadata: { dream: 1 } };
  assert.deepEqual(reduce(view, newer), { ...view, seq: 6, at: newer.timestamp });
  assert.equal(reduce(view, { event: "system.dreamt" }), view);
});

test("streaming text grows with its turn and goes with it", () => {
  const count = frames.findIndex((_, at) => fold(frames.slice(0, at)).running.length);
  const view = fold(frames.slice(0, count));
  const { turn_id } = view.running[0];
  const said = fold([delta(turn_id, "Hel"), delta(turn_id, "lo"), delta("t99", "x"), delta(turn_id, "x", "s_2")], view);
  assert.equal(said.running[0].streamed, "Hello");
  assert.deepEqual(fold(frames.slice(view.seq), said), fold(frames));
});

test("the queue line names who acts, who waits, and you", () => {
  const words = { queue: "📋 Queue: {names}", you: "You" };
  assert.equal(queueLine(EMPTY, null, words), null);
  const view = { ...EMPTY, executing: "bob", pending: ["carol", "alice"], members: expected.members };
  assert.equal(queueLine(view, "alice", words), "📋 Queue: [Bob ⏳] → Carol → You");
});
