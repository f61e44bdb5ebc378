// A team file is changed in its text: one value is another one, everything else stays; and what the schema offers where.

import assert from "node:assert/strict";
import test from "node:test";

import { offer } from "../../../web/js/text/schema-complete.ts";
import { read, readMembers, write } from "../../../web/js/text/team-file.ts";

const TEXT = `# ours
# and yours
moot: 1
name: room   # short
members:
  - {id: you, name: You, kind: human}
  - id: ann
    name: "Ann \\"A\\""
    kind: ai
    instructions: |-
      One.
        Two.
    agent:
      type: llm
      model: openai:gpt
  - id: bob
    kind: ai
    agent: claude
`;

test("values are read as they are meant", () => {
  assert.equal(read(TEXT, ["name"]), "room");
  assert.equal(read(TEXT, ["description"]), "");
  const [you, ann, bob] = readMembers(TEXT);
  assert.deepEqual([you.id, you.kind, you.name], ["you", "human", "You"]);
  assert.deepEqual([ann.name, ann.instructions, ann.model, ann.agent], ['Ann "A"', "One.\n  Two.", "openai:gpt", "llm"]);
  assert.deepEqual([bob.agent, bob.model, bob.instructions], ["claude", "", ""]);
});

test("one value changes, comments and the rest stay", () => {
  for (const [path, value] of [
    [["name"], "reading room"], [["name"], "a: b # c"], [["members", 0, "name"], "Du, da"], [["members", 1, "instructions"], "Erstens.\n\n  Zweitens: ja."],
    [["members", 1, "agent", "model"], "anthropic:x"], [["description"], "什么都行"], [["members", 0, "role"], "owner, too"], [["members", 2, "instructions"], "Say\nno."], [["members", 2, "name"], "true"],
  ]) {
    const changed = write(TEXT, path, value);
    assert.equal(read(changed, path), value, changed);
    assert.match(changed, /# ours[^]*# short/);
    const others = (text) => readMembers(text).map(({ id, kind, agent }) => [id, kind, agent]);
    assert.deepEqual(others(changed), others(TEXT), changed);
  }
  assert.equal(write(TEXT, ["description"], ""), TEXT);
});

test("keys and choices are those of the schema", () => {
  const schema = { $ref: "#/$defs/Team", $defs: {
    Team: { properties: { name: { description: "of the team" }, flow: { enum: ["chat", "plan"] }, members: { items: { $ref: "#/$defs/Member" } }, chat: { $ref: "#/$defs/Chat" } } },
    Member: { properties: { id: {}, kind: { enum: ["human", "ai"] }, agent: { anyOf: [{ type: "string" }, { properties: { type: { const: "llm" }, model: {} } }] } } },
    Chat: { properties: { default: {} } },
  } };
  const names = (before) => offer(schema, before)?.offers.map((each) => each.label) ?? [];
  assert.deepEqual(names("na"), ["name", "flow", "members", "chat"]);
  assert.deepEqual(names("flow: p"), ["chat", "plan"]);
  assert.deepEqual(names("chat:\n  "), ["default"]);
  assert.deepEqual(names("members:\n  - id: x\n    "), ["id", "kind", "agent"]);
  assert.deepEqual(names("members:\n  - id: x\n    kind: "), ["human", "ai"]);
  assert.deepEqual(names("members:\n  - id: x\n    agent:\n      mo"), ["type", "model"]);
  assert.equal(offer(schema, "name: some words"), null);
});
