"""Every trigger of the seven state machines, fired from outside: by commands over HTTP and by what happens to a link.

Members are functions that do what a story tells them; the recorder of tests/core/test_plan_machines.py sees the moves.
"""

import json
import re
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from moot.agents.script import ScriptEntry
from moot.app import Session
from moot.client.client import connect
from moot.client.link_errors import Unreachable
from moot.config.loading import load_team
from moot.config.team_file import TeamFile
from moot.core import limits
from moot.core.flows.plan.plan_events import WorkflowChanged
from moot.core.flows.turns import TurnInput
from moot.core.machines.catalogue import MACHINES
from moot.core.machines.connection import State
from moot.core.machines.interrupt import State as Interrupt
from moot.core.session.events import StepAsked
from moot.runtime.ports import Agent, Output, Result, Step
from moot.testing import VirtualClock, human, make_team, scripted
from tests.client.fake_server import Visit, fake_server
from tests.core.test_plan_machines import Walked, recorded
from tests.gateway.sites import Site, open_site
from tests.runtime.apps import facts, has, run, until
from tests.runtime.plans import Hands, task

RELATIONS = {
    "fine": "same_task_no_change",
    "minor": "same_task_minor_change",
    "major": "same_task_major_change",
    "other": "different_task",
    "unsure": "same_task_no_change",
    "confirm": "same_task_no_change",
    "unclear": "same_task_no_change",
}
CONTROLS = {"pause": "pause", "go on": "resume", "status": "status_query", "cancel": "cancel"}
DELAY_S = 0.01  # before a retry
WORD = re.compile(r"## The message\n\n\"(go on|\w+)")


def understood(prompt: str) -> dict[str, Any]:
    """The analysis of a message that begins with one of the words above."""
    found = WORD.search(prompt)
    word = found[1] if found else ""
    control = CONTROLS.get(word)
    patch = {"op": "modify", "task_id": "b", "changes": {"title": "Bee"}}
    return {
        "normalized_intent": {"goal": word, "action": {"resume": "continue"}.get(control or "", "modify")},
        "task_relation": {
            "type": "control_instruction" if control else RELATIONS.get(word, "different_task"),
            "confidence": 0.4 if word == "unsure" else 0.95,
        },
        "suggested_route": {"next_phase": "execution", "requires_user_confirmation": word == "confirm"},
        "control_action": control,
        "plan_patches": [patch] if word == "minor" else [],
        "clarification": "What do you mean?" if word == "unclear" else "",
    }


class Lead:
    """Plans, understands, reviews and evaluates: yes to everything that no story decided."""

    def __init__(self) -> None:
        self.tasks = [task("a"), task("b", "a")]
        self.decisions: list[str] = []
        self.verdicts: list[bool] = []
        self.is_told = False  # what was unclear

    async def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        yield Result(text=self.answer(turn))

    def answer(self, turn: TurnInput) -> str:
        match turn.job:
            case "understand":
                analysis = understood(turn.message.text if turn.message else "")
                if analysis["clarification"] and self.is_told:
                    analysis["clarification"] = ""
                self.is_told = self.is_told or bool(analysis["clarification"])
                return json.dumps(analysis)
            case "plan":
                return json.dumps({"summary": "all", "tasks": self.tasks})
            case "evaluate":
                return json.dumps({"decision": self.decisions.pop(0) if self.decisions else "ask", "reason": "so"})
            case "review":
                return json.dumps({"pass": self.verdicts.pop(0) if self.verdicts else True, "feedback": "more"})
            case _:
                return "all of it"


class Busy(Hands):
    """Hands that say what they do before they do it."""

    async def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        yield Step(thought="first the title")
        async for output in super().act(turn):
            yield output


def make_crew(*, reviewer: bool = False, max_attempts: int = 0, confirm: str = "always") -> TeamFile:
    members = [
        {"id": "alice", "kind": "human"},
        {"id": "pam", "kind": "ai", "role": "planner", "agent": {"type": "script"}},
        {"id": "will", "kind": "ai", "role": "executor", "agent": {"type": "script"}},
    ]
    members += [{"id": "rita", "kind": "ai", "role": "reviewer", "agent": {"type": "script"}}] if reviewer else []
    return load_team(
        {
            "moot": 1,
            "name": "crew",
            "flow": "plan",
            "language": "en",
            "members": members,
            "understanding": {"type": "agent", "member": "pam"},
            "plan": {"confirm": confirm, "retry": {"max_attempts": max_attempts, "base_delay_s": DELAY_S}},
        }
    )


