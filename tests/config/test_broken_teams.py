"""Every file in data/teams/broken, and everything that is said about it."""

from pathlib import Path

import pytest

from moot.config.loading import list_problems

BROKEN = Path(__file__).parents[1] / "data" / "teams" / "broken"
SAME = "(case, spaces, - and _ do not count); give one of them another name"
NAME_HINT = "leave out [ ] , ， 、 and control characters"
PLAIN = "a team file takes plain values only"

EXPECTED = {
    "unknown_key": [
        "8: members[1].agent.reply: unknown key 'reply'; did you mean 'replies'?",
        "11: chat.max_hop: unknown key 'max_hop'; did you mean 'max_hops'?",
        "12: colour: unknown key 'colour'; the keys here are: moot, name, description, examples, flow, language, "
        "understanding, members, "
        "chat, plan, supervisor, budget, sandbox, workspace, permission_timeout_s, prompts",
    ],
    "wrong_type": [
        "2: name: found the number 42; expected text; put it in quotes",
        "5: members[0].order: found text 'first'; expected a whole number",
        "10: members[1].agent.replies[0]: found the number 3; expected text or a mapping; put it in quotes",
        "10: members[1].agent.replies[1].text: found true; expected text; put it in quotes",
        "10: members[1].agent.replies[2].hang: found text 'maybe'; expected true or false",
        "11: chat.max_hops: found the number 2.5; expected a whole number",
        "11: chat.turn_timeout_s: found text '10'; expected a number; take it out of the quotes",
        "12: budget: found a list; expected a mapping",
    ],
    "wrong_value": [
        "1: moot: found the number 2, which is not acceptable here; acceptable: 1",
        "3: flow: found text 'chta', which is not acceptable here; did you mean 'chat'?",
        "4: language: found text 'fr', which is not acceptable here; acceptable: en, zh",
        "6: members[0].kind: found text 'humn', which is not acceptable here; did you mean 'human'?",
        "9: members[1].agent.type: found text 'scripted', which is not acceptable here; did you mean 'script'?",
        "12: members[2].agent.type: required key 'type' is missing; acceptable: script, llm, cli, acp, python",
        "15: members[3].agent.when_exhausted: found text 'loop', which is not acceptable here; "
        "acceptable: empty, error, repeat",
    ],
    "out_of_bounds": [
        "8: members[1].agent.replies[0].delay_s: found -1; expected at least 0",
        "8: members[1].agent.replies[0].usage.input_tokens: found -5; expected at least 0",
        "9: members[2].id: found 0 characters; expected at least 1",
        "11: members[2].agent.command: found 0 items; expected at least 1",
        "12: chat.max_hops: found -1; expected at least 0",
        "12: chat.history: found 201; expected at most 200",
        "12: chat.turn_timeout_s: found 0; expected more than 0",
        "13: plan.confirm_timeout_s: found inf; expected a finite number",
        "13: plan.max_parallel: found 0; expected at least 1",
        "14: budget.max_tokens: found -1; expected at least 0",
    ],
    "plan_without_ai": [
        "5: members: the plan flow needs an AI that plans and one that does the tasks; this team has no AI; "
        "add members with kind: ai and role: planner or role: executor",
    ],
    "plan_without_executor": [
        "5: members: nobody can do a task: every AI plans, reviews or aggregates; "
        "give one of them, or another AI, role: executor",
    ],
    "plan_role": ["8: members[2].role: role 'excutor' is not one of the plan flow; did you mean 'executor'?"],
    "missing_keys": [
        "1: moot: required key 'moot' is missing; acceptable: 1",
        "1: name: required key 'name' is missing",
        "5: members[1].id: required key 'id' is missing",
        "5: members[1].kind: required key 'kind' is missing; acceptable: human, ai",
        "8: members[2].agent.model: required key 'model' is missing",
    ],
    "agents": [
        "4: understanding.model: understanding by llm needs a model",
        "8: members[0].agent: a human member takes no agent; leave it out, or say kind: ai",
        "9: members[1].agent: an AI member needs an agent; "
        "say what plays it, such as agent: {type: cli, preset: claude}",
        "11: members[2].agent: a cli agent needs a preset or a command",
        "12: members[3].agent.command: a cli agent takes a preset or a command, not both",
        "13: members[4].agent.output: output goes with a command; a preset knows its own",
        "14: members[5].agent.call: found text 'os.system'; expected package.module:function",
        "15: members[6].agent.env[0]: found text 'KEY=secret'; expected the name of an environment variable",
        "16: members[7].agent.mcp[0]: an MCP server needs either a command or a url",
        "16: members[7].agent.mcp[1].env: env goes with a command; an address takes a key",
        "16: members[7].agent.mcp[2].key: key goes with a url; a program takes env",
        "17: members[8].agent.replies[0].steps[0]: a step needs a thought, an action or an observation",
    ],
    "no_human": ["4: members: a team needs at least 1 human member"],
    "no_human_zh": ["4: members: 团队至少需要 1 个 Human 成员"],
    "one_member": ["4: members: a team needs at least 2 members, this one has 1"],
    "duplicate_members": [f"7: members[2].id: id 'bob' of member 'bob' is the same as 'bob' of member 'bob' {SAME}"],
    "name_clash": [
        f"7: members[1].name: name 'mary_ANN' of member 'bob' is the same as 'Mary-Ann' of member 'alice' {SAME}"
    ],
    "ambiguous_display_name": [
        "7: members[1].display_name: display_name 'ALICE' of member 'bob' is the same as 'alice' of member 'alice' "
        + SAME
    ],
    "unaddressable_names": [
        f"5: members[0].id: id 'alice,bob' contains ',', so no marker could address it; {NAME_HINT}",
        f"6: members[1].id: id '[bob]' contains '[' ']', so no marker could address it; {NAME_HINT}",
        "7: members[2].id: id '@carol' could not be addressed: in a marker its decoration is dropped; "
        "leave out @ at the start, ** around it and !P1 at the end",
        f"8: members[3].id: id 'dan\\ndan' contains '\\n', so no marker could address it; {NAME_HINT}",
        "9: members[4].id: id '--' has no letter or digit to address",
        "10: members[5].id: id 'eve!P1' could not be addressed: in a marker its decoration is dropped; "
        "leave out @ at the start, ** around it and !P1 at the end",
    ],
    "supervisor": [
        "10: supervisor.member: no AI member has the id or role 'cheif', so nobody leads; did you mean 'chief'?",
        "11: supervisor.max_iterations: found 0; expected at least 1",
        "14: supervisor.agents.writer.writes[1]: 'iterationCount' is written by Moot; agents cannot write "
        "iterationCount, maxIterations, clarificationRounds, agentClarificationKeys, threadId, creativeId, messages",
        "15: supervisor.agents.writer.requires_any[0].key: nobody writes 'breif'; did you mean 'brief'?",
        "16: supervisor.agents.writer.fallback: there is no agent 'planer'; did you mean 'planner'?",
        "17: supervisor.agents.planner.member: no AI member has the id 'nobody'; AI members: chief, writer",
        "17: supervisor.agents.planner.fallback: agent 'planner' cannot stand in for itself",
        "18: supervisor.agents.reviewer.writes: found the number 5; expected a list",
        "18: supervisor.agents.reviewer: nobody plays agent 'reviewer'; give an AI member the role 'reviewer'",
        "19: supervisor.agents.END: an agent cannot be called 'END'; supervisor, END, route have a meaning of their "
        "own, and names have no spaces around them",
        "20: supervisor.pause_after[0]: there is no agent 'wirter'; did you mean 'writer'?",
        "21: supervisor.end.requires[0].is: found text 'long', which is not acceptable here; "
        "acceptable: non_blank, non_empty, present",
        "22: supervisor.prompt: unknown placeholder '{{agent}}'; did you mean 'agents'?",
        "24: supervisor.few_shot[0].decision: the example chooses 'Writer', which is no agent; did you mean 'writer'?",
    ],
    "duplicate_key": [
        "4: name: duplicate key 'name'; the first one is on line 2",
        "9: members[1].id: duplicate key 'id'; the first one is on line 7",
    ],
    "odd_keys_and_tags": [
        "4: key 'on' reads as true, not as text; put it in quotes",
        "5: a key must be text",
        f"8: members[1].kind: unknown tag '!person'; {PLAIN}",
        "9: chat.history: 'many' is not a usable int",
        "9: chat.history: found text 'many'; expected a whole number",
        f"10: budget: unknown tag '!!python/object:os.system'; {PLAIN}",
    ],
    "yaml_bomb": ["6: e: more than 50000 values once aliases are followed"],
    "recursive_alias": ["3: members: an alias points to what it is part of"],
    "not_utf8": ["2: not valid UTF-8: byte 0xe9; save the file as UTF-8"],
    "control_character": ["2: not valid YAML: character '\\x07' is not allowed"],
    "not_a_mapping": ["1: found a list; a team is a mapping; start with moot: 1, name: … and members: …"],
    "empty": ["1: the file is empty; a team needs at least moot, name and members"],
    "several": [
        "9: members[0].agent.type: found text 'clii', which is not acceptable here; did you mean 'cli'?",
        f"11: members[1].id: id 'Bob' of member 'Bob' is the same as 'bob' of member 'bob' {SAME}",
        "11: members[1].agent: an AI member needs an agent; "
        "say what plays it, such as agent: {type: cli, preset: claude}",
        "13: members[1].rôle: unknown key 'rôle'; did you mean 'role'?",
        "14: members[2]: found text 'carol'; expected a mapping",
        "16: chat.max_hops: found text 'lots'; expected a whole number",
        "17: chat.histroy: unknown key 'histroy'; did you mean 'history'?",
        "19: plan.retry.max_attempts: found -1; expected at least 0",
    ],
}

# The words are the YAML parser's own, and differ between its C and its Python version.
SYNTAX = {"syntax_error": 5, "two_documents": 2}


def test_every_broken_file_is_expected() -> None:
    """No file lies in the folder without its problems being written down here."""
    assert {path.stem for path in BROKEN.iterdir()} == EXPECTED.keys() | SYNTAX.keys()


@pytest.mark.parametrize("stem", EXPECTED)
def test_all_problems_are_listed_at_once(stem: str) -> None:
    """Each problem has its line, its path, a sentence and a hint; they come in the order of lines, none twice."""
    problems = list_problems(BROKEN / f"{stem}.yaml")
    assert [problem.format("F") for problem in problems] == [f"F:{line}" for line in EXPECTED[stem]]


@pytest.mark.parametrize("stem", SYNTAX)
def test_a_syntax_error_has_its_line(stem: str) -> None:
    """What is not YAML is one problem, at the line where reading stopped."""
    (problem,) = list_problems(BROKEN / f"{stem}.yaml")
    assert problem.text.startswith("not valid YAML: ")
    assert problem.line == SYNTAX[stem]
