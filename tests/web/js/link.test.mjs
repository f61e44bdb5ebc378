// The browser's half of a connection passes the cases that the Python half passes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { ClientHalf } from "../../../web/js/link/half.js";

const data = new URL("../../data/", import.meta.url);
const { cases } = JSON.parse(readFileSync(new URL("protocol/client_cases.json", data), "utf8"));
const golden = readFileSync(new URL("golden/chat-v1.jsonl", data), "utf8").split("\n").slice(0, -1);

const ASKED_BY_REST = ["user.create_session", "user.request_state"]; // the page never sends these
const own = cases.filter(({ verifies, steps }) => !verifies && !steps.some((step) => ASKED_BY_REST.includes(step.send?.event)));

test("most cases are about what the page does", () => assert.ok(own.length > 30));

for (const { name, steps } of own) {
  test(`case: ${name}`, () => {
    const half = new ClientHalf();
    let now = 0;
    for (const [number, step] of steps.entries()) {
      now = step.at ?? now;
      const happened = play(half, step, now).map(describe).filter(Boolean);
      const outcome = {
        sent: half.toSend(now).map((text) => JSON.parse(text)),
        events: happened,
        state: half.state,
        cursor: Object.fromEntries([...half.following].map(([id, each]) => [id, each.head.seq])),
      };
      const expected = { sent: [], events: [], ...step.expect };
      for (const key of Object.keys(expected)) {
        assert.deepEqual(outcome[key], expected[key], `step ${number}: ${JSON.stringify(step).slice(0, 200)}`);
      }
    }
  });
}

function play(half, step, now) {
  if ("connect" in step) return half.connect(now);
  if ("open" in step) half.opened(now);
  else if ("follow" in step) half.follow(step.follow, now, step.head && { seq: step.head[0], hash: step.head[1] });
  else if ("send" in step) {
    const { command_id, event, fields, session_id = null } = step.send;
    half.send(command_id, event, fields, now, session_id);
  } else if ("lost" in step) return half.lost(now, step.random, step.lost);
  else if ("tick" in step) return half.tick(now);
  else return texts(step).flatMap((text) => half.receive(text, now));
  return [];
}

function texts(step) {
  if ("receive" in step) return [JSON.stringify(step.receive)];
  if ("receive_text" in step) return [step.receive_text];
  const [first, last] = step.golden;
  const frames = golden.slice(first - 1, last).map((line) => step.replace ? line.replaceAll(...step.replace) : line);
  return step.batch ? [`[${frames.join(",")}]`] : frames;
}

function describe({ type, ...said }) {
  const given = (...names) => Object.fromEntries(names.filter((name) => said[name]).map((name) => [name, said[name]]));
  switch (type) {
    case "moved": return { moved: said.state, ...given("attempt", "retry_in_s", "reason") };
    case "logged": return { logged: [said.session_id, said.seq] };
    case "done": return { done: said.command_id, ...given("session_id", "seq") };
    case "denied": return { denied: said.command_id, ...given("code", "sentence") };
    case "exported": return { exported: said.command_id, session_id: said.session_id, seq: said.seq };
    case "reset": return { reset: said.session_id, reason: said.reason };
    case "ended": return { ended: said.session_id, code: said.code };
    case "passing": return { passing: said.frame.event };
    case "sever": return { sever: true };
    case "resumed": return null; // for the screen alone: how much is still to come
    default: throw new Error(type);
  }
}
