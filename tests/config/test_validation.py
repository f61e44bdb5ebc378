from contextlib import suppress
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from moot.config.loading import InvalidTeam, list_problems, load_team
from moot.config.team_file import TeamFile
from moot.config.validation import find_problems
from moot.config.yaml_source import read_yaml

WORDS = st.sampled_from(
    [
        *("moot", "name", "flow", "language", "understanding", "members", "chat", "plan", "supervisor", "budget"),
        *("id", "kind", "human", "ai", "agent", "type", "script", "llm", "cli", "acp", "python", "preset", "command"),
        *(
            "replies",
            "by_task",
            "steps",
            "text",
            "usage",
            "max_hops",
            "history",
            "explicit",
            "end",
            "agents",
            "is",
            "key",
        ),
    ]
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), WORDS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.one_of(WORDS, st.text(max_size=3)), inner),
    max_leaves=20,
)
TEAM: dict[str, Any] = {
    "moot": 1,
    "name": "t",
    "language": "en",
    "members": [{"id": "a", "kind": "human"}, {"id": "b", "kind": "ai", "agent": {"type": "script"}}],
}


def say(team: dict[str, Any]) -> list[str]:
    return [problem.format("team") for problem in list_problems(team)]


@given(st.dictionaries(WORDS, VALUES))
def test_validation_never_crashes(data: dict[str, Any]) -> None:
    """Any object is either a team or a list of problems."""
    with suppress(InvalidTeam):
        load_team(data)


@given(VALUES)
def test_any_yaml_is_answered(data: object) -> None:
    """Anything that YAML can write is answered with problems that all have lines."""
    problems = find_problems(read_yaml(yaml.safe_dump(data, allow_unicode=True).encode("utf-8", "replace")))
    assert problems
    assert all(problem.line for problem in problems)


@given(st.sampled_from(["flow", "chat", "plan", "supervisor", "budget", "understanding", "members"]), VALUES, st.data())
def test_what_passes_can_be_converted(key: str, value: object, data: st.DataObject) -> None:
    """Validation and the types agree: nothing passes one and fails the other."""
    team = TEAM | {key: value}
    if data.draw(st.booleans()):
        team["members"] = [*TEAM["members"], {"id": "c", "kind": "ai", "agent": value}]
    with suppress(InvalidTeam):
        assert isinstance(load_team(team), TeamFile)


def test_one_bad_member_does_not_hide_the_others() -> None:
    """The rules of a team are held against what can be read; a kind that cannot may be the missing human."""
    members = [{"id": 5, "kind": "humann"}, {"id": "b", "kind": "ai", "agent": {"type": "script"}}, {"name": "B"}]
    said = say(TEAM | {"members": members})
    assert "team: members: a team needs at least 1 human member" not in said
    assert any(line.startswith("team: members[2].name: name 'B' of member 'members[2]' is the same") for line in said)


def test_no_members_at_all() -> None:
    """An empty team lacks members and a human; a missing list is one missing key."""
    assert say(TEAM | {"members": []}) == [
        "team: members: a team needs at least 2 members, this one has 0",
        "team: members: a team needs at least 1 human member",
    ]
    assert say({key: value for key, value in TEAM.items() if key != "members"}) == [
        "team: members: required key 'members' is missing"
    ]


def test_numbers_are_not_booleans() -> None:
    """`true` is not 1, endless numbers are no numbers, and a number that cannot be stored is refused."""
    assert say(TEAM | {"moot": True}) == ["team: moot: found true; expected one of: 1"]
    assert say(TEAM | {"chat": {"max_hops": True}}) == ["team: chat.max_hops: found true; expected a whole number"]
    assert say(TEAM | {"budget": {"max_cost_usd": float("nan")}}) == [
        "team: budget.max_cost_usd: found nan; expected a finite number"
    ]
    assert say(TEAM | {"supervisor": {"state": {"n": [10**5_000]}}}) == [
        "team: supervisor.state.n[0]: found the number a very long number; it is too large"
    ]


def test_text_that_cannot_be_stored_is_refused() -> None:
    """Half a character, and control characters in what is shown on one line."""
    said = say(TEAM | {"name": "a\x1b[31m", "supervisor": {"state": {"x": "\ud800"}}})
    assert said == [
        "team: supervisor.state.x: the text holds a character that cannot be stored (a lone surrogate)",
        "team: name: name 'a\\x1b[31m' contains control characters or line breaks",
    ]


def test_objects_that_are_not_plain_data() -> None:
    """Sets, odd keys and objects that contain themselves are problems, not crashes."""
    endless: dict[str, Any] = {}
    endless["members"] = [endless]
    assert say(endless) == ["team: nested more than 32 levels deep"]
    said = say(TEAM | {"supervisor": {"state": {"x": {1}, ("a",): 1, 2: 2}}})
    assert said == [
        "team: supervisor.state.x: found a set; expected plain data",
        "team: supervisor.state: a key is a tuple; expected text",
    ]


def test_members_with_trees_do_not_run_on_workers() -> None:
    """A tree lies on the machine of a server: a worker would work in another one, or in none."""
    bob = {"id": "b", "kind": "ai", "runs_on": "far", "agent": {"type": "script"}}
    team = TEAM | {"members": [{"id": "a", "kind": "human", "runs_on": "far"}, bob]}
    refusal = (
        "team: members[1].runs_on: a member with trees works where they are, not on a worker; "
        "leave runs_on out, or set workspace.type to shared or none"
    )
    for workspace in ({}, {"type": "worktree"}):
        assert say(team | {"workspace": workspace}) == [refusal]
    for other in ("shared", "none"):
        assert say(team | {"workspace": {"type": other}}) == []
    assert say(team) == []
