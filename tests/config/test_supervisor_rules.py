"""What is checked of a supervisor team beyond its types: every name leads somewhere."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.config.loading import InvalidTeam, list_problems, load_team
from moot.config.supervisor_rules import check_supervisor
from moot.core.flows.supervisor.cast import find_leader, find_player

AI = {"kind": "ai", "agent": {"type": "script"}}
MEMBERS: list[dict[str, Any]] = [
    {"id": "you", "kind": "human"},
    {"id": "chief", "role": "supervisor", **AI},
    {"id": "w", "role": "writer", **AI},
    {"id": "checker", **AI},
]
AGENTS: dict[str, Any] = {"writer": {"writes": ["text"]}, "checker": {"writes": ["check"], "ends": True}}


def say(members: list[dict[str, Any]] = MEMBERS, flow: str = "supervisor", **settings: Any) -> list[str]:
    team = {"language": "en", "flow": flow, "members": members, "supervisor": {"agents": AGENTS, **settings}}
    return [problem.format("team").removeprefix("team: supervisor.") for problem in list_problems(team)]


def test_roles_and_ids_find_the_players() -> None:
    """A role is `supervisor` or the agent's name; an id does as well; an agent may name its member."""
    agents = {**AGENTS, "third": {"member": "w"}}
    team = {"flow": "supervisor", "members": MEMBERS, "supervisor": {"agents": agents}}
    file = load_team(team)
    members = file.team().members
    leader = find_leader(file.supervisor, members)
    assert leader is not None
    assert leader.id == "chief"
    players = [find_player(file.supervisor, agent, members) for agent in agents]
    assert [player.id for player in players if player] == ["w", "checker", "w"]


def test_a_human_neither_leads_nor_plays() -> None:
    """The supervisor and its agents are AIs."""
    humans = [{"id": "you", "kind": "human", "role": "supervisor"}, {"id": "writer", "kind": "human"}, MEMBERS[3]]
    assert say(members=humans) == [
        "member: no AI member has the id or role 'supervisor', so nobody leads; AI members: checker",
        "agents.writer: nobody plays agent 'writer'; give an AI member the role 'writer'",
    ]


PROBLEMS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "no agents": ({"agents": {}}, ["agents: the supervisor has no agents to choose from"]),
    "the leader as an agent": (
        {"agents": {**AGENTS, "boss": {"member": "chief"}}},
        ["agents.boss: member 'chief' leads and cannot be chosen as an agent too"],
    ),
    "a fallback that does not exist": (
        {"agents": {**AGENTS, "writer": {"fallback": "brief"}}},
        ["agents.writer.fallback: there is no agent 'brief'; agents here: writer, checker"],
    ),
    "quality falls back to nobody": (
        {"quality": {"key": "scores", "fallback": [["style", "writer"], ["facts", "research"]]}},
        ["quality.fallback[1][1]: there is no agent 'research'; agents here: writer, checker"],
    ),
    "an end by quality without quality": (
        {"end": {"review": {"approved": "check.ok", "quality": True}}},
        [
            "end.review.quality: the end asks for quality, but there is no part quality; "
            "add quality: {key: …}, or leave it out here"
        ],
    ),
    "tools with the name of an agent": (
        {"agents": {**AGENTS, "writer": {"tools": {"node": "checker"}}}},
        [
            "agents.writer.tools.node: 'checker' is the name of something else already; "
            "give the tools of each agent a name of their own"
        ],
    ),
    "two agents, one node of tools": (
        {"agents": {"writer": {"tools": {"node": "t"}}, "checker": {"tools": {"node": "t"}}}},
        [
            "agents.checker.tools.node: 't' is the name of something else already; "
            "give the tools of each agent a name of their own"
        ],
    ),
    "a slip of the pen in a key": (
        {"end": {"requires": [{"key": "texts.body"}, {"key": "text"}, {"key": "mood"}]}},
        ["end.requires[0].key: nobody writes 'texts'; did you mean 'text'?"],
    ),
    "a name with spaces": (
        {"agents": {**AGENTS, " a": {"member": "w"}}},
        [
            "agents[' a']: an agent cannot be called ' a'; "
            "supervisor, END, route have a meaning of their own, and names have no spaces around them"
        ],
    ),
    "bounds": (
        {
            "max_steps": 0,
            "max_clarification_rounds": -1,
            "turn_timeout_s": 0,
            "quality": {"key": "q", "threshold": 101},
        },
        [
            "max_steps: found 0; expected at least 1",
            "max_clarification_rounds: found -1; expected at least 0",
            "turn_timeout_s: found 0; expected more than 0",
            "quality.threshold: found 101; expected at most 100",
        ],
    ),
}


@pytest.mark.parametrize("case", PROBLEMS)
def test_what_is_wrong_is_said(case: str) -> None:
    """Every problem has its place, a sentence and a hint."""
    settings, expected = PROBLEMS[case]
    assert say(**settings) == expected


def test_two_agents_may_write_one_key() -> None:
    """A writer and an editor may share a key; the last one counts."""
    assert say(agents={"writer": {"writes": ["text"]}, "checker": {"writes": ["text"]}}) == []


def test_other_flows_need_no_cast() -> None:
    """A part supervisor in a team of another flow is checked for itself only."""
    assert say(members=[MEMBERS[0], MEMBERS[3]], flow="chat") == []
    assert list(check_supervisor({"flow": "chat"})) == []


WORDS = st.sampled_from(
    ["agents", "member", "end", "requires", "key", "is", "tools", "node", "quality", "fallback", "a"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
)


@given(st.dictionaries(WORDS, VALUES), VALUES)
def test_nothing_breaks_the_rules(settings: dict[str, Any], members: Any) -> None:
    """Property: whatever is written, the answer is a team or a list of problems."""
    with suppress(InvalidTeam):
        load_team({"flow": "supervisor", "members": members, "supervisor": settings})
    list(check_supervisor({"flow": "supervisor", "members": members, "supervisor": settings}))
