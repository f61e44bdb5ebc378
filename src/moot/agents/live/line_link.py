"""The half of a link that reads JSON lines from a program and writes them to it."""

import asyncio
import json
from abc import abstractmethod
from collections.abc import Coroutine
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

from moot.agents.cli.lines import Json, JsonLines
from moot.agents.live.link import Link, Setup
from moot.agents.process import Child
from moot.core.errors import AgentError


class LineLink(Link):
    """Numbers requests and matches answers to them. Every line of the protocol contains `key`."""

    key: str | None = None

    def __init__(self, child: Child, setup: Setup, folder: Path) -> None:
        super().__init__(child, setup, folder)
        self._lines = JsonLines(self.key)
        self._answers: dict[str, asyncio.Future[Any]] = {}
        self._turn: asyncio.Future[None] | None = None  # set when the running prompt is over
        self._tasks: set[asyncio.Task[None]] = set()
        self._count = 0
        self._reading = asyncio.create_task(self._read())

    async def close(self) -> None:
        self._reading.cancel()
        for task in self._tasks:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await self._reading

    async def write(self, message: Json) -> None:
        if self.child.has_ended:
            raise ConnectionError("the program has ended")
        self.child.writer.write(json.dumps(message, ensure_ascii=False).encode(errors="replace") + b"\n")
        await self.child.writer.drain()

    @abstractmethod
    def receive(self, message: Json) -> None:
        """Handle one message of the program."""

    def expect(self, request_id: str) -> "asyncio.Future[Any]":
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._answers[request_id] = future
        return future

    def resolve(self, request_id: str, answer: object) -> None:
        future = self._answers.pop(request_id, None)
        if future and not future.done():
            future.set_result(answer)

    def begin_turn(self) -> "asyncio.Future[None]":
        self._turn = asyncio.get_running_loop().create_future()
        return self._turn

    @property
    def is_prompted(self) -> bool:
        """Whether a prompt is under way."""
        return self._turn is not None and not self._turn.done()

    def end_turn(self) -> None:
        if self._turn and not self._turn.done():
            self._turn.set_result(None)

    def spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Answer a request of the program in the background, so that its next messages are read meanwhile."""
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _read(self) -> None:
        failure: Exception = ConnectionError("the program has ended")
        try:
            async with aclosing(self.child.chunks()) as chunks:
                async for chunk in chunks:
                    for message in self._lines.feed(chunk):
                        self.receive(message)
        except AgentError as error:
            failure = error
        finally:
            for future in (*self._answers.values(), *([self._turn] if self._turn else [])):
                if not future.done():
                    future.set_exception(failure)
                    future.exception()  # nobody may be waiting
