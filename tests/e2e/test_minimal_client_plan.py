"""A minimal client and the plan flow: plan, confirm, solve, aggregate."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from moot.agents.script import ScriptEntry, ScriptError, ScriptPlan, ScriptStep
from moot.config.team_file import TeamFile
from moot.core.flows.plan.plan_settings import PlanSettings, Retry
from moot.core.session.principal import Role
from moot.testing import human, task
from tests.e2e.minimal_client import PLACES, MinimalClient
from tests.gateway.server import Server, run, serve, until
from tests.runtime.plans import Hands, crew, planning, plays

TASKS = (task("a"), task("b"), task("c", "a", "b"))
QUICK = Retry(base_delay_s=0.01)
STEPS = (ScriptStep(thought="one"), ScriptStep(action="two"))


def deck(*more: Any, **plan: Any) -> TeamFile:
    """Alice, a planner that thinks in two steps, and a worker whose task b fails at first."""
    made = ScriptEntry(steps=STEPS, plan=ScriptPlan(summary="a deck", tasks=TASKS), text="the deck")
    failing = {"b": (ScriptEntry(error=ScriptError(type="network")), "b is done")}
    worker = plays("will", ScriptEntry(steps=STEPS, text="done"), by_task=failing)
    return crew(plays("pam", made, role="planner"), worker, *more, plan=PlanSettings(retry=QUICK, **plan))


@asynccontextmanager
async def talking(server: Server, place: str = "metadata") -> AsyncIterator[MinimalClient]:
    client = MinimalClient(server.port, place)
    await client.connect()
    await client.create()
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def at_work(tmp_path: Path, *tasks: dict[str, Any]) -> AsyncIterator[tuple[MinimalClient, Hands]]:
    """The plan of these tasks is approved and its workers do what the test says."""
    hands = Hands()
    team = crew(planning(*(tasks or TASKS)), plays("will"), plan=PlanSettings(retry=QUICK))
    async with serve(tmp_path, team, agents={"will": hands}) as server, talking(server) as client:
        await client.say("make a deck")
        asked = await client.wait_for("agent.user_confirm")
        await client.send("user.response", step_id=asked["step_id"], confirmed=True)
        await client.wait_for("solver.start")
        yield client, hands


def of(client: MinimalClient, prefix: str) -> list[str]:
    return [name for name in client.names() if name.startswith(prefix)]


@pytest.mark.parametrize("place", PLACES)
@run
async def test_from_message_to_answer(tmp_path: Path, place: str) -> None:
    """Plan, confirm, solve, aggregate, complete, answer, in that order, with their fields; a task that
    fails once is retried: that is error.execution, recovery_started, solver.start again, recovery_success."""
    async with serve(tmp_path, deck()) as server, talking(server, place) as client:
        await client.say("make a deck")
        asked = await client.wait_for("agent.user_confirm")
        assert of(client, "plan.") == ["plan.start", *["plan.step_completed"] * 2, "plan.completed"]
        made = next(frame for frame in client.seen if frame["event"] == "plan.completed")
        for frame in (made, asked):  # clients look for tasks in both places
            assert [each["id"] for each in frame["metadata"]["tasks"]] == ["a", "b", "c"]
            assert frame["content"]["tasks"] == frame["metadata"]["tasks"]
        assert (asked["metadata"]["kind"], asked["metadata"]["plan_summary"]) == ("plan", "a deck")
        await client.send("user.response", step_id=asked["step_id"], confirmed=True)
        answered = await client.wait_for("agent.final_answer")
        assert answered["content"] == "the deck"
        order = [frame["metadata"]["task"]["id"] for frame in client.seen if frame["event"] == "solver.completed"]
        assert set(order[:2]) == {"a", "b"}
        assert order[2] == "c"
        assert of(client, "error.") == ["error.execution", "error.recovery_started", "error.recovery_success"]
        starts = [frame["metadata"] for frame in client.seen if frame["event"] == "solver.start"]
        assert [each["attempt"] for each in starts if each["task"]["id"] == "b"] == [1, 2]
        progress = [frame["metadata"] for frame in client.seen if frame["event"] == "solver.progress"]
        assert [(each["done"], each["total"], each["percent"]) for each in progress[:2]] == [
            (1, 2, 50.0),
            (2, 2, 100.0),
        ]
        ending = [name for name in client.names() if name.split(".")[0] in ("aggregate", "pipeline")]
        assert ending == ["aggregate.start", "aggregate.completed", "pipeline.completed"]
        client.check_whole()


@pytest.mark.parametrize("place", PLACES)
@run
async def test_edited_tasks(tmp_path: Path, place: str) -> None:
    """The answer brings edited tasks, wherever they stand; those run and no others."""
    edited = [{"id": 1, "title": "Only this", "colour": "blue"}]
    async with serve(tmp_path, deck()) as server, talking(server, place) as client:
        await client.say("make a deck")
        asked = await client.wait_for("agent.user_confirm")
        await client.send("user.response", step_id=asked["step_id"], confirmed=True, tasks=edited)
        started = (await client.wait_for("solver.start"))["metadata"]["task"]
        assert (started["id"], started["title"], started["colour"]) == ("1", "Only this", "blue")
        await client.wait_for("agent.final_answer")
        assert client.names().count("solver.completed") == 1


@run
async def test_a_plan_that_cannot_be_run(tmp_path: Path) -> None:
    """Edited tasks are checked by the same rules; every error has its path, nothing starts, it waits."""
    edited = [{"id": "a", "title": "A", "depends_on": ["b"]}, {"id": "b", "title": "B", "depends_on": ["a"]}]
    async with serve(tmp_path, deck()) as server, talking(server) as client:
        await client.say("make a deck")
        step_id = (await client.wait_for("agent.user_confirm"))["step_id"]
        refused = await client.refusal("user.response", step_id=step_id, confirmed=True, tasks=edited)
        assert (refused["code"], refused["problems"][0].split(":")[0]) == ("invalid_plan", "tasks[0].depends_on")
        refused = await client.refusal("user.response", step_id=step_id, confirmed=True, tasks=[{"id": "a"}, {}])
        assert [each.split(":")[0] for each in refused["problems"]] == ["tasks[0].title", "tasks[1]"]
        await client.send("user.response", step_id=step_id, confirmed=True)
        await client.wait_for("solver.start")


@run
async def test_a_rejected_plan(tmp_path: Path) -> None:
    """plan.cancelled {reason: user_reject}; the session goes on waiting for input."""
    async with serve(tmp_path, deck()) as server, talking(server) as client:
        await client.say("make a deck")
        step_id = (await client.wait_for("agent.user_confirm"))["step_id"]
        await client.send("user.response", step_id=step_id, confirmed=False)
        assert (await client.wait_for("plan.cancelled"))["metadata"] == {"reason": "user_reject"}
        await client.wait_for("session.paused")
        assert "solver.start" not in client.names()
        await client.say("another deck, then")
        assert (await client.wait_for("plan.start"))["metadata"]["question"] == "another deck, then"


@run
async def test_a_plan_that_nobody_answers(tmp_path: Path) -> None:
    """After its time the plan is cancelled with reason timeout; an answer that comes later is expired."""
    async with serve(tmp_path, deck(confirm_timeout_s=0.3)) as server, talking(server) as client:
        await client.say("make a deck")
        step_id = (await client.wait_for("agent.user_confirm"))["step_id"]
        assert (await client.wait_for("plan.cancelled"))["metadata"] == {"reason": "timeout"}
        await client.wait_for("session.paused")
        refused = await client.refusal("user.response", step_id=step_id, confirmed=True)
        assert refused["code"] == "confirmation_expired"


@run
async def test_work_goes_on_while_nobody_is_there(tmp_path: Path) -> None:
    """The link is lost in the middle; the tasks finish; what was missed comes once and in order."""
    async with at_work(tmp_path) as (client, hands):
        await until(lambda: hands.at_work == ["a", "b"])
        await client.drop()
        for task_id in ("a", "b", "c"):
            await until(lambda task_id=task_id: task_id in hands.at_work)  # type: ignore[misc]
            hands.finish(task_id)
        await client.reconnect()
        assert (await client.wait_for("agent.final_answer"))["content"] == "all of it"
        client.check_whole()
        assert client.names().count("solver.completed") == 3


@pytest.mark.parametrize("place", PLACES)
@run
async def test_tasks_of_ones_own(tmp_path: Path, place: str) -> None:
    """user.solve_tasks needs no planning and no confirmation, and ends the same; while it runs, no other may."""
    async with serve(tmp_path, deck()) as server, talking(server, place) as client:
        await client.send("user.solve_tasks", tasks=[{"id": "x", "title": "X"}])
        await client.wait_for("agent.final_answer")
        assert "agent.user_confirm" not in client.names()
        assert of(client, "plan.") == []
        refused = await client.refusal("user.solve_tasks", tasks=[])
        assert (refused["code"], refused["problems"]) == ("invalid_plan", ["tasks: a plan needs at least one task"])


@run
async def test_cancelling_everything(tmp_path: Path) -> None:
    """user.cancel → solver.cancelled for each running task, agent.interrupted, session paused; the next message
    starts a new task."""
    async with at_work(tmp_path) as (client, hands):
        await until(lambda: hands.at_work == ["a", "b"])
        refused = await client.refusal("user.solve_tasks", tasks=[{"id": "x", "title": "X"}])
        assert refused["code"] == "workflow_active"
        await client.send("user.cancel", session_id=client.session_id)
        assert (await client.wait_for("agent.interrupted"))["metadata"] == {"reason": "user_cancel"}
        await client.wait_for("session.paused")
        assert client.names().count("solver.cancelled") == 2
        await until(lambda: set(hands.stopped) == {"a", "b"})
        refused = await client.refusal("user.cancel")
        assert refused["code"] == "nothing_running"
        await client.say("make a cake")
        await client.wait_for("plan.start")


@run
async def test_one_task(tmp_path: Path) -> None:
    """user.cancel_task → solver.cancelled, dependants are asked about; user.restart_task → solver.restarted."""
    async with at_work(tmp_path) as (client, hands):
        await until(lambda: hands.at_work == ["a", "b"])
        await client.send("user.restart_task", task_id="b")
        assert (await client.wait_for("solver.restarted"))["metadata"]["task"]["id"] == "b"
        await client.send("user.cancel_task", task_id="a")
        assert (await client.wait_for("solver.cancelled"))["metadata"]["task"]["id"] == "a"
        asked = await client.wait_for("agent.user_confirm")
        options = [option["id"] for option in asked["metadata"]["options"]]
        assert options == ["run_without", "cancel_dependants", "restart"]
        assert "Task c" in asked["show_content"]
        await client.send("user.response", step_id=asked["step_id"], choice="run_without")
        await until(lambda: "b" in hands.at_work)
        hands.finish("b")
        await until(lambda: "c" in hands.at_work)
        hands.finish("c")
        assert (await client.wait_for("pipeline.completed"))["metadata"] == {"status": "partial", "missing": ["Task a"]}
        for event, code in (("user.cancel_task", "no_workflow"), ("user.cancel_plan", "no_workflow")):
            assert (await client.refusal(event, task_id="a"))["code"] == code


@run
async def test_refused_commands_about_tasks(tmp_path: Path) -> None:
    """Unknown tasks and fields of the wrong type have stable codes; the work is not touched."""
    async with at_work(tmp_path) as (client, _):
        assert (await client.refusal("user.cancel_task", task_id="nope"))["code"] == "unknown_task"
        assert (await client.refusal("user.restart_task"))["code"] == "bad_field"
        assert (await client.refusal("user.response", step_id="nope", confirmed=True))["code"] == "unknown_step"
        assert "solver.cancelled" not in client.names()


@run
async def test_the_plan_is_cancelled_or_made_again(tmp_path: Path) -> None:
    """user.replan carries the feedback, stops what runs and asks again; user.cancel_plan ends it."""
    async with at_work(tmp_path) as (client, hands):
        await until(lambda: hands.at_work == ["a", "b"])
        hands.finish("a")
        await client.wait_for("solver.completed")
        await client.send("user.replan", feedback="with pictures")
        again = await client.wait_for("plan.start")
        assert again["metadata"]["feedback"] == "with pictures"
        saved = next(frame for frame in client.seen if frame["event"] == "workflow.snapshot_saved")
        assert (saved["metadata"]["snapshot_id"], saved["metadata"]["done"]) == (
            again["metadata"]["snapshot_id"],
            ["a"],
        )
        made = await client.wait_for("plan.completed")
        assert made["metadata"]["kept"] == ["a"]
        old, new = "confirm_plan_p1", (await client.wait_for("agent.user_confirm"))["step_id"]
        refused = await client.refusal("user.response", step_id=old, confirmed=True)
        assert (refused["code"], refused["by"]) == ("already_answered", "alice")
        await client.send("user.cancel_plan", session_id=client.session_id)
        assert (await client.wait_for("plan.cancelled"))["metadata"] == {"reason": "user_cancel"}
        refused = await client.refusal("user.response", step_id=new, confirmed=True)
        assert refused["code"] == "confirmation_expired"


@run
async def test_two_humans_and_one_question(tmp_path: Path) -> None:
    """The first valid answer wins, the other learns by whom; a viewer may not answer; a step of another
    session is unknown here."""
    team = deck(human("eve"))
    async with serve(tmp_path, team) as server, talking(server) as alice, talking(server) as other:
        session = {"session_id": alice.session_id}
        tokens = {
            "eve": server.issue(Role.MEMBER, member="eve", **session)[0],
            "guest": server.issue(Role.VIEWER, **session)[0],
        }
        await alice.send("user.message", text="[FROM: alice] make a deck", **session)
        step_id = (await alice.wait_for("agent.user_confirm"))["step_id"]
        peers = {}
        for name, token in tokens.items():
            peers[name] = MinimalClient(server.port, token=token)
            await peers[name].connect()
            peers[name].session_id = alice.session_id
            await peers[name].send("user.reconnect", **session)
            await peers[name].wait_for("session.paused")
        refused = await peers["guest"].refusal("user.response", step_id=step_id, confirmed=True)
        assert refused["code"] == "forbidden"
        assert (await peers["guest"].refusal("user.cancel_plan"))["code"] == "forbidden"
        assert (await other.refusal("user.response", step_id=step_id, confirmed=True))["code"] == "unknown_step"
        await peers["eve"].send("user.response", step_id=step_id, confirmed=True, **session)
        closed = await alice.wait_for("agent.user_confirm_closed")
        assert (closed["metadata"]["by"], closed["source"]["member"]) == ("eve", "eve")
        refused = await alice.refusal("user.response", step_id=step_id, confirmed=False)
        assert (refused["code"], refused["by"]) == ("already_answered", "eve")
        for peer in peers.values():
            await peer.close()


@run
async def test_fields_that_are_no_tasks(tmp_path: Path) -> None:
    """`tasks` that are no list are refused before the session hears of them; so is a body that is no frame."""
    async with serve(tmp_path, deck()) as server, talking(server, "top") as client:
        assert (await client.refusal("user.solve_tasks", tasks="all"))["code"] == "bad_field"
        await client.send_text(json.dumps({"event": "user.solve_tasks", "content": [{"id": "x", "title": "X"}]}))
        assert (await client.wait_for("solver.start"))["metadata"]["task"]["id"] == "x"
