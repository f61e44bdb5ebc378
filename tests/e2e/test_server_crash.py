"""kill -9 of a server under load: every accepted command is there once, clients resume where they were.

MOOT_CRASH_ROUNDS says how often the server is killed; MOOT_CRASH_SEED repeats the moments of a run.
"""

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import websockets

from tests.cli.command import check_chain, texts
from tests.gateway.raw_socket import SMALL_BUFFER_BYTES, RawSocket
from tests.gateway.server import Peer, run, until

ROUNDS = min(int(os.environ.get("MOOT_CRASH_ROUNDS", "4")), 100)
SEED = int(os.environ.get("MOOT_CRASH_SEED", time.time_ns() % 1_000_000))
CLIENTS = 6
PACE_S = 0.06  # below the rate that a connection may have
TOKEN = "token-of-the-tests"  # noqa: S105
TEAM = """\
moot: 1
name: crash
language: en
members:
  - {id: alice, kind: human}
  - {id: bob, kind: ai, agent: {type: script, replies: [{delay_s: 0.01, steps: [{thought: hm}], text: "so it is"}]}}
"""


class Process:
    """`moot serve`, started again on the same port and folder as often as it is killed."""

    def __init__(self, folder: Path) -> None:
        self.port = 0
        self._team = folder / "team.yaml"
        self._team.write_text(TEAM, encoding="utf-8")
        self._data = folder / "data"
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        serve = ["serve", str(self._team), "--port", str(self.port), "--data", str(self._data)]
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "moot.cli.main", *serve),
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "MOOT_TOKEN": TOKEN},
        )
        assert self._process.stdout
        line = await self._process.stdout.readline()
        self.port = int(line.decode().rstrip("/\n").rpartition(":")[2])

    async def end(self, how: signal.Signals) -> int:
        """The exit code."""
        assert self._process
        self._process.send_signal(how)
        async with asyncio.timeout(60):
            return await self._process.wait()


class Talker:
    """Says one text after the other, each until it is accepted, and follows its session through every crash."""

    def __init__(self, process: Process, name: str) -> None:
        self._process = process
        self._name = name
        self.session_id: str | None = None
        self.lines: list[str] = []
        self.accepted: list[str] = []
        self.resumes = 0
        self.is_done = False
        self._last: dict[str, Any] = {"seq": 0, "hash": ""}

    async def talk(self) -> None:
        """Until it is told to be done."""
        while not self.is_done:
            try:
                await self._connect()
            except (OSError, websockets.WebSocketException, TimeoutError, EOFError):
                await asyncio.sleep(0.05)

    async def _connect(self) -> None:
        url = f"ws://127.0.0.1:{self._process.port}/ws?token={TOKEN}&batch=1"
        async with websockets.connect(url, max_queue=None, proxy=None) as link:
            peer = Peer(link)
            await self._join(peer)
            while not self.is_done:
                said = f"{self._name} {len(self.accepted) + 1}"
                fields = {"session_id": self.session_id, "content": f"[NEXT: bob] {said}", "command_id": said}
                await peer.send("user.message", **fields)
                while (frame := await self._take(peer))["event"] != "system.accepted":
                    assert frame["event"] not in ("agent.error", "system.error"), frame
                assert frame["metadata"]["command_id"] == said
                self.accepted.append(said)
                await asyncio.sleep(PACE_S)

    async def _join(self, peer: Peer) -> None:
        await peer.next()
        if self.session_id is None:
            await peer.send("user.create_session", command_id=f"create {self._name}")
            while (frame := await self._take(peer))["event"] != "system.accepted":
                pass
            self.session_id = frame["session_id"]
            return
        answer = await peer.resume(self.session_id, self._last["seq"], self._last["hash"])
        assert answer["metadata"]["resumed"] is True, answer
        self.resumes += 1

    async def _take(self, peer: Peer) -> dict[str, Any]:
        """The next frame; what it is an event of is kept if it is the next one."""
        frame = await peer.next()
        if "seq" in frame:
            session_id = frame["session_id"]
            if frame["seq"] == 1 and self._last["seq"]:
                return frame  # the same session, created again by the same command
            assert frame["seq"] == self._last["seq"] + 1
            self.lines.append(peer.lines[session_id][sum("seq" in each for each in peer.frames) - 1])
            self._last = frame
        return frame


