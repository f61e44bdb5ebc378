"""`moot chat --plain`: a session as appended lines, with one line of input for each message.

A line that names an option of the open question, or says yes or no to it, answers it; any line does if the question
asks for text. Lines from a pipe wait until a human has the floor, and the end of the input ends the command once the
work is done. A person at a terminal gets a prompt, does not see their own lines again, and can leave at any time.
"""

import asyncio
import sys
from argparse import Namespace
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, suppress
from threading import Thread
from time import monotonic
from typing import Any

from moot.cli import exits
from moot.cli.hosting import LineSession, check_speaker, opened
from moot.cli.leaving import resume_command, say_where
from moot.cli.prompt import Prompt
from moot.cli.terminal import is_terminal, sizes
from moot.cli.user_settings import read_settings
from moot.core.codec import Event
from moot.core.errors import MootError, Refused
from moot.core.machines.connection import State as Connection
from moot.core.machines.session import Status
from moot.core.session.commands import Post
from moot.core.session.events import MessagePosted, NoticePosted, SessionActivated, StepAsked
from moot.core.session.notices import explain
from moot.core.session.session_lines import tell_question
from moot.core.session.state import State
from moot.core.session.team import DEFAULT_LANGUAGE, Language, Member
from moot.core.session.typed_answers import read_answer
from moot.protocol.happenings import Moved
from moot.telling.teller import Teller
from moot.tui.alerts import Alert, write_alert, write_title
from moot.tui.attaching import ATTACH, add_files
from moot.tui.words import Words

ALERT_AFTER_S = 5.0  # work that took longer is worth an alert
SHOWN_LINES = 40  # of the history, when a session is opened again


async def run_lines(options: Namespace) -> int:
    async with opened(options) as (host, session, is_new):
        await check_speaker(session, options.speaks_as)
        mode = LineMode(session, options.speaks_as, read_settings().notify.terminal)
        if not options.plain and is_terminal():
            print(Words((await session.view()).language)("line.small", **sizes()), file=sys.stderr)
        link_task = asyncio.create_task(mode.tell_link(host.moves()))
        try:
            return await mode.run(is_new=is_new, is_scripted=(await session.view()).team in await host.scripted_teams())
        finally:
            await _cancel(link_task)
            if not mode.is_used:
                print(Words(mode.language)("goodbye.unused", id=session.id), file=sys.stderr)
            elif not mode.is_over:
                say_where(session.id, resume_command(session.id, options), Words(mode.language))


class LineMode:
    def __init__(self, session: LineSession, speaks_as: str | None, alerts: Sequence[Alert] = ()) -> None:
        self._session = session
        self._speaks_as = speaks_as
        self._teller = Teller()
        self._prompt = Prompt(speaks_as)
        self._seq = 0  # shown so far
        self._accepted_seq = 1
        self._refusals = 0
        self._is_typed = sys.stdin.isatty()
        self._is_unaddressed = False  # what was said last was for nobody
        self._is_question_in_sight = True  # no line was typed since the open question was printed
        self._alerts = alerts
        self._typed_at = monotonic()

    async def run(self, *, is_new: bool, is_scripted: bool) -> int:
        view = await self._session.view()
        print(Words(view.language)("goodbye.session", id=self._session.id), file=sys.stderr, flush=True)
        self._prompt.greet(view, is_scripted=is_scripted)
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
        state = self._teller.state
        if state is None or self.is_over or not (self._is_settled or self._is_asked):
            return
        if not self._is_question_in_sight and self._prompt.is_shown:
            self._remind(state)
        is_new = self._prompt.open(state)
        if is_new and monotonic() - self._typed_at >= ALERT_AFTER_S:
            self._alert()

    def _remind(self, state: State) -> None:
        """Print the oldest question again that what was typed has not answered."""
        self._is_question_in_sight = True
        for step in list(state.open_steps.values())[:1]:
            print("\n".join(tell_question(step, state.team, state.language)), file=sys.stderr, flush=True)

    def _alert(self) -> None:
        """Make the terminal tell a person who has looked elsewhere while others worked."""
        words = Words(self.language)
        sys.stderr.write(write_alert(self._alerts, "Moot", words("line.your_turn")))
        sys.stderr.flush()

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
    def is_used(self) -> bool:
        """Whether something has happened since the session was made; one without anything is not kept."""
        return self._accepted_seq > 1 or self._seq > 1

    @property
    def is_over(self) -> bool:
        state = self._teller.state
        return state is not None and state.status is Status.COMPLETED

    def _show(self, events: list[Event]) -> None:
        for event in events:
            told = self._teller.tell(event.fact)
            for line in self._prompt.lines(event.fact, told.lines, told.state):
                self._prompt.close()
                print(line, flush=True)
            if isinstance(event.fact, NoticePosted) and event.fact.code == "nobody_addressed":
                self._is_unaddressed = True
                self._offer_members()
            elif isinstance(event.fact, MessagePosted | SessionActivated):
                self._is_unaddressed = False
            self._is_question_in_sight |= isinstance(event.fact, StepAsked)
        self._seq = events[-1].seq

    async def _say(self, line: str | None) -> None:
        if line is None:
            return
        self._prompt.take()
        self._typed_at = monotonic()
        self._is_question_in_sight = False
        if self._alerts and self._prompt.is_shown:
            sys.stderr.write(write_title(self._alerts, "Moot"))
        if not line.strip():
            return
        view = await self._session.view()
        question = next(iter(view.questions), None)
        if given := self._find_given(line):
            await self._submit(Post(text="", to=(given,), by=self._speaks_as), view.language)
            return
        if not (question and read_answer(question, line)):  # an answer is shown as the session tells it
            self._prompt.expect(line)
        step_id = question.step_id if question else None
        await self._submit(Post(text=line, by=self._speaks_as, step_id=step_id), view.language)

    async def _submit(self, post: Post, language: Language) -> None:
        try:
            command = await add_files(post, self._session.attach, Words(language))
            self._accepted_seq = (await self._session.submit(command)).seq
        except MootError as error:
            if not isinstance(error, Refused) and not post.text.startswith(ATTACH):
                raise
            self._refusals += 1
            sentence = explain(error, language) if isinstance(error, Refused) else str(error)
            print(f"moot: {sentence}", file=sys.stderr, flush=True)

    def _list_ais(self) -> tuple[Member, ...]:
        return self._teller.state.team.ais if self._teller.state else ()

    def _offer_members(self) -> None:
        """Say at a terminal which number gives what was said to whom."""
        if self._prompt.is_shown:
            choices = " · ".join(f"{number} {ai.display_name}" for number, ai in enumerate(self._list_ais(), 1))
            print(Words(self.language)("line.give", choices=choices), file=sys.stderr, flush=True)

    def _find_given(self, line: str) -> str | None:
        """Return the AI whose number was typed after something was said to nobody."""
        ais, typed = self._list_ais(), line.strip()
        if self._is_unaddressed and self._prompt.is_shown and typed.isdecimal() and 1 <= int(typed) <= len(ais):
            return ais[int(typed) - 1].id
        return None


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
