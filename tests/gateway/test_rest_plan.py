"""The plan flow over REST: the commands of programs that hold no connection."""

from pathlib import Path
from typing import Any

from moot.core.session.principal import Role
from moot.testing import task
from tests.gateway.server import until
from tests.gateway.sites import Site, code_of, open_site
from tests.runtime.apps import has, run
from tests.runtime.plans import Hands, crew, planning, plays

TEAM = crew(planning(task("a"), task("b", "a")), plays("will"))


async def state_of(site: Site, session_id: str) -> dict[str, Any]:
    async with site.client() as client:
        state: dict[str, Any] = (await client.get(f"/api/sessions/{session_id}")).json()["state"]
        return state


@run
async def test_a_plan_is_steered(tmp_path: Path) -> None:
    """Any `user.*` frame is a command; the folded state has the question, the tasks and their states."""
    hands = Hands()
    async with open_site(tmp_path, TEAM, agents={"will": hands}) as site:
        session_id = await site.create()
        session = await site.app.session(session_id)
        assert (await site.command(session_id, "user.message", content="make a deck")).status_code == 200
        await has(site.app, session, "agent.user_confirm")
        (question,) = (await state_of(site, session_id))["questions"]
        step_id = question["step_id"]
        bad = [{"id": "x", "title": "X", "depends_on": ["y"]}]
        refused = await site.command(session_id, "user.response", step_id=step_id, confirmed=True, tasks=bad)
        assert code_of(refused) == "invalid_plan"
        assert refused.json()["metadata"]["problems"] == ["tasks[0].depends_on: no task has the id 'y'"]
        viewer, _ = site.issue(Role.VIEWER, session_id=session_id)
        forbidden = await site.command(session_id, "user.cancel_plan", token=viewer)
        assert code_of(forbidden) == "forbidden"
        edited = {"tasks": [{"id": 1, "title": "One"}]}
        answered = await site.command(session_id, "user.response", step_id=step_id, confirmed=True, content=edited)
        assert answered.status_code == 200
        await has(site.app, session, "solver.start")
        assert [run["state"] for run in (await state_of(site, session_id))["work"]["tasks"].values()] == ["RUNNING"]
        assert code_of(await site.command(session_id, "user.cancel_task", task_id="2")) == "unknown_task"
        assert (await site.command(session_id, "user.cancel", command_id="stop")).status_code == 200
        await has(site.app, session, "agent.interrupted")
        assert code_of(await site.command(session_id, "user.replan")) == "no_workflow"


@run
async def test_tasks_of_ones_own(tmp_path: Path) -> None:
    """user.solve_tasks with a command id runs its tasks once, however often it is sent."""
    hands = Hands()
    async with open_site(tmp_path, TEAM, agents={"will": hands}) as site:
        session_id = await site.create()
        session = await site.app.session(session_id)
        for _ in range(2):
            sent = await site.command(
                session_id, "user.solve_tasks", tasks=[{"id": "x", "title": "X"}], command_id="once"
            )
            assert sent.status_code == 200
        await until(lambda: hands.at_work == ["x"])
        hands.finish("x")
        await has(site.app, session, "agent.final_answer")
        assert hands.given == ["x"]