class Room:
    """A session of a crew, seen from outside."""

    def __init__(self, site: Site, session: Session, lead: Lead, hands: Busy, clock: VirtualClock) -> None:
        self.site, self.session, self.lead, self.hands, self.clock = site, session, lead, hands, clock
        self.said = 0

    async def send(self, event: str, **fields: Any) -> None:
        answer = await self.site.command(self.session.id, event, **fields)
        assert answer.status_code == 200, answer.text

    async def say(self, text: str) -> None:
        """Say it and wait until it was understood and routed."""
        self.said += 1
        await self.send("user.message", content=text)
        await has(self.site.app, self.session, "routing.decided", self.said)

    async def sees(self, event: str, times: int = 1) -> None:
        await has(self.site.app, self.session, event, times)

    async def asked(self, code: str) -> StepAsked:
        """The question with this code, once it is asked; the newest of several."""
        found: list[StepAsked] = []

        async def is_asked() -> bool:
            open_steps = (await self.session.state()).open_steps
            found[:] = [fact for fact in await facts(self.site.app, self.session, StepAsked) if fact.code == code]
            return bool(found) and found[-1].step_id in open_steps

        await until(is_asked)
        return found[-1]

    async def choose(self, code: str, choice: str, **fields: Any) -> None:
        step = await self.asked(code)
        await self.send("user.response", step_id=step.step_id, choice=choice, **fields)

    async def begin(self, text: str = "other: a report") -> None:
        """Until the first task is at work."""
        await self.say(text)
        await self.approve()
        await self.works("a")

    async def approve(self) -> None:
        await self.send("user.response", step_id=(await self.asked("confirm_plan")).step_id, confirmed=True)

    async def pause(self, **fields: Any) -> None:
        """Until nothing runs: what goes on is stopped when its grace is over."""
        await self.send("user.pause", **fields)
        await self.clock.advance(limits.PAUSE_GRACE_S)

        async def is_paused() -> bool:
            return (await self.session.state()).interrupt is Interrupt.PAUSED

        await until(is_paused)

    async def works(self, task_id: str, attempt: int = 1) -> None:
        """Until a task is under way, whatever has to be waited for before."""

        async def is_at_work() -> bool:
            await self.clock.advance(DELAY_S)
            return task_id in self.hands.at_work and self.hands.given.count(task_id) >= attempt

        await until(is_at_work)

    async def finish(self, *task_ids: str) -> None:
        for task_id in task_ids:
            await self.works(task_id)
            self.hands.finish(task_id)

    async def moved(self, trigger: str) -> None:
        async def has_moved() -> bool:
            return trigger in [fact.trigger for fact in await facts(self.site.app, self.session, WorkflowChanged)]

        await until(has_moved)


@asynccontextmanager
async def open_room(folder: Path, **settings: Any) -> AsyncGenerator[Room, None]:
    lead, hands, clock = Lead(), Busy(), VirtualClock()
    agents: dict[str, Agent] = {"pam": lead, "will": hands}
    if settings.get("reviewer"):
        agents["rita"] = lead
    async with open_site(folder, make_crew(**settings), agents=agents, clock=clock) as site:
        session = await site.app.session(await site.create())
        yield Room(site, session, lead, hands, clock)


# stories


async def say_everything(folder: Path) -> None:
    """Messages of every kind while a plan runs, to its end."""
    async with open_room(folder) as room:
        await room.begin()
        await room.say("fine")
        await room.say("minor: another title")
        await room.send("user.message", content="unclear")
        await room.send("user.response", step_id=(await room.asked("")).step_id, answer="this")
        room.said += 1
        await room.sees("routing.decided", room.said)
        await room.say("major: a film")
        await room.choose("ask_replan", "continue")
        for choice in ("continue", "drop", "replan"):
            await room.say("unsure")
            await room.choose("ask_unsure", choice)
            if choice == "replan":
                await room.approve()
        await room.say("confirm")
        await room.say("fine")
        await room.say("status")
        await room.say("other: a letter")
        await room.choose("ask_new_task", "close_and_start")
        await room.approve()
        await room.finish("a", "b")
        await room.sees("agent.final_answer")
        await room.begin("other: one more")
        await room.send("user.cancel")
        await room.sees("agent.interrupted")
        await room.say("status")


async def weigh_failures(folder: Path) -> None:
    """A task fails for good that another one needs: the planner says what to do about it, or a person does."""
    for decision, expected in (("replan", "replan_required"), ("continue", "replan_not_required"), ("abort", "abort")):
        async with open_room(folder / decision) as room:
            room.lead.decisions = [decision]
            await room.begin()
            room.hands.fail("a", "auth")
            await room.moved("unrecoverable_failure" if decision == "abort" else expected)
    for choice in ("retry", "replan", "skip", "abort"):
        async with open_room(folder / choice) as room:
            await room.begin()
            room.hands.fail("a", "auth")
            await room.choose("task_failed", choice)
            if choice == "retry":
                await room.finish("a", "b")


