"""`moot chat --plain`: a session as appended lines, with one line of input for each message.

A line that names an option of the open question, or says yes or no to it, answers it; any line does if the question
asks for text. Lines from a pipe wait until a human has the floor, and the end of the input ends the command once the
work is done. A person at a terminal gets a prompt, does not see their own lines again, and can leave at any time.
"""

import asyncio
import sys
from argparse import Namespace
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from threading import Thread
from typing import Any

from moot.cli import exits
from moot.cli.hosting import LineSession, opened
from moot.cli.leaving import resume_command, say_where
from moot.cli.prompt import Prompt
from moot.cli.terminal import is_terminal, sizes
from moot.core.codec import Event
from moot.core.errors import Refused
from moot.core.machines.connection import State as Connection
from moot.core.machines.session import Status
from moot.core.session.commands import Post
from moot.core.session.notices import explain
from moot.core.session.team import DEFAULT_LANGUAGE, Language
from moot.core.session.typed_answers import read_answer
from moot.protocol.happenings import Moved
from moot.telling.teller import Teller
from moot.tui.words import Words

SHOWN_LINES = 40  # of the history, when a session is opened again


async def run_lines(options: Namespace) -> int:
    async with opened(options) as (host, session, is_new):
        mode = LineMode(session, options.speaks_as)
        if not options.plain and is_terminal():
            print(Words((await session.view()).language)("line.small", **sizes()), file=sys.stderr)
        link_task = asyncio.create_task(mode.tell_link(host.moves()))
        try:
            return await mode.run(is_new=is_new)
        finally:
            await _cancel(link_task)
            if not mode.is_over:
                say_where(session.id, resume_command(session.id, options), Words(mode.language))


class LineMode:
    def __init__(self, session: LineSession, speaks_as: str | None) -> None:
        self._session = session
        self._speaks_as = speaks_as
        self._teller = Teller()
        self._prompt = Prompt(speaks_as)
        self._seq = 0  # shown so far
        self._accepted_seq = 1
        self._refusals = 0
        self._is_typed = sys.stdin.isatty()

    async def run(self, *, is_new: bool) -> int:
        print(f"session {self._session.id}", file=sys.stderr, flush=True)
        self._prompt.greet(await self._session.view())
        if not is_new:
            await self._recall()
        try:
            await self._talk()
        finally:
            self._prompt.close()
        return exits.FAILED if self._refusals and not self._is_typed else exits.OK

    async def _talk(self) -> None:
        lines, is_ended = read_lines(), False
        line: asyncio.Task[str | None] | None = None
        async with aclosing(self._session.follow(self._seq)) as batches:
            batch = asyncio.create_task(_next(batches))
            try:
                while not (self.is_over or (is_ended and (self._is_typed or self._is_settled))):
                    self._ask_for_a_line()
                    if line is None and not is_ended and (self._is_typed or self._is_settled or self._is_asked):
                        line = asyncio.create_task(lines.get())
                    await asyncio.wait([batch, *([line] if line else [])], return_when=asyncio.FIRST_COMPLETED)
                    if batch.done():
                        self._show(batch.result())
                        batch = asyncio.create_task(_next(batches))
                    if line and line.done():
                        text, line = line.result(), None
                        is_ended = text is None
                        await self._say(text)
            finally:  # also after Ctrl-C: the tasks must not outlive the generator they read from
                await _cancel(batch, line)

    async def tell_link(self, moves: AsyncIterator[Moved]) -> None:
        """Print when the connection to the server is lost, and when it is back."""
        is_there = was_there = False
        async for moved in moves:
            if (moved.state is Connection.CONNECTED) == is_there:
                continue
            is_there = not is_there
            if was_there:
                self._prompt.close()
                sign, word = ("●", "live.back") if is_there else ("◌", "live.lost")
                print(f"{sign} {Words(self.language)(word)}", file=sys.stderr, flush=True)
                self._ask_for_a_line()
            was_there = True

    async def _recall(self) -> None:
        """Print the end of the history."""
        lines: list[str] = []
        async for event in self._session.history():
            lines += self._teller.lines(event.fact)
            self._seq = event.seq
        print("\n".join(lines[-SHOWN_LINES:]), flush=True)

    def _ask_for_a_line(self) -> None:
        if self._teller.state and not self.is_over and (self._is_settled or self._is_asked):
            self._prompt.open(self._teller.state)

    @property
    def _is_settled(self) -> bool:
        state = self._teller.state
        return state is not None and state.is_settled and self._seq >= self._accepted_seq

    @property
    def _is_asked(self) -> bool:
        """Whether a worker waits for an answer in the middle of its turn."""
        state = self._teller.state
        return state is not None and any(step.turn_id for step in state.open_steps.values())

    @property
    def language(self) -> Language:
        state = self._teller.state
        return state.language if state else DEFAULT_LANGUAGE

    @property
    def is_over(self) -> bool:
        state = self._teller.state
        return state is not None and state.status is Status.COMPLETED

    def _show(self, events: list[Event]) -> None:
        for event in events:
            lines = self._teller.lines(event.fact)
            assert self._teller.state is not None  # noqa: S101 - it has just folded an event
            for line in self._prompt.lines(event.fact, lines, self._teller.state):
                self._prompt.close()
                print(line, flush=True)
        self._seq = events[-1].seq

    async def _say(self, line: str | None) -> None:
        if line is None:
            return
        self._prompt.take()
        if not line.strip():
            return
        view = await self._session.view()
        question = next(iter(view.questions), None)
        if not (question and read_answer(question, line)):  # an answer is shown as the session tells it
            self._prompt.expect(line)
        step_id = question.step_id if question else None
        try:
            post = Post(text=line, by=self._speaks_as, step_id=step_id)
            self._accepted_seq = (await self._session.submit(post)).seq
        except Refused as refusal:
            self._refusals += 1
            print(f"moot: {explain(refusal, view.language)}", file=sys.stderr, flush=True)


def read_lines() -> "asyncio.Queue[str | None]":
    """Return a queue of the lines of standard input, with None at its end. A daemon thread reads, as that may block."""
    lines: asyncio.Queue[str | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def put(line: str | None) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(lines.put_nowait, line)

    def read() -> None:
        for line in sys.stdin:
            put(line.rstrip("\n"))
        put(None)

    Thread(target=read, daemon=True).start()
    return lines


async def _next(batches: AsyncGenerator[list[Event], None]) -> list[Event]:
    return await anext(batches)


async def _cancel(*tasks: "asyncio.Task[Any] | None") -> None:
    for task in tasks:
        if task and not task.done():
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
