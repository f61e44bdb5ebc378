"""`moot run`: a session without a screen, for scripts and programs."""

import asyncio
import json
import shlex
import signal
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, contextmanager
from pathlib import Path
from typing import Any

from moot.app import App, open_app
from moot.cli import exits
from moot.cli.attaching import Attached, open_or_attach
from moot.cli.changing import HeldSessions, kept_if_used
from moot.cli.data import add_store_arguments, data_folder, find_sessions
from moot.cli.holding import shared
from moot.cli.parser import read_timeout
from moot.cli.projects import OwnTeam, find_here, load_own
from moot.cli.usage import UsageError
from moot.cli.user_settings import read_kept_programs
from moot.cli.wording import say
from moot.conversation import Conversation
from moot.core import limits
from moot.core.codec import Event, frame
from moot.core.errors import NotFound, Refused
from moot.core.facts import Fact
from moot.core.flows.plan.plan_events import PipelineCompleted, TaskFailed
from moot.core.session.attachments import Attachment
from moot.core.session.commands import Answer
from moot.core.session.events import MessagePosted, NoticePosted, StepAsked, TurnFailed
from moot.core.session.notices import explain
from moot.core.session.typed_answers import read_answer
from moot.core.texts import render
from moot.core.view import Question
from moot.runtime.ports import Listing, Store
from moot.telling.teller import Teller


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help=say("help.run.file"))
    parser.add_argument(
        "--say",
        nargs="+",
        action="extend",
        default=[],
        metavar="TEXT",
        help=say("help.run.say"),
    )
    parser.add_argument(
        "--answer",
        nargs="+",
        action="extend",
        default=[],
        metavar="ANSWER",
        help=say("help.run.answer"),
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help=say("help.run.input"),
    )
    parser.add_argument(
        "--attach",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help=say("help.run.attach"),
    )
    parser.add_argument("--session", metavar="ID", help=say("help.session"))
    parser.add_argument("--title", default="", help=say("help.title"))
    parser.add_argument("--json", action="store_true", help=say("help.run.json"))
    parser.add_argument("--timeout", type=read_timeout, metavar="S", help=say("help.run.timeout"))
    parser.add_argument("--fail-on", choices=["agent"], help=say("help.run.fail_on"))
    parser.add_argument(
        "--on-question",
        choices=["reject", "fail", "wait"],
        default="reject",
        help=say("help.run.on_question"),
    )
    add_store_arguments(parser)
    parser.add_argument("--connect", metavar="URL", help=say("help.connect"))


async def run(options: Namespace) -> int:
    """Run a session with what --say says. Raises UsageError if a new session would have nothing to start with."""
    if "-" in options.say:
        options.say = [sys.stdin.read() if text == "-" else text for text in options.say]
    options.file = options.file or find_here()
    options.attach = [read_attached(file) for file in options.attach]
    options.input = read_inputs(options.input)
    if options.attach and not options.say:
        raise UsageError("--attach goes with a text: add --say TEXT")
    if not options.say and not options.session:
        raise UsageError(
            "nothing to say: add --say TEXT, --say - for standard input, or --session ID to go on with one"
        )
    return await run_stoppably(options)


async def run_stoppably(options: Namespace) -> int:
    """Run a session. After a signal the programs that play members are stopped first; the exit code is 128 + signal."""
    with cancelled_by(signal.SIGTERM, signal.SIGHUP) as caught:
        try:
            if options.connect:
                return await run_there(options)
            return await run_here(options, ends_now=lambda: signal.SIGTERM in caught)
        except TimeoutError:
            on = f"; `--session {options.session}` goes on" if options.session else ", and nothing was said yet"
            raise TimeoutError(f"--timeout {options.timeout:g} is over{on}") from None
        except asyncio.CancelledError:
            if not caught:
                raise
            return 128 + int(caught[0])


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


async def run_here(options: Namespace, *, ends_now: Callable[[], bool]) -> int:
    """Run a session in this process or, if another one holds the data, in that one."""
    data, store, own = data_folder(options), find_sessions(options), load_own(options.file)
    async with AsyncExitStack() as stack:
        app = await open_or_attach(stack, lambda: open_own(own, data, store), data, store)
        if isinstance(app, Attached):
            return await run_attached(options, app, own)
        await stack.enter_async_context(shared(app, store, data, "run", ends_now=ends_now))
        if options.session is None:  # made before the time runs, so that it is known if nothing is said in it
            session = await app.session(title=options.title)
            async with kept_if_used(app.log.read, forgetting(options, app.sessions.delete), session.id) as created:
                async with asyncio.timeout(options.timeout):
                    return await Run(session, options, own.about).play(created)
        async with asyncio.timeout(options.timeout):
            session_id = pick_own_session(await app.log.sessions(), options.session, own)
            return await Run(await app.session(session_id), options, own.about).play([])


def forgetting(options: Namespace, delete: Callable[[str], Awaitable[None]]) -> Callable[[str], Awaitable[None]]:
    """Return `delete` for an unused session, which tells that the id printed before is gone."""

    async def forget(session_id: str) -> None:
        await delete(session_id)
        options.session = None
        print(f"session {session_id} was not kept: nothing was said in it", file=sys.stderr)

    return forget


def open_own(own: OwnTeam, data: Path, store: Store) -> AbstractAsyncContextManager[App]:
    """Open the sessions of a team in this process."""
    name, kept = own.team.name, read_kept_programs()
    folders, projects = {name: own.folder}, {name: own.project}
    return open_app(own.team, data=data, store=store, folders=folders, projects=projects, **kept)


