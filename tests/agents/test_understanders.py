"""The front door with a model behind it, from a message to its route, against an endpoint on loopback."""

import json
from typing import Any

from moot.app import open_app
from moot.core.flows.plan.plan_events import PlanStarted
from moot.core.session.events import NoticePosted, RoutingDecided, UnderstandingCompleted
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
