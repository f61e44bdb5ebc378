"""Whole sessions with members played by models: from what a person says to what is logged."""

import json
from typing import Any

import pytest

from moot.app import App, Session, open_app
from moot.core.facts import Fact
from moot.core.flows.plan.plan_events import FinalAnswered, RecoveryStarted, TaskReviewed
from moot.core.flows.supervisor.supervisor_events import SupervisorDecided
from moot.core.session.events import MessagePosted, SessionPaused, TurnCompleted, TurnStepped
from tests.agents.fake_models import Asked, FakeModels, Reply, fake_models
from tests.runtime.apps import run

PLAN = {
    "summary": "two steps",
    "tasks": [{"id": "a", "title": "Collect"}, {"id": "b", "title": "Write", "depends_on": ["a"]}],
}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")


def model(models: FakeModels, name: str, **fields: Any) -> dict[str, Any]:
    agent = {"type": "llm", "model": "openai:small", "base_url": models.url}
    return {"id": name, "kind": "ai", "agent": agent, **fields}


async def say(session: Session, text: str) -> list[Fact]:
    return [event.fact async for event in session.say(text)]


def of_kind(facts: list[Fact], kind: type) -> list[Any]:
    return [fact for fact in facts if isinstance(fact, kind)]


@run
async def test_models_talk_with_each_other_and_what_they_say_streams() -> None:
    """A model's marker hands the floor on; pieces are shown beside the log, the message is logged whole."""
    with fake_models(Reply(text="I ask Carol. [NEXT: carol]", pieces=4), "Fine by me.") as models:
        team = {
            "language": "en",
            "members": [{"id": "ann", "kind": "human"}, model(models, "bob"), model(models, "carol")],
        }
        async with open_app(team) as app:
            session = await app.session()
            shown: list[str] = []
            app.streams.listeners.add(lambda _session, _event, said: shown.append(said["text"]))
            facts = await say(session, "[NEXT: bob] what do you think?")
            state = await session.state()
    assert [fact.text.strip() for fact in of_kind(facts, MessagePosted)][1:] == ["I ask Carol.", "Fine by me."]
    assert "".join(shown) == "I ask Carol. [NEXT: carol]Fine by me."
    assert "(NEXT: carol]" not in models.asked[1].prompt  # what routes is no part of what is handed on
    assert [fact.usage.input_tokens for fact in of_kind(facts, TurnCompleted)] == [100, 100]
    assert state.spent_by_member["bob"].tokens == 120
    assert of_kind(facts, SessionPaused)[-1].waiting_for == "ann"


def work(asked: Asked) -> str | Reply:
    """A model that knows its job by the prompt."""
    if "Plan the work" in asked.prompt:
        return json.dumps(PLAN)
    if "Review one result" in asked.prompt:
        return '{"pass": true, "feedback": ""}'
    return "All of it." if "Put the results together" in asked.prompt else "Done."


def plan_team(models: FakeModels, **fields: Any) -> dict[str, Any]:
    members = [
        {"id": "ann", "kind": "human"},
        model(models, "planner", role="planner"),
        model(models, "worker", role="executor"),
        model(models, "critic", role="reviewer"),
        model(models, "editor", role="aggregator"),
    ]
    return {"flow": "plan", "language": "en", "members": members, "plan": {"confirm": "never"}, **fields}


async def finish(app: App, text: str) -> list[Fact]:
    return await say(await app.session(), text)


@run
async def test_models_plan_solve_review_and_aggregate() -> None:
    """Every job of the flow can be a model's."""
    with fake_models(work) as models:
        async with open_app(plan_team(models)) as app:
            facts = await finish(app, "make a poster")
    assert [fact.text for fact in of_kind(facts, FinalAnswered)] == ["All of it."]
    assert [fact.passed for fact in of_kind(facts, TaskReviewed)] == [True, True]
    assert len(models.asked) == 6


@run
async def test_a_team_has_its_own_prompts() -> None:
    """Each phase's prompt can be replaced; the front door's too."""

    def answer(asked: Asked) -> str:
        if "OWN PLANNING" in asked.prompt:
            return json.dumps(PLAN)
        return '{"pass": true}' if "Review" in asked.prompt else "x"

    with fake_models(answer) as models:
        prompts = {
            "planning": "OWN PLANNING {{goal}}",
            "executing": "OWN EXECUTING {{task}}",
            "understanding": "OWN {{input}}",
        }
        understanding = {"type": "llm", "model": "openai:small", "base_url": models.url}
        async with open_app(plan_team(models, prompts=prompts, understanding=understanding)) as app:
            await finish(app, "make a poster")
    prompts_seen = models.prompts
    assert prompts_seen[0].startswith('OWN "make a poster"')
    assert any(each.startswith("OWN PLANNING") and "make a poster" in each for each in prompts_seen)
    assert any(each.startswith("OWN EXECUTING") and "Collect" in each for each in prompts_seen)


@run
async def test_a_busy_model_is_retried_by_the_plan() -> None:
    """What the server says about waiting is honoured, and the retry is an event."""
    answers: list[str | Reply] = [Reply(status=429, retry_after="0.01"), json.dumps(PLAN)]

    def answer(asked: Asked) -> str | Reply:
        return answers.pop(0) if "Plan the work" in asked.prompt else work(asked)

    with fake_models(answer) as models:
        plan = {"confirm": "never", "retry": {"base_delay_s": 0.01}}
        async with open_app(plan_team(models, plan=plan)) as app:
            facts = await finish(app, "make a poster")
    assert len(of_kind(facts, RecoveryStarted)) == 1
    assert of_kind(facts, FinalAnswered)


@run
async def test_a_model_supervises_models() -> None:
    """Its decision is its text; an agent writes its keys as JSON."""

    def answer(asked: Asked) -> str:
        if "You lead this team" not in asked.prompt:
            assert "body" in asked.prompt
            return '{"state": {"body": "Once upon a time"}}'
        done = "Once upon a time" in asked.prompt
        return json.dumps({"next_agent": "END" if done else "writer", "guidance": "write it"})

    with fake_models(answer) as models:
        team = {
            "flow": "supervisor",
            "language": "en",
            "members": [
                {"id": "ann", "kind": "human"},
                model(models, "boss", role="supervisor"),
                model(models, "writer", role="writer"),
            ],
            "supervisor": {"member": "boss", "agents": {"writer": {"writes": ["body"]}}},
        }
        async with open_app(team) as app:
            facts = await finish(app, "tell a story")
    assert [fact.decision.next_agent for fact in of_kind(facts, SupervisorDecided)] == ["writer", "END"]


@run
async def test_what_broke_off_is_logged_once_and_the_retry_says_it_whole() -> None:
    """The part is a step of the turn that failed; the message of the next one is whole and alone."""
    with fake_models(Reply(text="Once upon a time", break_after=1), "Once upon a time there was.") as models:
        team = {"language": "en", "members": [{"id": "ann", "kind": "human"}, model(models, "bob")]}
        async with open_app(team) as app:
            session = await app.session()
            facts = await say(session, "[NEXT: bob] tell") + await say(session, "/retry")
    assert [fact.observation for fact in of_kind(facts, TurnStepped)] == ["[incomplete, broken off] Once upo"]
    assert [fact.text.strip() for fact in of_kind(facts, MessagePosted)] == ["tell", "Once upon a time there was."]