async def read_log(process: Process, session_id: str) -> list[str]:
    async with websockets.connect(f"ws://127.0.0.1:{process.port}/ws?token={TOKEN}", proxy=None) as link:
        peer = Peer(link)
        await peer.ask("user.reconnect", session_id=session_id)
        await peer.send("user.request_state", session_id=session_id)
        await peer.until("agent.state_exported")  # its answer waits for the replay
        return peer.lines[session_id]


@run
async def test_kill_under_load(tmp_path: Path) -> None:
    """The server is killed and started again and again while clients talk: accepted is there, once, in order."""
    chance = random.Random(SEED)  # noqa: S311 - it must be repeatable, not secret
    print(f"MOOT_CRASH_SEED={SEED}")
    process = Process(tmp_path)
    await process.start()
    talkers = [Talker(process, f"talker{n}") for n in range(CLIENTS)]
    async with asyncio.TaskGroup() as tasks:
        for talker in talkers:
            tasks.create_task(talker.talk())
        for _ in range(ROUNDS):
            before = sum(len(talker.accepted) for talker in talkers)
            await until(lambda before=before: sum(len(each.accepted) for each in talkers) > before + 2 * CLIENTS)  # type: ignore[misc]
            await asyncio.sleep(chance.uniform(0, 0.2))
            assert await process.end(signal.SIGKILL) == -signal.SIGKILL
            await process.start()
        counts = [len(talker.accepted) for talker in talkers]
        await until(lambda: all(len(each.accepted) > n + 1 for each, n in zip(talkers, counts, strict=True)))
        for talker in talkers:
            talker.is_done = True
    for talker in talkers:
        assert talker.session_id
        log = await read_log(process, talker.session_id)
        check_chain(log)
        frames = [json.loads(line) for line in log]
        assert [frame["seq"] for frame in frames] == list(range(1, len(frames) + 1))
        assert texts(frames, "alice") == talker.accepted
        assert talker.lines == log[: len(talker.lines)]  # what it saw, through all crashes, without a hole or a double
        starts = Counter(frame["metadata"]["turn_id"] for frame in frames if frame["event"] == "turn.started")
        assert set(starts.values()) == {1}
        assert talker.resumes >= ROUNDS
    assert await process.end(signal.SIGTERM) == 0


@run
async def test_a_stalled_reader_does_not_hold_up_the_end(tmp_path: Path) -> None:
    """SIGTERM tells everybody (1012) and exits with 0 within 10 s; who does not read takes none of it."""
    process = Process(tmp_path)
    await process.start()
    async with websockets.connect(f"ws://127.0.0.1:{process.port}/ws?token={TOKEN}", proxy=None) as link:
        peer = Peer(link)
        session_id = await peer.create()
        raws = [await RawSocket.open(process.port, TOKEN, receive_bytes=SMALL_BUFFER_BYTES) for _ in range(3)]
        for raw in raws:
            await raw.say("user.reconnect", session_id=session_id)
        for _ in range(30):
            await peer.send("user.message", session_id=session_id, content="[NEXT: alice] " + "x" * 190_000)
        await peer.ask("user.request_state", session_id=session_id)
        started = time.monotonic()
        ending = asyncio.create_task(process.end(signal.SIGTERM))
        assert await peer.closed_with() == 1012
        assert await ending == 0
        assert time.monotonic() - started < 5
    for raw in raws:
        raw.shut()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
@run
async def test_a_stop_with_a_live_turn(tmp_path: Path, how: signal.Signals) -> None:
    """A turn that runs is parked, not failed, and goes on at the next start."""
    (tmp_path / "slow").mkdir()
    process = Process(tmp_path / "slow")
    slow = TEAM.replace("delay_s: 0.01", "delay_s: 1.0")
    (tmp_path / "slow" / "team.yaml").write_text(slow, encoding="utf-8")
    await process.start()
    url = f"ws://127.0.0.1:{process.port}/ws?token={TOKEN}"
    async with websockets.connect(url, proxy=None) as link:
        peer = Peer(link)
        session_id = await peer.create()
        await peer.send("user.message", content="[NEXT: bob] go")
        seq = (await peer.until("turn.started"))[-1]["seq"]
        ending = asyncio.create_task(process.end(how))
        assert await peer.closed_with() == 1012
        assert await ending == 0
    await process.start()
    async with websockets.connect(url, proxy=None) as link:
        peer = Peer(link)
        await peer.next()
        await peer.resume(session_id, seq)
        frames = await peer.until("session.paused")
        assert [frame["event"] for frame in frames].count("turn.completed") == 1
        assert "turn.failed" not in [frame["event"] for frame in frames]
    assert await process.end(signal.SIGTERM) == 0
