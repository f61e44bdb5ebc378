"""A member whose program stays between its turns. A stand-in plays the program (`stand_in.py`)."""

import asyncio
import shutil
import sys
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
from msgspec.structs import replace

from moot.agents import member_sockets
from moot.agents.agent_type import Seat
from moot.agents.cli.cli_agent import CliAgent
from moot.agents.live.live_member import LiveMember
from moot.agents.live.pool import LinkPool
from moot.agents.member_sockets import MemberSockets, has_library
from moot.agents.run_environment import RunEnvironment
from moot.app import open_app
from moot.config.team_file import MemberSpec
from moot.core.session.commands import CancelTurn
from moot.core.session.team import Kind
from moot.runtime.clock import SystemClock
from moot.runtime.desk import EmptyDesk
from moot.runtime.ports import Output, Result, Step
from moot.testing import human, make_team
from tests.agents.programs import nothing_left
from tests.agents.turns import chat_turn
from tests.runtime.apps import has, run, say, until


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a program `claude`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    shutil.copy(Path(__file__).with_name("stand_in.py"), folder / "stand_in.py")
    file = folder / "claude"
    file.write_text(f'#!/bin/sh\nexec {sys.executable} -IS {folder}/stand_in.py "$@"\n')
    file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    with nothing_left():
        yield folder


def make_member(pool: LinkPool, sockets: MemberSockets | None = None) -> LiveMember:
    environment = RunEnvironment(pool=pool, sockets=sockets)
    seat = Seat(instructions="", run_environment=environment, clock=SystemClock())
    member = CliAgent(preset="claude").make(seat)
    assert isinstance(member, LiveMember)
    return member


async def play(member: LiveMember, *said: str) -> list[Output]:
    turn = chat_turn(*[("alice", text) for text in said])
    async with aclosing(member.act(turn)) as outputs:
        return [output async for output in outputs]


def texts(outputs: list[Output]) -> list[str]:
    return [output.text for output in outputs if isinstance(output, Result)]


def steps(outputs: list[Output]) -> str:
    return "\n".join(output.observation or "" for output in outputs if isinstance(output, Step))


@run
async def test_a_program_that_died_unnoticed_is_resumed() -> None:
    """A kept program that ends before it tells anything of a turn is started again, once, and people see it."""
    async with LinkPool(SystemClock()) as pool:
        member = make_member(pool)
        assert texts(await play(member, "hello")) == ["--session-id"]
        outputs = await play(member, "hello", "END")
        assert texts(outputs) == ["--resume"]
        assert "it is started again" in steps(outputs)


@run
async def test_a_turn_that_is_cancelled_is_counted(tmp_path: Path) -> None:
    """The program is asked to end its prompt and says what it cost; that is logged after the turn was cancelled."""
    bob = MemberSpec(id="bob", kind=Kind.AI, agent=CliAgent(preset="claude"))
    async with open_app(make_team(human("alice"), bob), folders={"test": tmp_path}) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] WORK"))
        await has(app, session, "turn.step")
        await session.submit(CancelTurn())
        await saying
        await has(app, session, "turn.spent")
        assert (await session.state()).spent_by_member["bob"].tokens == 12


@pytest.mark.parametrize("is_silent", [False, True])
@run
async def test_a_conversation_that_the_agent_lost_begins_anew(program: Path, is_silent: bool) -> None:
    """Whether it says so in a result or ends at once: the member is told everything again, once."""
    async with LinkPool(SystemClock()) as pool:
        member = make_member(pool)
        assert texts(await play(member, "hello")) == ["--session-id"]
        (program / "LOST").touch()
        if is_silent:
            (program / "SILENT").touch()
        assert texts(await play(member, "hello", "END")) == ["--session-id"]


@pytest.mark.skipif(not has_library(), reason="no mcp")
@run
async def test_the_socket_of_the_tools_ends_with_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions that wait for people hold nothing open: there are as many sockets as programs."""
    monkeypatch.setattr(member_sockets, "LISTED_S", 0.0)  # the stand-in asks for no tools
    sockets = MemberSockets()
    async with LinkPool(SystemClock(), max_processes=2) as pool:
        member = make_member(pool, sockets)
        for number in range(5):
            turn = replace(chat_turn(("alice", "hello")), session_id=f"s{number}")
            async with aclosing(member.act_asking(turn, EmptyDesk())) as outputs:
                assert texts([output async for output in outputs]) == ["--session-id"]
        await until(lambda: len(list(sockets.root.iterdir())) == pool.count == 2)
    assert list(sockets.root.iterdir()) == []
    await sockets.close()
