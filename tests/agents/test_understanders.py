"""The front door with a model behind it, from a message to its route, against an endpoint on loopback."""

import asyncio
import json
from collections.abc import AsyncGenerator
from itertools import count
from typing import Any

import pytest

from moot.agents.understanders import AgentCompletion
from moot.app import open_app
from moot.config.loading import InvalidTeam, load_team
from moot.core.flows.plan.plan_events import PlanStarted
from moot.core.flows.turns import TurnInput
from moot.core.intake.intent import SemanticInput
from moot.core.session.events import NoticePosted, RoutingDecided, UnderstandingCompleted
from moot.core.session.team import Kind, member
from moot.runtime.ports import Output, Step
from moot.runtime.understanding.llm import LlmUnderstander
from tests.agents.fake_models import fake_models
from tests.runtime.apps import run
from tests.runtime.test_understanding_llm import answer


def team_of(url: str, **understanding: Any) -> dict[str, Any]:
    plan = {"plan": {"summary": "one", "tasks": [{"id": "a", "title": "Collect"}]}}
    return {
        "moot": 1,
        "name": "understood",
        "flow": "plan",
        "language": "en",
        "understanding": {"type": "llm", "model": "openai:small", "base_url": url, **understanding},
        "members": [
            {"id": "you", "kind": "human"},
            {"id": "planner", "kind": "ai", "role": "planner", "agent": {"type": "script", "replies": [plan, "done"]}},
            {"id": "worker", "kind": "ai", "role": "executor", "agent": {"type": "script", "replies": ["ok"]}},
        ],
    }


@run
async def test_a_model_understands_and_the_route_follows() -> None:
    """The analysis of the model is logged, and the work begins."""
    with fake_models(json.dumps(answer(type="different_task", confidence=0.97))) as model:
        async with open_app(team_of(model.url)) as app:
            session = await app.session()
            facts = [event.fact async for event in session.say("make a deck")]
    (understood,) = [fact for fact in facts if isinstance(fact, UnderstandingCompleted)]
    assert (understood.analysis.task_relation.confidence, understood.fallback_reason) == (0.97, None)
    assert [fact.question for fact in facts if isinstance(fact, PlanStarted)] == ["make a deck"]


@run
async def test_a_team_says_how_to_route() -> None:
    """The routing phase's prompt is a part of what the model is told; a team's own takes its place."""
    asked = []
    for prompts in ({}, {"routing": "Ask before anything costs money. Status: {{workflow_status}}."}):
        with fake_models(json.dumps(answer(type="different_task", confidence=0.97))) as model:
            async with open_app({**team_of(model.url), "prompts": prompts}) as app:
                session = await app.session()
                assert [event async for event in session.say("make a deck")]
            asked.append(model.prompts[0])
    assert "| control | the run itself" in asked[0]
    assert "Ask before anything costs money. Status: idle." in asked[1]
    assert not [prompt for prompt in asked if "{{" in prompt]


@run
async def test_a_chinese_team_asks_its_model_in_chinese() -> None:
    """Both parts of the prompt are in the language of the team; the names of types stay as they are."""
    with fake_models(json.dumps(answer(type="different_task", confidence=0.97))) as model:
        async with open_app({**team_of(model.url), "language": "zh"}) as app:
            session = await app.session()
            assert [event async for event in session.say("做一个 PPT")]
        prompt = model.prompts[0]
    assert prompt.startswith("# 理解一条人的消息")
    assert "| control | 关于运行本身" in prompt
    assert "same_task_minor_change" in prompt
    assert "{{" not in prompt


@run
async def test_the_rules_answer_for_a_model_that_cannot_and_a_notice_says_so() -> None:
    """Invalid output is asked for once more, then `rules` answers."""
    with fake_models("no idea", "still none") as model:
        async with open_app(team_of(model.url)) as app:
            session = await app.session()
            facts = [event.fact async for event in session.say("make a deck")]
        assert len(model.asked) == 2
    (understood,) = [fact for fact in facts if isinstance(fact, UnderstandingCompleted)]
    assert understood.fallback_reason is not None
    assert "invalid twice" in understood.fallback_reason
    assert [fact.code for fact in facts if isinstance(fact, NoticePosted)] == ["understood_by_rules"]
    assert [fact.question for fact in facts if isinstance(fact, PlanStarted)] == ["make a deck"]


@run
async def test_markers_and_slash_commands_never_reach_a_model() -> None:
    """Explicit markers and slash commands always win."""
    with fake_models("{}") as model:
        async with open_app(team_of(model.url)) as app:
            session = await app.session()
            for text in ("/status", "/help", "[DONE]"):
                async for _ in session.say(text):
                    pass
        assert model.asked == []


