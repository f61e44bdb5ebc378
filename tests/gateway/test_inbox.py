"""What needs people: in the list of sessions, and over all sessions in the inbox."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from moot.core.errors import AgentError, LogError
from moot.core.flows.turns import TurnInput
from moot.core.session.principal import Role
from moot.runtime import waiting_list
from moot.runtime.ports import Ask, Output, Result, Summary
from moot.runtime.snapshots import load_state
from moot.runtime.summaries import find_need
from moot.testing import task
from tests.gateway.sites import DUO, OWNER, SOLO, Site, events, open_site
from tests.runtime.apps import has, run
from tests.runtime.plans import Hands, crew, planning, plays

PLAN = crew(planning(task("a"), task("b", "a")), plays("will"))
ELSEWHERE = "s_0000000000000000"


class Asker:
    """Asks for a permission before it answers."""

    async def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        raise NotImplementedError
        yield Result(text=turn.turn_id)

    async def act_asking(self, _turn: TurnInput, ask: Ask) -> AsyncGenerator[Output, None]:
        yield Result(text=f"it is {await ask('May I delete the file?')}")


async def needs(site: Site, session_id: str) -> Any:
    async with site.client() as client:
        entries = (await client.get("/api/sessions")).json()
    return next(entry["needs"] for entry in entries if entry["session_id"] == session_id)


async def read(site: Site, token: str = OWNER, **query: str) -> list[Any]:
    async with site.client(token) as client:
        answer = await client.get("/api/inbox", params=query)
    assert answer.status_code == 200, answer.text
    items: list[Any] = answer.json()["items"]
    return items


async def time_of(site: Site, session_id: str, event: str) -> str:
    """The timestamp of the last such event."""
    return str([frame["timestamp"] for frame in await events(site, session_id) if frame["event"] == event][-1])


def summary(**fields: Any) -> Summary:
    known: dict[str, Any] = {
        "title": "", "team": "duo", "flow": "chat", "status": "paused", "waiting_for": "alice", "busy": False
    }  # fmt: skip
    return msgspec.convert({**known, **fields}, Summary)


@pytest.mark.parametrize(
    ("fields", "need"),
    [
        ({"pause_reason": "fallback"}, "your_turn"),
        ({"pause_reason": "hop_limit"}, "your_turn"),
        ({}, "your_turn"),
        ({"pause_reason": "agent_error"}, "failed"),
        ({"pause_reason": "agent_timeout"}, "failed"),
        ({"pause_reason": "user_pause"}, "paused"),
        ({"pause_reason": "stopped"}, "paused"),
        ({"pause_reason": "budget"}, "paused"),
        ({"pause_reason": "finished"}, "finished"),
        ({"pause_reason": "step", "asks": "plan"}, "plan"),
        ({"pause_reason": "step", "asks": "decision"}, "question"),
        ({"pause_reason": "step", "asks": "ask_user"}, "question"),
        ({"status": "active", "waiting_for": None, "asks": "tool"}, "permission"),
        ({"status": "active", "waiting_for": None}, None),
        ({"waiting_for": None}, None),
        ({"status": "completed", "pause_reason": "finished", "asks": "plan"}, None),
    ],
)
def test_what_a_session_needs(fields: dict[str, Any], need: str | None) -> None:
    """It follows from the summary: an open question first, else why the session stands still, if it waits for one."""
    assert find_need(summary(**fields)) == need


def test_an_old_summary_still_says_what_it_can() -> None:
    """Summaries that were stored before questions were counted decode; the floor is known from them."""
    old = b'{"title":"","team":"duo","flow":"chat","status":"paused","waiting_for":"alice","busy":false}'
    assert find_need(msgspec.json.decode(old, type=Summary)) == "your_turn"


@run
async def test_a_floor_waits(tmp_path: Path) -> None:
    """A session that nobody spoke in needs nobody; then it is somebody's turn, since the session paused."""
    async with open_site(tmp_path, SOLO) as site:
        session_id = await site.create(title="Poster")
        assert (await needs(site, session_id), await read(site)) == (None, [])
        await site.command(session_id, "user.message", content="hi [NEXT: bob]")
        await has(site.app, await site.app.session(session_id), "session.paused")
        assert await needs(site, session_id) == "your_turn"
        floor = {"session_id": session_id, "title": "Poster", "kind": "your_turn", "step_id": None, "question": None}
        since = await time_of(site, session_id, "session.paused")
        blocks = {"kind": "session", "name": ""}
        assert await read(site) == [{**floor, "options": [], "blocks": blocks, "since": since}]
        await site.command(session_id, "user.rename", title="Poster")  # does not make it younger
        assert [item["since"] for item in await read(site)] == [since]
        await site.command(session_id, "user.end")
        assert (await needs(site, session_id), await read(site)) == (None, [])


@run
async def test_a_plan_waits(tmp_path: Path) -> None:
    """A plan is to be confirmed: text and options in the reader's language, until it is answered; over a restart."""
    async with open_site(tmp_path, PLAN, agents={"will": Hands()}) as site:
        session_id = await site.create()
        await site.command(session_id, "user.message", content="make a deck")
        await has(site.app, await site.app.session(session_id), "agent.user_confirm")
        assert await needs(site, session_id) == "plan"
    async with open_site(tmp_path, PLAN, agents={"will": Hands()}) as site:
        assert await needs(site, session_id) == "plan"
        [item] = await read(site, lang="en")
        async with site.client() as client:
            state = (await client.get(f"/api/sessions/{session_id}", params={"lang": "en"})).json()["state"]
        [question] = state["questions"]
        assert (item["kind"], item["step_id"]) == ("plan", question["step_id"])
        assert (item["question"], item["options"]) == (question["text"], question["options"])
        assert item["blocks"] == {"kind": "session", "name": ""}
        assert item["since"] == await time_of(site, session_id, "agent.user_confirm")
        [in_chinese] = await read(site, lang="zh")
        assert in_chinese["question"] != item["question"]
        await site.command(session_id, "user.response", step_id=item["step_id"], confirmed=True)
        await has(site.app, await site.app.session(session_id), "solver.start")
        assert (await needs(site, session_id), await read(site)) == (None, [])


