"""`moot run`: a session without a screen, for scripts and programs."""

import asyncio
import signal
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from moot.app import App, open_app
from moot.cli import exits
from moot.cli.data import add_data_argument, data_folder
from moot.cli.parser import read_number
from moot.cli.transcript import Transcript
from moot.cli.trusting import folder_of, load_trusted
from moot.core.codec import Event, frame
from moot.core.commands import Answer, HumanCommand
from moot.core.errors import NotFound, Refused
from moot.core.events import StepAsked
from moot.core.notices import explain
from moot.core.state import State


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a team file, or the name of a built-in team")
    parser.add_argument(
        "--say", nargs="+", action="extend", default=[], metavar="TEXT", help="'id: text' names the human"
    )
    parser.add_argument(
        "--answer",
        nargs="+",
        action="extend",
        default=[],
        metavar="ANSWER",
        help="approve, reject, an option's id, text",
    )
    parser.add_argument("--session", metavar="ID", help="go on with this session instead of a new one")
    parser.add_argument("--title", default="", help="of a new session")
    parser.add_argument("--json", action="store_true", help="one event frame a line")
    parser.add_argument("--timeout", type=read_number, metavar="S", help="give up after so many seconds (exit 7)")
    add_data_argument(parser)
    parser.add_argument(
        "--connect", metavar="URL", help="as `moot serve` printed it, instead of --data; FILE is then a team it offers"
    )


async def run(options: Namespace) -> int:
    """A signal that ends it ends the programs that play members first."""
    with cancelled_by(signal.SIGTERM, signal.SIGHUP) as caught:
        try:
            return await (run_there(options) if options.connect else run_here(options))
        except TimeoutError:
            raise TimeoutError(f"--timeout {options.timeout:g} is over; `--session ID` goes on") from None
        except asyncio.CancelledError:
            if not caught:
                raise
            return 128 + caught[0]


@contextmanager
def cancelled_by(*signals: signal.Signals) -> Iterator[list[signal.Signals]]:
    """The task that is inside is cancelled by any of these; which one it was is told."""
    loop, task, caught = asyncio.get_running_loop(), asyncio.current_task(), list[signal.Signals]()

    def cancel(number: signal.Signals) -> None:
        caught.append(number)
        if task:
            task.cancel()

    for number in signals:
        loop.add_signal_handler(number, cancel, number)
    try:
        yield caught
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


async def run_here(options: Namespace) -> int:
    data = data_folder(options)
    team = load_trusted(options.file)
    folders = {team.name: folder_of(options.file)}
    async with open_app(team, data=data, folders=folders) as app, asyncio.timeout(options.timeout):
        if options.session is None:
            session = await app.session(title=options.title)
            return await Run(session, options).play(await app.log.read(session.id))
        return await Run(await app.session(await find_session_id(app, options.session)), options).play([])


async def run_there(options: Namespace) -> int:
    """The same on a server; it goes on there if this ends before it."""
    from moot.cli.remote import connected, team_name  # only now: without --connect nothing of it is needed

    async with asyncio.timeout(options.timeout), connected(options) as client:
        if options.session is None:
            remote = await client.session(team=team_name(options.file), title=options.title)
            return await Run(remote, options).play([event async for event in remote.history()])
        ids = [listed["session_id"] for listed in await client.sessions()]
        return await Run(await client.session(pick_session_id(ids, options.session)), options).play([])


class Conversation(Protocol):
    """What a run needs of a session, here or on a server."""

    id: str

    async def state(self) -> State: ...

    def say(self, text: str, by: str | None = None) -> AsyncIterator[Event]: ...

    def answer(self, step_id: str, *, by: str | None = None, **said: Any) -> AsyncIterator[Event]: ...

    def settle(self) -> AsyncIterator[Event]: ...

    async def submit(self, command: HumanCommand) -> object: ...


class Run:
    """Says every text, answers every step, prints every event."""

    def __init__(self, session: Conversation, options: Namespace) -> None:
        self._session = session
        self._options = options
        self._answers: list[str] = list(options.answer)
        self._refusals = 0
        self._transcript = Transcript()

    async def play(self, created: list[Event]) -> int:
        """`created` is how a new session begins; of an old one only what comes is shown."""
        session = self._session
        for event in created:
            self._show(event)
        print(f"session {session.id}", file=sys.stderr)
        if not any(text.startswith("/") for text in self._options.say[:1]):  # a command may be meant for what runs
            await self._print(session.settle())  # what a crash or a stop left unfinished goes on first
            await self._answer_steps()
        for text in self._options.say:
            by, said = await self._split_sender(text)
            await self._print(session.say(said, by))
            await self._answer_steps()
        return exits.FAILED if self._refusals else exits.OK

    async def _split_sender(self, text: str) -> tuple[str | None, str]:
        """The prefix of 'id: text' counts only if it equals a human's id."""
        prefix, colon, rest = text.partition(":")
        humans = (await self._session.state()).team.humans
        if colon and any(human.id == prefix for human in humans):
            return prefix, rest.removeprefix(" ")
        return None, text

    async def _answer_steps(self) -> None:
        session = self._session
        while self._answers and (steps := (await session.state()).open_steps):
            step = next(iter(steps.values()))
            await self._print(session.answer(step.step_id, **read_answer(step, self._answers.pop(0))))

    async def _answer_worker(self, step: StepAsked) -> None:
        """A turn waits for it in the middle, so that it is given while the turn is followed."""
        if self._answers:
            await self._session.submit(Answer(step_id=step.step_id, **read_answer(step, self._answers.pop(0))))

    async def _print(self, events: AsyncIterator[Event]) -> None:
        """What comes of this; what others did meanwhile is not shown, but counts."""
        self._transcript.state = await self._session.state()
        try:
            async for event in events:
                self._show(event)
                if isinstance(event.fact, StepAsked) and event.fact.turn_id:
                    await self._answer_worker(event.fact)
        except Refused as refusal:
            self._refusals += 1
            print(f"moot: {explain(refusal, (await self._session.state()).language)}", file=sys.stderr)

    def _show(self, event: Event) -> None:
        lines = self._transcript.lines(event)
        if self._options.json:
            assert self._transcript.state is not None  # noqa: S101 - it has just folded an event
            lines = [frame(event, self._transcript.state.language).decode()]
        for line in lines:
            print(line, flush=True)


def read_answer(step: StepAsked, said: str) -> dict[str, Any]:
    """`approve` and `reject` confirm or not, an option's id chooses it, anything else is the answer's text."""
    if said in ("approve", "reject"):
        return {"confirmed": said == "approve"}
    if any(option.id == said for option in step.options):
        return {"choice": said}
    return {"answer": said}


async def find_session_id(app: App, prefix: str) -> str:
    listings = await app.log.sessions()
    return pick_session_id([listing.session_id for listing in listings], prefix)


def pick_session_id(ids: list[str], prefix: str) -> str:
    """The one id that is `prefix` or starts with it."""
    found = [session_id for session_id in ids if session_id.startswith(prefix)]
    if prefix in ids:
        return prefix
    if not found:
        raise NotFound(f"no session {prefix!r}; `moot sessions list` shows those there are")
    if len(found) > 1:
        raise NotFound(f"{prefix!r} fits {len(found)} sessions ({', '.join(found[:5])}…); give more of the id")
    return found[0]