async def run_attached(options: Namespace, holder: Attached, own: OwnTeam) -> int:
    """Run a session in the process that holds the data, with the team of this command."""
    from moot.cli.remote import RemoteLog
    from moot.client.client import open_client

    print(f"attached to `moot {holder.about.command}`, process {holder.about.pid}", file=sys.stderr)
    name = await holder.offer(own.project.file)
    async with asyncio.timeout(options.timeout), open_client(holder.address) as client:
        if options.session is None:
            remote = await client.session(team=name, title=options.title)
            held = HeldSessions(holder)
            async with kept_if_used(held.read, forgetting(options, held.delete), remote.id) as created:
                return await Run(remote, options, own.about).play(created)
        listings = await RemoteLog(holder.rest).sessions()
        remote = await client.session(pick_own_session(listings, options.session, own))
        return await Run(remote, options, own.about).play([])


async def run_there(options: Namespace) -> int:
    """Run a session on a server, where it goes on if this process ends early."""
    from moot.cli.remote import connected, team_name  # here, because only --connect needs it

    async with asyncio.timeout(options.timeout), connected(options) as client:
        if options.session is None:
            remote = await client.session(team=team_name(options.file), title=options.title)
            return await Run(remote, options).play([event async for event in remote.history()])
        ids = [listed["session_id"] for listed in await client.sessions()]
        return await Run(await client.session(pick_session_id(ids, options.session)), options).play([])


def read_attached(file: str) -> tuple[str, bytes]:
    """Return the name and the content of a file. Raises UsageError if it cannot be read or is too large."""
    try:
        with open(file, "rb") as opened:
            data = opened.read(limits.FILE_BYTES + 1)
    except OSError as error:
        raise UsageError(f"--attach {file}: it cannot be read ({error.strerror})") from None
    if len(data) > limits.FILE_BYTES:
        raise UsageError(f"--attach {file}: it has more than {limits.FILE_BYTES} bytes; send a smaller one")
    return Path(file).name, data


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


NAMED = 5  # sessions that a sentence names


class Unanswered(Exception):
    """A running turn asks something that nobody will answer."""


class Run:
    """Posts every text, answers every question, prints every event. `about` says what people must know of the team."""

    def __init__(self, session: Conversation, options: Namespace, about: str = "") -> None:
        self._about = about
        self._session = session
        self._options = options
        self._answers: list[str] = list(options.answer)
        self._inputs: dict[str, Any] = options.input
        self._refusals = 0
        self._failures = 0
        self._is_said_by_human = False
        self._teller = Teller()
        self._seq = 0  # of the last event that was printed

    async def play(self, created: list[Event]) -> int:
        """Play the session and return the exit code. `created` are the first events of a new session, to be shown."""
        try:
            return await self._play(created)
        except Unanswered:
            return exits.WORK_FAILED

    async def _play(self, created: list[Event]) -> int:
        session = self._session
        self._options.session = session.id  # for the sentence about a timeout
        for event in created:
            await self._show(event)
        print(*[line for line in (f"session {session.id}", self._about) if line], sep="\n", file=sys.stderr)
        if not any(text.startswith("/") for text in self._options.say[:1]):  # a command may be meant for what runs
            await self._print(session.settle())  # first finish what a crash or a stop has interrupted
            await self._answer_steps()
        files = await self._attach()
        for text in self._options.say:
            by, message = await self._split_sender(text)
            await self._print(session.say(message, by, inputs=self._inputs, attachments=files))
            self._inputs, files = {}, []
            await self._answer_steps()
        if self._answers:
            print(f"not used, as no question was open: --answer {shlex.join(self._answers)}", file=sys.stderr)
        elif (await session.view()).questions:
            print(f"a question is open; go on with --session {session.id} --answer CHOICE", file=sys.stderr)
        return await self._exit_code()

    async def _attach(self) -> list[Attachment]:
        """Upload the files. Raises UsageError if the session does not take one: then nothing is said without it."""
        files = []
        for name, data in self._options.attach:
            try:
                files.append(await self._session.attach(data, name))
            except Refused as refusal:
                sentence = explain(refusal, (await self._session.view()).language)
                raise UsageError(f"--attach {name}: {sentence}") from None
        return files

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
        elif self._options.on_question == "fail":
            raise Unanswered
        elif self._options.on_question == "reject":
            nobody = render("nobody_answers", (await self._session.view()).language)
            said: dict[str, Any] = {"answer": nobody} if step.is_for_member else {"confirmed": False}
            await self._session.submit(Answer(step_id=step.step_id, **said))

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
        told = self._teller.tell(event.fact)
        if isinstance(event.fact, MessagePosted):
            self._is_said_by_human = told.state.team.member(event.fact.member).is_human
        elif isinstance(event.fact, NoticePosted) and event.fact.code == "unresolved":
            self._refusals += self._is_said_by_human
        lines = [frame(event, told.state.language).decode()] if self._options.json else told.lines
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


def pick_own_session(listings: Iterable[Listing], prefix: str, own: OwnTeam) -> str:
    """Return the id of a session of this team file. Raises NotFound, or ConfigError if it belongs to another one."""
    by_id = {listing.session_id: listing for listing in listings}
    session_id = pick_session_id(list(by_id), prefix)
    own.check(by_id[session_id])
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
