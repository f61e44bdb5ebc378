"""`moot serve` in a process of its own, and a cable to it that can be cut."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

TEAM = """\
moot: 1
name: relay
flow: chat
language: en
members:
  - {id: alice, name: Alice, kind: human}
  - {id: adam, name: Adam, kind: human}
  - id: bob
    name: Bob
    kind: ai
    agent: {type: script, replies: [{delay_s: 0.02, steps: [{thought: hm}], text: "ping [NEXT: carol]"}]}
  - id: carol
    name: Carol
    kind: ai
    agent: {type: script, replies: [{delay_s: 0.02, text: "pong [NEXT: bob]"}]}
chat: {max_hops: 30}
"""
TOKEN = "token-of-the-tests"  # noqa: S105
STOP_S = 15.0  # it promises 10


class RealServer:
    """Started and killed at will; the first start finds a free port, later ones take it again."""

    def __init__(self, folder: Path, allowed: int) -> None:
        self.port = 0
        self._folder = folder
        self._arguments = ["--allow-host", f"127.0.0.1:{allowed}", "--data", str(folder / "data")]
        self._process: asyncio.subprocess.Process | None = None
        (folder / "team.yaml").write_text(TEAM, encoding="utf-8")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        arguments = [str(self._folder / "team.yaml"), "--port", str(self.port), *self._arguments]
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "moot.cli.main", "serve", *arguments),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, "MOOT_TOKEN": TOKEN},
        )
        assert self._process.stdout
        line = await self._process.stdout.readline()
        assert line.startswith(b"http"), line
        self.port = int(line.decode().rstrip("/\n").rpartition(":")[2])

    async def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.send_signal(how)
        try:
            async with asyncio.timeout(STOP_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
            raise AssertionError(f"the server did not stop within {STOP_S} s of {how.name}") from None


class Cable:
    """A TCP proxy; `cut` breaks whatever goes through it at that moment, in the middle of a frame or not."""

    def __init__(self) -> None:
        self.port = 0
        self.target = 0
        self.uses = 0
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.uses += 1
        self._writers.add(writer)
        try:
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            self._writers.discard(writer)
            return
        self._writers.add(there_writer)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._pump(reader, there_writer))
            tasks.create_task(self._pump(there_reader, writer))
        self._writers -= {writer, there_writer}

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(2048):
                writer.write(data)
                await writer.drain()
        writer.transport.abort()


@asynccontextmanager
async def real_server(folder: Path) -> AsyncIterator[tuple[RealServer, Cable]]:
    cable = Cable()
    async with await asyncio.start_server(cable.accept, "127.0.0.1", 0) as listening:
        cable.port = listening.sockets[0].getsockname()[1]
        server = RealServer(folder, cable.port)
        try:
            await server.start()
            cable.target = server.port
            yield server, cable
            cable.cut()
        finally:
            await server.stop()
