"""`moot run`: a session without a screen, for scripts and programs."""

import asyncio
import json
import signal
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from typing import Any, Protocol

from moot.app import App, open_app
from moot.cli import exits
from moot.cli.data import add_store_arguments, data_folder, find_sessions
from moot.cli.parser import read_number
from moot.cli.projects import Project
from moot.cli.trusting import folder_of, load_trusted
from moot.cli.usage import UsageError
from moot.core.codec import Event, frame
from moot.core.errors import NotFound, Refused
from moot.core.facts import Fact
from moot.core.flows.plan.plan_events import PipelineCompleted, TaskFailed
from moot.core.session.commands import Answer, HumanCommand
from moot.core.session.events import StepAsked, TurnFailed
from moot.core.session.notices import explain
from moot.core.session.typed_answers import read_answer
from moot.core.view import Question, View
from moot.telling.teller import Teller


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
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="with the first text, supervisor flow: a key that people give, as JSON or as text",
    )
    parser.add_argument("--session", metavar="ID", help="go on with this session instead of a new one")
    parser.add_argument("--title", default="", help="of a new session")
    parser.add_argument("--json", action="store_true", help="one event frame a line")
    parser.add_argument("--timeout", type=read_number, metavar="S", help="give up after so many seconds (exit 7)")
    parser.add_argument(
        "--fail-on", choices=["agent"], help="exit 8 if a turn or a task failed, or a plan ended in part"
    )
    parser.add_argument(
        "--on-question",
        choices=["wait", "fail"],
        default="wait",
        help="what a question means that no --answer was left for: wait (the default) leaves it open, fail is exit 8",
    )
    add_store_arguments(parser)
    parser.add_argument(
        "--connect", metavar="URL", help="as `moot serve` printed it, instead of --data; FILE is then a team it offers"
    )


async def run(options: Namespace) -> int:
    """Run a session. After a signal the programs that play members are stopped first; the exit code is 128 + signal."""
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
    """Cancel the current task on any of these signals. Yields the list of the signals that were caught."""
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
    data, store = data_folder(options), find_sessions(options)
    team = load_trusted(options.file)
    folders = {team.name: folder_of(options.file)}
    project = Project(options.file, team.name, data)
    async with open_app(team, data=data, store=store, folders=folders) as app, asyncio.timeout(options.timeout):
        if options.session is None:
            session = await app.session(title=options.title)
            project.remember(session.id)
            return await Run(session, options).play(await app.log.read(session.id))
        return await Run(await app.session(await find_own_session(app, options.session, project)), options).play([])


async def run_there(options: Namespace) -> int:
    """Run a session on a server, where it goes on if this process ends early."""
    from moot.cli.remote import connected, team_name  # here, because only --connect needs it

    async with asyncio.timeout(options.timeout), connected(options) as client:
        if options.session is None:
            remote = await client.session(team=team_name(options.file), title=options.title)
            return await Run(remote, options).play([event async for event in remote.history()])
        ids = [listed["session_id"] for listed in await client.sessions()]
        return await Run(await client.session(pick_session_id(ids, options.session)), options).play([])


class Conversation(Protocol):
    """What a run needs of a session, here or on a server."""

    id: str

    async def view(self) -> View: ...

    def history(self, after: int = 0) -> AsyncGenerator[Event, None]: ...

    def say(
        self, text: str, by: str | None = None, *, inputs: Mapping[str, Any] | None = None
    ) -> AsyncIterator[Event]: ...

    def answer(self, step_id: str, *, by: str | None = None, **said: Any) -> AsyncIterator[Event]: ...

    def settle(self) -> AsyncIterator[Event]: ...

    async def submit(self, command: HumanCommand) -> object: ...


def read_inputs(written: Sequence[str]) -> dict[str, Any]:
    """Read `key=value` pairs. A value that is JSON counts as that, any other as text. Raises UsageError."""
    inputs: dict[str, Any] = {}
    for pair in written:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--input {pair!r} is not KEY=VALUE")
        try:
            inputs[key.strip()] = json.loads(value)
        except ValueError:
            inputs[key.strip()] = value
    return inputs