async def refuse_and_retry(folder: Path) -> None:
    """A member refuses, is late, has no room, fails; then it takes the task, and its work is sent back once."""
    async with open_room(folder / "retried", max_attempts=5, reviewer=True) as room:
        room.hands.reasons = {"will": ["busy", "timeout", "no_resource"]}
        room.lead.verdicts = [False]
        await room.begin()
        room.hands.fail("a")
        await room.works("a", 2)
        await room.finish("a")
        await room.works("a", 3)
        await room.finish("a", "b")
        await room.sees("agent.final_answer")
    async with open_room(folder / "missing") as room:
        room.hands.reasons = {"will": ["no_resource"]}
        await room.say("other: a report")
        await room.approve()
        await room.asked("task_failed")


async def plan_without_asking(folder: Path) -> None:
    """A plan that needs no confirmation runs at once."""
    async with open_room(folder, confirm="never") as room:
        await room.say("other: a report")
        await room.works("a")


async def interrupt(folder: Path) -> None:
    """Pause by the button and by Esc, and every way on from there."""
    async with open_room(folder / "small") as room:
        await room.begin()
        await room.pause()
        await room.say("fine")
        await room.works("a")
        await room.pause(trigger="esc")
        await room.say("minor: another title")
        await room.works("a")
        for choice in ("continue", "minor_replan"):
            await room.pause()
            await room.say("major: a film")
            await room.choose("ask_replan", choice)
            await room.works("a")
    for word, code, choice in (("major", "ask_replan", "replan"), ("other", "ask_new_task", "close_and_start")):
        async with open_room(folder / word) as room:
            await room.begin()
            await room.pause()
            await room.say(f"{word}: a film")
            await room.choose(code, choice)
            await room.asked("confirm_plan")


async def chat(folder: Path) -> None:
    """Who has the floor in a chat, and every way to its end."""
    bob, carol = scripted("bob", "yours [NEXT: carol]"), scripted("carol", "done")
    mute = scripted("mute", ScriptEntry(hang=True))
    async with open_site(folder, make_team(human("alice"), bob, carol, mute, name="trio")) as site:
        for text, turns, commands in (
            ("[NEXT: bob] go", 2, [{"event": "user.end"}]),
            ("[NEXT: bob] go", 2, [{"event": "user.message", "content": "[DONE] thanks"}]),
            ("[NEXT: mute] go", 1, [{"event": "user.pause"}, {"event": "user.resume"}, {"event": "user.end"}]),
        ):
            session = await site.app.session(await site.create())
            for command in ({"event": "user.message", "content": text}, *commands):
                await has(site.app, session, "turn.started", 0 if command["event"] == "user.message" else turns)
                assert (await site.command(session.id, **command)).status_code == 200
            await has(site.app, session, "session.completed")


async def lose_links(folder: Path) -> None:
    """A client finds nobody; another one loses its link and gets it back; a third one gives up."""
    is_closed: list[bool] = []

    async def handle(visit: Visit) -> None:
        await visit.greet()
        if visit.number == 2:
            await visit.stay()

    def answer(connection: ServerConnection, request: Request) -> Response | None:
        return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, "") if is_closed else None

    async with fake_server(Visit.stay) as server:
        url = server.url
    with pytest.raises(Unreachable):
        async with connect(url, "secret", open_s=0.2):
            pass
    async with fake_server(handle, answer) as server:
        async with connect(server.url) as client:
            await until(lambda: server.visits == 2 and client.state is State.CONNECTED)
        async with connect(server.url, give_up_s=0.6) as client:
            is_closed.append(True)
            await until(lambda: client.state is State.DISCONNECTED)


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Walked:
    seen: Walked = {}
    with ExitStack() as stack:
        for machine in MACHINES:
            stack.enter_context(recorded(machine, seen))
        for story in STORIES:
            run(story)(tmp_path_factory.mktemp(story.__name__))
    return seen


STORIES = (say_everything, weigh_failures, refuse_and_retry, plan_without_asking, interrupt, chat, lose_links)


def test_every_trigger_is_fired_from_outside(walked: Walked, capsys: pytest.CaptureFixture[str]) -> None:
    """What people send over HTTP, what members do and what happens to a link fire all triggers of the seeds."""
    known = {machine.name: {str(row.trigger) for row in machine.rows if not row.extension} for machine in MACHINES}
    fired = {name: {trigger for _, trigger in walked.get(name, ())} & known[name] for name in known}
    with capsys.disabled():
        count, total = sum(map(len, fired.values())), sum(map(len, known.values()))
        print(f"\n{count} of {total} triggers fired over HTTP")
    assert {name: known[name] - fired[name] for name in known} == {name: set() for name in known}


@run
async def test_a_replan_over_a_running_task_ends_in_an_answer(tmp_path: Path) -> None:
    """Nothing is asked about the plan that was replaced, and the new one is done to its end."""
    async with open_room(tmp_path) as room:
        await room.begin()
        await room.send("user.replan", feedback="shorter")
        await room.approve()
        await room.works("a", 2)
        await room.finish("a", "b")
        await room.sees("agent.final_answer")
        asked = [fact.code for fact in await facts(room.site.app, room.session, StepAsked)]
        assert asked == ["confirm_plan", "confirm_plan"]
