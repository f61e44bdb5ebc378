// Editing a plan: problems at their row, the difference from the proposal; and the completion and layout models.

import assert from "node:assert/strict";
import test from "node:test";

import { layOut } from "../../../web/js/machine/layout.js";
import { diff, findCircle, findProblems, followersOf, freshId, moveTask } from "../../../web/js/plan/edit.js";
import { accept, complete } from "../../../web/js/text/complete.js";
import { Rows } from "../../../web/js/view/rows.js";

const task = (id, ...depends_on) => ({ id, title: id.toUpperCase(), depends_on });
const codes = (tasks) => findProblems(tasks).map(({ at, code }) => `${at} ${code}`);

test("a plan's problems stand at their rows", () => {
  assert.deepEqual(codes([task("a"), task("b", "a")]), []);
  assert.deepEqual(codes([]), ["-1 plan.empty"]);
  assert.deepEqual(codes([{ id: "a", title: " " }]), ["0 plan.no_title"]);
  assert.deepEqual(codes([task("a"), task("a")]), ["1 plan.same_id"]);
  assert.deepEqual(codes([task("a", "x")]), ["0 plan.no_such_task"]);
  assert.deepEqual(codes([task("z"), task("a", "b"), task("b", "a")]), ["1 plan.circle"]);
  assert.deepEqual(codes([task("a", "a")]), ["0 plan.circle"]);
  assert.deepEqual(findCircle([task("a", "b"), task("b", "c"), task("c", "b")]), ["b", "c", "b"]);
  assert.equal(findProblems(Array.from({ length: 101 }, (_, n) => task(`t${n}`))).length, 1);
});

test("a task may begin after those that do not wait for it", () => {
  const tasks = [task("a"), task("b", "a"), task("c", "b"), task("d")];
  assert.deepEqual([...followersOf(tasks, "a")], ["a", "b", "c"]);
  assert.deepEqual([...followersOf(tasks, "d")], ["d"]);
});

test("the difference names what was added, removed, changed and moved", () => {
  const proposed = [task("a"), task("b", "a"), task("c")];
  assert.equal(diff(proposed, structuredClone(proposed)).count, 0);
  const edited = [task("c"), { ...task("b", "a"), title: "New", member: "bob" }, task("d")];
  assert.deepEqual(diff(proposed, edited), {
    added: ["d"], removed: [proposed[0]], changed: { b: ["title", "member"] }, isMoved: true, count: 4,
  });
  assert.equal(diff([{ id: "a", title: "A" }], [{ id: "a", title: "A", depends_on: [], objective: "" }]).count, 0);
});

test("tasks move within the list and new ones get free ids", () => {
  const tasks = [task("t1"), task("t3")];
  assert.deepEqual(moveTask(tasks, 0, 1).map(({ id }) => id), ["t3", "t1"]);
  assert.equal(moveTask(tasks, 0, -1), tasks);
  assert.equal(freshId(tasks), "t4");
});

const t = (key) => key;
const languages = [{ code: "zh", name: "中文", short: "中文" }, { code: "en", name: "English", short: "EN" }];
const members = [{ id: "bob", kind: "ai", name: "Bob", display_name: "Bob", order: 1 }, { id: "li", kind: "human", name: "Li", display_name: "李雷", order: 2 }];

test("members are offered after @ and in [NEXT:], commands after a slash at the start", () => {
  const labels = (text, caret = text.length) => complete(text, caret, members, languages, t)?.offers.map((each) => each.label) ?? [];
  assert.deepEqual(labels("@"), ["Bob", "李雷"]);
  assert.deepEqual(labels("hi @李"), ["李雷"]);
  assert.deepEqual(labels("a@b"), []);
  assert.deepEqual(labels("[NEXT: Bob, l"), ["李雷"]);
  assert.deepEqual(labels("/qu"), ["/queue", "/queue skip", "/queue clear"]);
  assert.deepEqual(labels("/la"), ["/lang zh", "/lang en"]);
  assert.deepEqual(labels("say /qu"), []);
  assert.deepEqual(labels("/path/x"), []);
  const text = "hi @b there", offer = complete(text, 5, members, languages, t);
  assert.deepEqual(accept(text, offer, offer.offers[0]), { text: "hi @Bob  there", caret: 8 });
});

test("a machine is drawn with every state once, inside of the picture", () => {
  const machine = { name: "m", initial: "A", final: ["C"], states: ["A", "B", "C"], transitions: [
    { from: "A", trigger: "x", to: "B", extension: false }, { from: "B", trigger: "y", to: "C", extension: false },
    { from: "B", trigger: "z", to: "A", extension: true }, { from: "B", trigger: "again", to: "B", extension: false },
    { from: "A", trigger: "x2", to: "B", extension: false },
  ] };
  const { boxes, edges, width, height } = layOut(machine, 300);
  assert.deepEqual(boxes.map((box) => box.state), ["A", "B", "C"]);
  assert.ok(boxes.every((box) => box.x >= 0 && box.x + box.w <= width && box.y + box.h <= height));
  assert.equal(edges.length, 4);
  assert.deepEqual(edges[0].triggers, ["x", "x2"]);
});

test("started and ended are one row; a failure is an error", () => {
  const rows = new Rows();
  const frame = (seq, event, metadata, more = {}) => rows.push({ seq, event, metadata, timestamp: `2026-01-01T00:00:0${seq}.000Z`, ...more });
  frame(1, "message.posted", { text: "hi", member: "li" }, { timeline: "user_input_received" });
  frame(2, "turn.started", { turn_id: "t1", member: "bob" });
  frame(3, "turn.completed", { turn_id: "t1", member: "bob" });
  frame(4, "turn.started", { turn_id: "t2", member: "bob" });
  frame(5, "turn.failed", { turn_id: "t2", member: "bob", error_type: "agent", message: "x" });
  frame(6, "queue.changed", {});
  assert.deepEqual(rows.list.map(({ seq, endSeq, outcome, category }) => [seq, endSeq, outcome, category]), [
    [1, undefined, undefined, "input"], [2, 3, "ok", "steps"], [4, 5, "failed", "errors"],
  ]);
});