class Run:
    """Posts every text, answers every question, prints every event."""

    def __init__(self, session: Conversation, options: Namespace) -> None:
        self._session = session
        self._options = options
        self._answers: list[str] = list(options.answer)
        self._inputs = read_inputs(options.input)
        self._refusals = 0
        self._failures = 0
        self._teller = Teller()
        self._seq = 0  # of the last event that was printed

    async def play(self, created: list[Event]) -> int:
        """Play the session and return the exit code. `created` are the first events of a new session, to be shown."""
        session = self._session
        for event in created:
            await self._show(event)
        print(f"session {session.id}", file=sys.stderr)
        if not any(text.startswith("/") for text in self._options.say[:1]):  # a command may be meant for what runs
            await self._print(session.settle())  # first finish what a crash or a stop has interrupted
            await self._answer_steps()
        for text in self._options.say:
            by, message = await self._split_sender(text)
            await self._print(session.say(message, by, inputs=self._inputs))
            self._inputs = {}
            await self._answer_steps()
        return await self._exit_code()

    async def _exit_code(self) -> int:
        if self._refusals:
            return exits.FAILED
        if self._failures and self._options.fail_on == "agent":
            return exits.WORK_FAILED
        if self._options.on_question == "fail" and (await self._session.view()).questions:
            return exits.WORK_FAILED
        return exits.OK

    async def _split_sender(self, text: str) -> tuple[str | None, str]:
        """Split 'id: text'. The prefix counts only if it equals a human's id."""
        prefix, colon, rest = text.partition(":")
        members = (await self._session.view()).members
        if colon and any(member.is_human and member.id == prefix for member in members):
            return prefix, rest.removeprefix(" ")
        return None, text

    async def _answer_steps(self) -> None:
        session = self._session
        while self._answers and (questions := (await session.view()).questions):
            question = questions[0]
            await self._print(session.answer(question.step_id, **_read_answer(question, self._answers.pop(0))))

    async def _answer_worker(self, step: StepAsked) -> None:
        """Answer a question of a running turn, which waits for the answer while its events are being followed."""
        if self._answers:
            await self._session.submit(Answer(step_id=step.step_id, **_read_answer(step, self._answers.pop(0))))

    async def _print(self, events: AsyncIterator[Event]) -> None:
        """Show these events. Events of others between them are folded but not shown."""
        try:
            async for event in events:
                await self._show(event)
                if isinstance(event.fact, StepAsked) and event.fact.turn_id:
                    await self._answer_worker(event.fact)
        except Refused as refusal:
            self._refusals += 1
            print(f"moot: {explain(refusal, (await self._session.view()).language)}", file=sys.stderr)

    async def _show(self, event: Event) -> None:
        if event.seq > self._seq + 1:
            await self._fold_before(event.seq)
        self._seq = event.seq
        self._failures += is_failure(event.fact)
        lines = self._teller.lines(event.fact)
        if self._options.json:
            assert self._teller.state is not None  # noqa: S101 - it has just folded an event
            lines = [frame(event, self._teller.state.language).decode()]
        for line in lines:
            print(line, flush=True)

    async def _fold_before(self, seq: int) -> None:
        async with aclosing(self._session.history(self._seq)) as events:
            async for event in events:
                if event.seq >= seq:
                    return
                self._teller.tell(event.fact)


def is_failure(fact: Fact) -> bool:
    """Whether a member did not do its work: a turn or a task failed, or a plan ended without some of its tasks."""
    return isinstance(fact, TurnFailed | TaskFailed) or (
        isinstance(fact, PipelineCompleted) and fact.status == "partial"
    )


def _read_answer(question: StepAsked | Question, text: str) -> dict[str, Any]:
    """Return the fields of an answer: an option or a plain yes or no as people type them, else the text itself."""
    if text in ("approve", "reject"):  # also where the question has no such options
        return {"confirmed": text == "approve"}
    return read_answer(question, text) or {"answer": text}


async def find_own_session(app: App, prefix: str, project: Project) -> str:
    """Return the id of a session of this project. Raises NotFound, or ConfigError if it belongs to another one."""
    listings = {listing.session_id: listing for listing in await app.log.sessions()}
    session_id = pick_session_id(list(listings), prefix)
    project.check(listings[session_id])
    return session_id


def pick_session_id(ids: list[str], prefix: str) -> str:
    """Return the id that is `prefix` or the only one that starts with it. Raises NotFound."""
    matches = [session_id for session_id in ids if session_id.startswith(prefix)]
    if prefix in ids:
        return prefix
    if not matches:
        raise NotFound(f"no session {prefix!r}; `moot sessions list` shows those there are")
    if len(matches) > 1:
        raise NotFound(f"{prefix!r} fits {len(matches)} sessions ({', '.join(matches[:5])}…); give more of the id")
    return matches[0]
