"""What a program with a worker's token may make the server hold and show: it need not be `moot worker`."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from moot.gateway import workers
from moot.protocol.worker_frames import (
    MORE,
    PATH,
    Assembly,
    FileReply,
    FromWorker,
    GetFile,
    Hello,
    OfferJob,
    ToWorker,
    Welcome,
    encode,
    read_to_worker,
)
from moot.runtime.worker_jobs import LocalJobs, WorkerCard
from moot.testing import VirtualClock
from tests.runtime.apps import run
from tests.worker.crews import FAR_PAIR, POOL, ServedNode, make_token, served
from tests.worker.test_worker import post

HELLO = Hello(worker="w", name="w", pools=(POOL,), teams=(FAR_PAIR.name,), at_once=1)


class _Stranger:
    """A client that speaks the protocol of workers by itself."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def send(self, frame: FromWorker) -> None:
        for message in encode(frame):
            await self._socket.send(message)

    async def next(self) -> ToWorker:
        assembly, text = Assembly(), None
        async with asyncio.timeout(30):
            while text is None:
                text = assembly.take(str(await self._socket.recv()))
        return read_to_worker(text)

    async def hear(self, kind: type[Any]) -> Any:
        while not isinstance(frame := await self.next(), kind):
            pass
        return frame

    async def closed_with(self) -> tuple[int, str]:
        async with asyncio.timeout(30):
            try:
                while True:
                    await self._socket.recv()
            except ConnectionClosed as closed:
                return (closed.rcvd.code, closed.rcvd.reason) if closed.rcvd else (1006, "")


@asynccontextmanager
async def stranger(node: ServedNode, token: str) -> AsyncIterator[_Stranger]:
    headers = {"authorization": f"Bearer {token}"}
    url = node.url.replace("http", "ws") + PATH
    async with connect(url, additional_headers=headers, proxy=None, max_size=None, max_queue=1) as socket:
        yield _Stranger(socket)


@run
async def test_a_worker_that_does_not_read_is_handed_one_file_at_a_time(tmp_path: Path) -> None:
    """However many it asks for: each would be in the server's memory until it is read."""
    got = 0
    async with served(tmp_path, FAR_PAIR) as node, stranger(node, make_token(tmp_path, POOL)) as worker:
        read = node.app.log.get_file

        async def counting(session_id: str, sha256: str) -> bytes | None:
            nonlocal got
            got += 1
            return await read(session_id, sha256)

        node.app.log.get_file = counting  # type: ignore[method-assign]
        session = await node.app.session()
        file = await node.app.files.put(session.id, b"x" * 8_000_000, "long.txt")
        await worker.send(HELLO)
        await session.submit(post("[NEXT: bob] hello"))
        job = await worker.hear(OfferJob)
        for number in range(12):
            await worker.send(GetFile(request=number, job=job.job, attempt=job.attempt, sha256=file.sha256))
        for answered in range(12):
            assert (await worker.hear(FileReply)).request == answered
            assert got <= answered + 3


@pytest.mark.parametrize(
    "hello",
    [
        replace(HELLO, name="\x1b]0;mine\x07"),
        replace(HELLO, name="w\nERROR the log is damaged"),
        replace(HELLO, worker="w\u202e"),
        replace(HELLO, pools=(POOL, "\x1b[2J")),
        replace(HELLO, teams=("\x9b2J",)),
        replace(HELLO, teams=("t",) * 501),
    ],
)
@run
async def test_names_of_a_worker_can_be_shown(tmp_path: Path, hello: Hello, caplog: pytest.LogCaptureFixture) -> None:
    """They come into logs and terminals of others. One that cannot is refused, in a line of plain text."""
    async with served(tmp_path, FAR_PAIR) as node, stranger(node, make_token(tmp_path, POOL)) as worker:
        await worker.send(hello)
        code, reason = await worker.closed_with()
    assert code == 4400
    assert reason.isprintable()
    lines = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(lines) == 1
    assert lines[0].isprintable()


@run
async def test_a_worker_is_told_that_a_pool_is_not_its_own(tmp_path: Path) -> None:
    """However long the pool's name is: the reason is cut to what a close frame takes."""
    async with served(tmp_path, FAR_PAIR) as node, stranger(node, make_token(tmp_path, POOL)) as worker:
        await worker.send(replace(HELLO, pools=("很" * 90,)))
        code, reason = await worker.closed_with()
    assert code == 4403
    assert reason.startswith("this token is not for pool 很")


@run
async def test_unfinished_frames_of_all_workers_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sends the part that is too much is sent away, and what was held for it is room for others."""
    monkeypatch.setattr(workers, "UNFINISHED_CHARS", 100_000)
    async with served(tmp_path, FAR_PAIR) as node:
        token = make_token(tmp_path, POOL)
        async with stranger(node, token) as one, stranger(node, token) as two:
            for name, each in (("one", one), ("two", two)):
                await each.send(replace(HELLO, worker=name))
                await each.hear(Welcome)
                await each._socket.send(MORE + "x" * 60_000)
            closing = [asyncio.create_task(each.closed_with()) for each in (one, two)]
            [ended], _ = await asyncio.wait(closing, return_when=asyncio.FIRST_COMPLETED)
            assert ended.result() == (4400, "the server holds too many unfinished frames")
            async with stranger(node, token) as three:
                await three.send(replace(HELLO, worker="three"))
                await three.hear(Welcome)
            for task in closing:
                task.cancel()


@run
async def test_workers_that_are_gone_are_forgotten() -> None:
    """One that connects under ever new names leaves no more behind than its lease lasts."""
    clock = VirtualClock()
    jobs = LocalJobs(clock, lease_s=30.0)
    for number in range(100):
        await jobs.greet(WorkerCard(id=f"w{number}", name="w", pools=(POOL,), teams=("pair",)), [])
        await clock.advance(10.0)
    assert len(jobs._workers) <= 5
