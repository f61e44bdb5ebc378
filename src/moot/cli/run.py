"""`moot run`: a session without a screen, for scripts and programs."""

import asyncio
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator
from typing import Any

from moot.app import App, Session, open_app
from moot.cli import exits
from moot.cli.data import add_data_argument, data_folder
from moot.cli.transcript import Transcript
from moot.config.loading import load_team
from moot.core.codec import Event, frame
from moot.core.errors import NotFound, Refused
from moot.core.events import StepAsked
from moot.core.notices import explain


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
    parser.add_argument(
        "--timeout", type=float, default=None, metavar="S", help="give up after so many seconds (exit 7)"
    )
    add_data_argument(parser)


async def run(options: Namespace) -> int:
    team = load_team(options.file)
    async with open_app(team, data=data_folder(options)) as app, asyncio.timeout(options.timeout):
        return await Run(app, options).play()


class Run:
    """Says every text, answers every step, prints every event."""

    def __init__(self, app: App, options: Namespace) -> None:
        self._app = app
        self._options = options
        self._answers: list[str] = list(options.answer)
        self._refusals = 0
        self._transcript = Transcript()

    async def play(self) -> int:
        session = await self._open()
        print(f"session {session.id}", file=sys.stderr)
        if not any(text.startswith("/") for text in self._options.say[:1]):  # a command may be meant for what runs
            await self._print(session, session.settle())  # what a crash or a stop left unfinished goes on first
            await self._answer_steps(session)
        for text in self._options.say:
            by, said = await self._split_sender(session, text)
            await self._print(session, session.say(said, by))
            await self._answer_steps(session)
        return exits.FAILED if self._refusals else exits.OK

    async def _open(self) -> Session:
        wanted = self._options.session
        if wanted is None:
            session = await self._app.session(title=self._options.title)
            for event in await self._app.log.read(session.id):
                self._show(event)
            return session
        session = await self._app.session(await find_session_id(self._app, wanted))
        self._transcript = Transcript(await session.state())
        return session

    async def _split_sender(self, session: Session, text: str) -> tuple[str | None, str]:
        """The prefix of 'id: text' counts only if it equals a human's id."""
        prefix, colon, rest = text.partition(":")
        humans = (await session.state()).team.humans
        if colon and any(human.id == prefix for human in humans):
            return prefix, rest.removeprefix(" ")
        return None, text

    async def _answer_steps(self, session: Session) -> None:
        while self._answers and (steps := (await session.state()).open_steps):
            step = next(iter(steps.values()))
            await self._print(session, session.answer(step.step_id, **read_answer(step, self._answers.pop(0))))

    async def _print(self, session: Session, events: AsyncIterator[Event]) -> None:
        try:
            async for event in events:
                self._show(event)
        except Refused as refusal:
            self._refusals += 1
            print(f"moot: {explain(refusal, (await session.state()).language)}", file=sys.stderr)

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
