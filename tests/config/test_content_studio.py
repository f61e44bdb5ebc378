"""The built-in supervisor team and the support desk, played by the pure engine alone."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from moot.agents.script import ScriptAgent, ScriptEntry
from moot.config.loading import load_team
from moot.config.team_file import TeamFile
from moot.core.flows.supervisor.cast import find_leader, find_player
from moot.core.flows.supervisor.decision import Decision, extract_decision
from moot.core.flows.supervisor.ending import how_it_may_end
from moot.core.flows.supervisor.quality import quality_fallback
from moot.core.flows.supervisor.shapes import find_misfits
from moot.core.flows.supervisor.state_update import check_update, complete, start_state
from moot.core.flows.supervisor.supervisor_routing import owner_of_tools, route_from_supervisor, should_continue
from moot.core.flows.supervisor.supervisor_settings import END, ROUTE, SUPERVISOR

EXAMPLE = Path(__file__).parents[2] / "examples" / "05_support_desk.yaml"


class Play(Struct):
    """Where the work went, and what happened on the way."""

    nodes: list[str]
    corrections: list[tuple[str, str]]
    hints: list[str]
    questions: list[str]
    state: dict[str, Any]
    delay_s: float = 0.0


def read_scripts(file: TeamFile) -> dict[str, list[ScriptEntry]]:
    scripts: dict[str, list[ScriptEntry]] = {}
    for member_id, agent in file.agents().items():
        assert isinstance(agent, ScriptAgent)
        scripts[member_id] = [ScriptEntry(text=reply) if isinstance(reply, str) else reply for reply in agent.replies]
    return scripts


def play(file: TeamFile, most: int = 60) -> Play:
    settings, members, scripts = file.supervisor, file.team().members, read_scripts(file)
    result = Play([], [], [], [], start_state(settings))
    node, calls = SUPERVISOR, 0
    for _ in range(most):
        result.nodes.append(node)
        if node == END:
            return result
        owner = owner_of_tools(settings, node)
        if owner:
            node = owner
            continue
        player = find_leader(settings, members) if node == SUPERVISOR else find_player(settings, node, members)
        assert player is not None
        entry = scripts[player.id].pop(0)
        result.delay_s += entry.delay_s
        if entry.ask:
            result.questions.append(entry.ask.question)
            continue  # answered: the same agent goes on
        update = check_update(settings, node, entry.state or {})
        assert update.refused == {}
        result.state |= update.changes
        result.state |= complete(settings, result.state)
        calls = calls + 1 if entry.tool_calls else 0
        hint = quality_fallback(settings.quality, result.state)
        if node != SUPERVISOR and hint and "reviewFeedback" in update.changes:
            result.hints.append(hint)
        node = should_continue(settings, node, result.state, has_tool_calls=bool(entry.tool_calls), tool_round=calls)
        if node == ROUTE:
            decision = extract_decision(entry.text or "", settings.agents)
            assert isinstance(decision, Decision)
            following = route_from_supervisor(settings, decision, result.state)
            if following.corrected_from:
                result.corrections.append((following.corrected_from, following.name))
            node = following.name
    raise AssertionError(f"it never ended: {result.nodes}")


@pytest.mark.parametrize(
    ("name", "question"),
    [("content-studio-demo.en", "Who should read the post?"), ("content-studio-demo.zh", "这篇图文写给谁看？")],
)
def test_the_content_studio_plays_a_whole_job(name: str, question: str) -> None:
    """A whole job: brief, evidence, a correction, text, layout, pictures by tools, and reviews; in both languages."""
    file = load_team(name)
    played = play(file)
    assert [node for node in played.nodes if node != SUPERVISOR] == [
        *("brief_compiler_agent", "brief_compiler_agent"),
        *("research_evidence_agent", "research_evidence_tools", "research_evidence_agent"),
        *("writer_agent", "layout_planner_agent", "image_planner_agent"),
        *("image_agent", "image_tools", "image_agent", "image_tools", "image_agent"),
        *("review_agent", "writer_agent", "review_agent", "END"),
    ]
    assert played.corrections == [("review_agent", "writer_agent")]
    assert played.hints == ["writer_agent"]
    assert played.questions == [question]
    assert played.state["imagesComplete"] is True
    assert how_it_may_end(file.supervisor, played.state) == "complete"
    assert 2 < played.delay_s < 8


def test_the_agents_of_the_content_studio() -> None:
    """Exactly these agents, each played by a member of that name; every tool call brings its own result."""
    file = load_team("content-studio-demo")
    assert list(file.supervisor.agents) == [
        *("brief_compiler_agent", "research_evidence_agent", "reference_intelligence_agent", "layout_planner_agent"),
        *("image_planner_agent", "writer_agent", "image_agent", "review_agent"),
    ]
    scripts = read_scripts(file)
    assert set(scripts) == {SUPERVISOR, *file.supervisor.agents}
    calls = [call for entries in scripts.values() for entry in entries for call in entry.tool_calls or ()]
    assert len(calls) == 3
    assert all({"id", "name", "args", "result"} == call.keys() for call in calls)
    pictures = [call["result"] for call in calls if call["name"] == "generate_image"]
    assert all(picture["src"].startswith("data:image/svg+xml;base64,") for picture in pictures)
    assert [picture["asset_id"] for picture in pictures] == ["asset-cover-1", "asset-watering-1"]


@pytest.mark.parametrize("name", ["content-studio", "content-studio-zh", "content-studio-demo.zh"])
def test_the_studios_for_models_have_the_tables_of_the_demo(name: str) -> None:
    """Agents, keys, preconditions, tools, scores and the end are the same; purposes are in the team's language."""
    demo, team = load_team("content-studio-demo").supervisor, load_team(name).supervisor
    for field in (
        "member",
        "max_iterations",
        "max_steps",
        "end",
        "quality",
        "inputs",
        "state",
        "complete_when",
        "tools",
    ):
        assert getattr(team, field) == getattr(demo, field), field
    assert list(team.agents) == list(demo.agents)
    for agent in demo.agents:
        assert replace(team.agents[agent], purpose="") == replace(demo.agents[agent], purpose="")


@pytest.mark.parametrize(("name", "language"), [("content-studio", "en"), ("content-studio-zh", "zh")])
def test_the_studios_for_models_tell_each_agent_its_job(name: str, language: str) -> None:
    """Every agent has instructions, a purpose and a shape for each of its keys, in the language of the team."""
    file = load_team(name)
    assert file.language == language
    for agent_name, agent in file.supervisor.agents.items():
        member = file.member(agent_name)
        assert member.instructions
        assert member.agent is not None
        for key in agent.writes:
            assert find_misfits(file.supervisor, key, file.supervisor.shapes[key]) == []
        is_chinese = any("\u4e00" <= letter <= "\u9fff" for letter in agent.purpose + member.instructions)
        assert is_chinese == (language == "zh")
    assert file.member("research_evidence_agent").tools == ("moot.agents.content_tools:search_web",)
    assert file.member("image_agent").tools == ("moot.agents.content_tools:make_picture",)


def test_the_support_desk_is_yaml_alone() -> None:
    """The engine is general; a team of other agents and keys needs no Python."""
    file = load_team(EXAMPLE)
    played = play(file)
    assert [node for node in played.nodes if node != SUPERVISOR] == ["triage", "tech", "reply", "check", "END"]
    assert played.corrections == [("refund", "triage")]
    assert how_it_may_end(file.supervisor, played.state) == "complete"