@run
async def test_thresholds_are_settings_of_the_team() -> None:
    """How sure is sure is up to the team."""
    sure = json.dumps(answer(type="different_task", confidence=0.9))
    unsure = json.dumps(answer(type="same_task_no_change", confidence=0.8))
    with fake_models(sure, unsure) as model:
        async with open_app(team_of(model.url, thresholds={"certain": 0.85})) as app:
            session = await app.session()
            async for _ in session.say("make a deck"):
                pass
            facts = [event.fact async for event in session.say("fine")]
    routes = [fact.route for fact in facts if isinstance(fact, RoutingDecided)]
    assert routes == ["wait_user_decision"]


def team_with(**understanding: Any) -> dict[str, Any]:
    return {**team_of(""), "understanding": {"type": "agent", **understanding}}


def scripted(*replies: Any) -> dict[str, Any]:
    return {"type": "script", "replies": list(replies)}


SURE = json.dumps(answer(type="different_task", confidence=0.97))


@run
async def test_an_agent_of_its_own_understands() -> None:
    """An agent that is described under `understanding` answers with an analysis, and is no member."""
    async with open_app(team_with(agent=scripted(SURE))) as app:
        session = await app.session()
        facts = [event.fact async for event in session.say("make a deck")]
    (understood,) = [fact for fact in facts if isinstance(fact, UnderstandingCompleted)]
    assert (understood.analysis.task_relation.confidence, understood.fallback_reason) == (0.97, None)
    assert [fact.question for fact in facts if isinstance(fact, PlanStarted)] == ["make a deck"]


@run
async def test_a_member_understands_beside_its_other_work() -> None:
    """A member that understands is given the prompt of the phase, with the input in it, in turns of their own."""
    told: list[str] = []
    plan = {"summary": "one", "tasks": [{"id": "a", "title": "Collect"}]}

    async def planner(turn: TurnInput) -> Any:
        if turn.job != "understand":
            return {"plan": plan} if turn.job == "plan" else "done"
        told.append(turn.message.text if turn.message else "")
        return SURE

    async with open_app(team_with(member="planner"), agents={"planner": planner}) as app:
        session = await app.session()
        facts = [event.fact async for event in session.say("make a deck")]
    (prompt,) = told
    assert "Understand one message of a person" in prompt
    assert '"make a deck"' in prompt
    assert [fact.fallback_reason for fact in facts if isinstance(fact, UnderstandingCompleted)] == [None]
    assert [fact.question for fact in facts if isinstance(fact, PlanStarted)] == ["make a deck"]


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        (["no idea", "still none"], "invalid twice"),
        ([{"error": {"type": "network", "message": "unplugged"}}], "network: unplugged"),
    ],
)
def test_the_rules_answer_for_an_agent_that_cannot(replies: list[Any], reason: str) -> None:
    """An invalid answer is asked for once more; then, or after a failure, `rules` answers and a notice says why."""

    @run
    async def play() -> None:
        async with open_app(team_with(agent=scripted(*replies))) as app:
            session = await app.session()
            facts = [event.fact async for event in session.say("make a deck")]
        (understood,) = [fact for fact in facts if isinstance(fact, UnderstandingCompleted)]
        assert reason in (understood.fallback_reason or "")
        assert [fact.code for fact in facts if isinstance(fact, NoticePosted)] == ["understood_by_rules"]
        assert [fact.question for fact in facts if isinstance(fact, PlanStarted)] == ["make a deck"]

    play()


class Endless:
    """An agent that thinks and never answers."""

    is_closed = False

    async def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        try:
            for number in count():
                yield Step(thought=f"{turn.turn_id}: {number}")
                await asyncio.sleep(0.001)
        finally:
            self.is_closed = True


@run
async def test_an_agent_that_takes_too_long_is_stopped_and_the_rules_answer() -> None:
    """After `timeout_s` the turn of the agent ends, and the reason is told."""
    agent = Endless()
    completion = AgentCompletion(lambda: agent, member("understanding", Kind.AI), "en")
    understander = LlmUnderstander(completion.complete_json, "{{input}}", timeout_s=0.05)
    understood = await understander.understand(SemanticInput(raw_input="make a deck"))
    assert understood.fallback_reason == "timeout: no answer in 0.05 s"
    assert agent.is_closed


@pytest.mark.parametrize(
    ("understanding", "problem"),
    [
        ({}, "understanding: understanding by an agent needs either a member or an agent"),
        ({"member": "planner", "agent": scripted("x")}, "needs either a member or an agent"),
        ({"member": "plannr"}, "understanding.member: no AI member has the id 'plannr'"),
        ({"member": "you"}, "understanding.member: no AI member has the id 'you'"),
        ({"agent": {"type": "nobody"}}, "understanding.agent.type"),
        ({"agent": {"type": "cli"}}, "understanding.agent"),
        ({"type": "rules", "member": "planner"}, "understanding.member: member goes with type agent"),
        ({"member": "planner", "timeout_s": 0}, "understanding.timeout_s"),
    ],
)
def test_a_team_file_that_names_no_understander_is_refused(understanding: dict[str, Any], problem: str) -> None:
    """`type: agent` needs an AI of the team or an agent of its own, checked like those of members."""
    with pytest.raises(InvalidTeam) as refused:
        load_team(team_with(**understanding))
    assert problem in str(refused.value)
