// The view is merged from patches, the conversation is a list of frames.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { Tape } from "../../../web/js/tape.js";
import { connectionText } from "../../../web/js/view/connection-text.js";
import { merge } from "../../../web/js/view/merge.js";
import { queueLine } from "../../../web/js/view/names.js";
import { noteText } from "../../../web/js/view/note-text.js";

const data = new URL("../../data/", import.meta.url);
const frames = readFileSync(new URL("golden/chat-v1.jsonl", data), "utf8").split("\n").slice(0, -1).map((line) => JSON.parse(line));
const tapeOf = (list) => list.reduce((tape, frame) => (tape.push(frame), tape), new Tape("golden-chat-v1"));
const said = (event, turn_id, text) => ({ event, session_id: "golden-chat-v1", metadata: { turn_id, text } });
const viewed = (view, whole = false) => ({ event: "session.view", session_id: "golden-chat-v1", metadata: { seq: 1, view, whole } });

// RFC 7386, appendix A
const CASES = [
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [["a", "b"], ["c", "d"], ["c", "d"]],
  [{ a: "b" }, ["c"], ["c"]],
  [{ a: "foo" }, null, null],
  [{ a: "foo" }, "bar", "bar"],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: "b", c: null }, { a: "b" }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

test("patches are applied as the RFC says", () => {
  for (const [target, patch, expected] of CASES) assert.deepEqual(merge(target, patch), expected);
});

test("a view grows by patches, and a whole one replaces it", () => {
  const tape = tapeOf([viewed({ title: "A", running: [], flow: "chat", status: "paused" }, true), viewed({ title: "B" })]);
  assert.deepEqual(tape.view, { title: "B", running: [], flow: "chat", status: "paused" });
  tape.push(viewed({ team: "x", running: [], flow: "chat", status: "paused" }, true));
  assert.equal(tape.view.title, undefined);
});

test("a frame counts once", () => {
  const once = tapeOf(frames).conversation.items;
  assert.equal(once.filter((item) => item.kind === "message").length, frames.filter((frame) => frame.event === "message.posted").length);
  assert.deepEqual(tapeOf([...frames.slice(0, 40), ...frames.slice(10)]).conversation.items, once);
  assert.deepEqual(tapeOf(frames.flatMap((frame) => [frame, frame])).conversation.items, once);
});

test("what members ask, answer and show each other stands in the conversation, an answer that is a message once", () => {
  const frame = (seq, event, show_content, metadata) => ({ seq, event, show_content, metadata, timestamp: "2026-01-01T00:00:00.000Z" });
  const { items } = tapeOf([
    frame(1, "member.asked", "Which port?", { member: "bob", to: "cy", question: "Which port?" }),
    frame(2, "member.answered", "80", { member: "cy", to: "bob", answer: "80" }),
    frame(3, "turn.handed_over", "hands over: done", { member: "bob", to: "cy" }),
    frame(4, "member.answered", "90", { member: "cy", to: "bob", answer: "90" }),
    frame(5, "message.posted", undefined, { member: "cy", to: ["bob"], text: "90" }),
    frame(6, "some.later_event", "new", {}),
  ]).conversation;
  assert.deepEqual(items.map(({ seq, kind }) => [seq, kind]), [[1, "fact"], [2, "fact"], [3, "trace"], [5, "message"]]);
  const app = { view: { members: [{ id: "bob", display_name: "Bob" }, { id: "cy", display_name: "Cy" }] } };
  assert.equal(noteText(app, "fact", items[0].item).text, "Bob → Cy: Which port?");
});

test("streaming text grows with its turn and goes with it", () => {
  const turns = [{ turn_id: "t1", member: "bob" }];
  const tape = tapeOf([viewed({ running: turns, flow: "chat", status: "active" }, true), said("turn.thinking", "t1", "Hm."), said("turn.delta", "t1", "Hel"), said("turn.delta", "t1", "lo"), said("solver.delta", "d1", "42")]);
  assert.deepEqual(tape.conversation.streamOf("t1"), { text: "Hello", thinking: "", steps: [] });
  assert.equal(tape.conversation.streamOf("d1").text, "42");
  tape.push(viewed({ running: [] }));
  tape.push(said("turn.delta", "t1", "late"));
  tape.push(viewed({ status: "paused" }));
  assert.equal(tape.conversation.streamOf("t1").text, "");
});

test("a supervisor's decision is not part of what it says", () => {
  const posted = (show_content) => ({ ...frames[1], seq: 1, show_content, metadata: { member: "boss", text: 'On it. {"next_agent": "w", "extra": {"why": 1}}', turn_id: "t1" } });
  assert.deepEqual(tapeOf([posted("On it.")]).conversation.items.map((each) => each.item.text), ["On it."]);
  assert.deepEqual(tapeOf([posted("")]).conversation.items, []); // nothing but a decision, which is told in words
});

test("steps of the work that follow each other are one item, in the words of their frames", () => {
  const step = (seq, event, show_content, metadata = {}) => ({ ...frames[1], seq, event, show_content, metadata });
  const offered = step(1, "task.dispatch_requested", "编排器派发任务到 moot-executor.executor", { task_id: "t1", member: "bob" });
  const items = tapeOf([offered, step(2, "task.dispatch_acked", "接单成功", { task_id: "t1" }), step(3, "session.activated")]).conversation.items;
  assert.deepEqual(items.map(({ key, kind, item }) => [key, kind, item.steps.map(({ text }) => text)]), [["trace1", "trace", ["编排器派发任务到 moot-executor.executor", "接单成功"]]]);
});

test("a person's message is told as it was said", () => {
  const posted = { ...frames[1], seq: 1, show_content: "收到用户输入", metadata: { member: "alice", text: "hello" } };
  assert.deepEqual(tapeOf([posted]).conversation.items.map((each) => each.item.text), ["hello"]);
});

test("the queue line names who acts, who waits, and you", () => {
  const words = { queue: "📋 Queue: {names}", you: "You" }, members = frames[0].metadata.members;
  assert.equal(queueLine({ members, pending: [] }, null, words), null);
  assert.equal(queueLine({ members, executing: "bob", pending: ["carol", "alice"] }, "alice", words), "📋 Queue: [Bob ⏳] → Carol → You");
});

test("the link tells the time as the timeline does, in 24 hours", () => {
  const app = {
    connection: { state: "CONNECTED", target: 0 }, tape: { seq: 7 }, outbox: { unsentOf: () => [] },
    heardAt: new Date(2026, 0, 1, 23, 44, 28).getTime(), language: "en", t: (key, { at }) => `${key} ${at}`,
  };
  assert.deepEqual(connectionText(app), { state: "connected", words: "link.connected 23:44:28" });
});