@run
async def test_a_permission_waits(tmp_path: Path) -> None:
    """A worker that asks holds up its own turn, and says so; every person may answer."""
    async with open_site(tmp_path, DUO, agents={"bob": Asker()}) as site:
        session_id = await site.create()
        await site.command(session_id, "user.message", content="[FROM: alice] tidy up [NEXT: bob]")
        await has(site.app, await site.app.session(session_id), "agent.user_confirm")
        assert await needs(site, session_id) == "permission"
        eve, _ = site.issue(Role.MEMBER, session_id=session_id, member="eve")
        [item] = await read(site, eve)
        assert (item["kind"], item["question"]) == ("permission", "bob asks for permission: May I delete the file?")
        assert item["blocks"] == {"kind": "turn", "name": "bob"}
        assert [option["id"] for option in item["options"]] == ["allow", "reject"]
        assert item["since"] == await time_of(site, session_id, "agent.user_confirm")


@run
async def test_a_failure_waits(tmp_path: Path) -> None:
    """An AI that failed is told from one that has answered."""

    async def fail(_turn: TurnInput) -> str:
        raise AgentError("auth", "no key")

    async with open_site(tmp_path, SOLO, agents={"bob": fail}) as site:
        session_id = await site.create()
        await site.command(session_id, "user.message", content="hi [NEXT: bob]")
        await has(site.app, await site.app.session(session_id), "session.paused")
        assert await needs(site, session_id) == "failed"
        assert [item["kind"] for item in await read(site)] == ["failed"]


@run
async def test_whom_it_waits_for(tmp_path: Path) -> None:
    """A member is told of its own floors; a token for one session, a viewer's too, of that session alone."""
    async with open_site(tmp_path, DUO) as site:
        for_eve, for_alice = await site.create(), await site.create()
        await site.command(for_eve, "user.message", content="[FROM: alice] your turn [NEXT: eve]")
        await site.command(for_alice, "user.message", content="[FROM: eve] your turn [NEXT: alice]")
        expected = {
            site.issue(Role.OWNER)[0]: [for_eve, for_alice],
            site.issue(Role.VIEWER)[0]: [for_eve, for_alice],
            site.issue(Role.MEMBER, member="eve")[0]: [for_eve],
            site.issue(Role.MEMBER, member="alice")[0]: [for_alice],
            site.issue(Role.MEMBER, session_id=for_alice, member="eve")[0]: [],
            site.issue(Role.VIEWER, session_id=for_alice)[0]: [for_alice],
            site.issue(Role.VIEWER, session_id=ELSEWHERE)[0]: [],
        }
        for token, sessions in expected.items():
            assert {item["session_id"] for item in await read(site, token)} == set(sessions)
        async with site.client(None) as nobody:
            assert (await nobody.get("/api/inbox")).status_code == 401


@run
async def test_the_inbox_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Oldest first and no more than so many; open questions are never cut off in favour of floors."""
    monkeypatch.setattr(waiting_list, "ITEMS", 2)
    async with open_site(tmp_path, DUO, agents={"bob": Asker()}, message_burst=1_000) as site:
        made = [await site.create() for _ in range(4)]
        await site.command(made[0], "user.message", content="[FROM: alice] tidy up [NEXT: bob]")
        await has(site.app, await site.app.session(made[0]), "agent.user_confirm")
        for session_id in made[1:]:
            await asyncio.sleep(0.002)  # so that none is as old as another
            await site.command(session_id, "user.message", content="[FROM: alice] hi [NEXT: alice]")
        listed = [(item["session_id"], item["kind"]) for item in await read(site)]
        assert listed == [(made[0], "permission"), (made[3], "your_turn")]


@run
async def test_the_inbox_folds_what_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that stands still is read once, however often the inbox is asked for."""
    loads: list[str] = []

    async def load(log: Any, which: str) -> Any:
        loads.append(which)
        return await load_state(log, which)

    monkeypatch.setattr(waiting_list, "load_state", load)
    async with open_site(tmp_path, SOLO) as site:
        first, second = await site.create(), await site.create()
        for session_id in (first, second):
            await site.command(session_id, "user.message", content="[FROM: alice] hi [NEXT: alice]")
        for _ in range(3):
            assert len(await read(site)) == 2
        assert sorted(loads) == sorted([first, second])
        await site.command(first, "user.rename", title="New")
        assert [item["title"] for item in await read(site) if item["session_id"] == first] == ["New"]
        assert loads[2:] == [first]


@run
async def test_a_damaged_session_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be read is left out; the rest of the inbox is there."""
    async with open_site(tmp_path, SOLO) as site:
        damaged, sound = await site.create(), await site.create()
        for session_id in (damaged, sound):
            await site.command(session_id, "user.message", content="[FROM: alice] hi [NEXT: alice]")

        async def load(log: Any, which: str) -> Any:
            if which == damaged:
                raise LogError("damaged")
            return await load_state(log, which)

        monkeypatch.setattr(waiting_list, "load_state", load)
        assert [item["session_id"] for item in await read(site)] == [sound]
