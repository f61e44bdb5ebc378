"""The ports between the core and the world: Clock, Log, Store, Agent, Dispatch, Workspaces, Understander.

Each has an implementation in memory or a fake in `moot.testing`. Nothing outside the ports may assume that two parts of
Moot share a process.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from msgspec import Struct

from moot.core import limits
from moot.core.codec import Event, Head
from moot.core.errors import Refused
from moot.core.flows.turns import TurnInput
from moot.core.intake.intent import IntentAnalysis, SemanticInput
from moot.core.machines.session import Status
from moot.core.search_words import Term
from moot.core.session.commands import WorkerCommand
from moot.core.session.events import Option, PauseReason, ToolCall
from moot.core.session.grants import Grant
from moot.core.session.state import Message
from moot.core.session.tool_use import ToolUse
from moot.core.session.usage import NO_USAGE, Spent, Usage
from moot.core.session.workspace_commands import WorkspaceJob


class Handle(Protocol):
    def cancel(self) -> object: ...


class Clock(Protocol):
    """Wall time for timestamps, monotonic time for delays."""

    def now(self) -> str:
        """RFC 3339, UTC, milliseconds, `Z`."""

    def monotonic(self) -> float:
        """Seconds since some moment; never decreases."""

    def call_later(self, delay_s: float, callback: Callable[[], object]) -> Handle: ...

    async def sleep(self, delay_s: float) -> None: ...


class CommandKey(Struct, frozen=True):
    """Identifies a command that must be executed once: the id that its sender chose, and a digest of its body."""

    command_id: str
    digest: str


class Receipt(Struct, frozen=True):
    """Confirms that a command was logged; `seq` is the head after it."""

    digest: str
    seq: int


class LastLine(Struct, frozen=True):
    """The start of the last message, on one line; `by` is the display name of its author."""

    by: str
    text: str


class Summary(Struct, frozen=True, kw_only=True):
    """What a list of sessions shows. `busy`: something is outstanding, so a restart must open this session.

    `asks`: the kind of the oldest open question. The summary is stored beside the log, so that a list needs no folding.
    """

    title: str
    team: str
    flow: str
    status: Status
    waiting_for: str | None
    busy: bool
    pause_reason: PauseReason | None = None
    messages: int = 0
    last: LastLine | None = None
    asks: str | None = None
    period: str = ""  # of the team's budget, if that counts all sessions, and what this one has spent in it
    spent: Spent | None = None


class Project(Struct, frozen=True):
    """Where a session was started: its team file, as an absolute path or a built-in team's name, and the file's folder.

    It is remembered beside the log and is no part of it: a copy of a session on another machine has another one.
    """

    file: str
    folder: str = ""


class Takeover(Struct, frozen=True, kw_only=True):
    """The command with which a person opens a member's conversation in the agent's own program, on this machine.

    `task_id`: in a plan each task has a conversation of its own; empty for that of the session.
    """

    member: str
    task_id: str
    command: str


class Listing(Struct, frozen=True, kw_only=True):
    session_id: str
    created_at: str
    updated_at: str
    head: Head
    summary: Summary
    removed_at: str | None = None  # when it went to the trash
    project: Project | None = None
    is_summary_damaged: bool = False  # `summary` is a stand-in; only the session's events know more

    @property
    def place(self) -> str:
        """Where it stands in a list: by its last event, or its removal. Texts of equal form, to be compared."""
        return f"{self.removed_at or self.updated_at} {self.session_id}"


class Snapshot(Struct, frozen=True):
    """An encoded state, as a cache: it may be missing, old, or made by another version of the code (`version`)."""

    head: Head
    version: str
    state: bytes


class Place(Struct, frozen=True):
    """An event in a log."""

    session_id: str
    seq: int


class Log(Protocol):
    """The event log. Appends are durable when `append` returns; reads verify the hash chain."""

    async def append(
        self,
        session_id: str,
        expected: Head,
        events: Sequence[Event],
        *,
        command: CommandKey | None = None,
        summary: Summary | None = None,
    ) -> None:
        """Append all events or none.

        Args:
            expected: the head that the events follow; an empty one creates the session and needs a summary.
            command: the command that led to the events; `find_command` will find it.
            summary: the new summary, if it changed.

        Raises:
            Conflict: the head is another one, in seq or in hash, or the command was logged before.
            NotFound: there is no such session.
            StorageFull: the disk is full.
        """

    async def read(self, session_id: str, after: int = 0, limit: int = 1_000) -> list[Event]:
        """Return the events with seq > `after`, in order. Raises NotFound, or Corrupt if one of them is damaged."""

    def follow(self, session_id: str, after: int = 0) -> AsyncGenerator[list[Event], None]:
        """Yield the events after `after`, then new ones as they come, in batches that are never empty."""

    async def head(self, session_id: str) -> Head:
        """Return seq and hash of the last event. Raises NotFound."""

    async def find_command(self, session_id: str, command_id: str) -> Receipt | None:
        """Return the receipt of a command that was logged with its key, None if there is none."""

    async def sessions(self, *, removed: bool = False) -> list[Listing]:
        """List the sessions, or those in the trash if `removed`, by their last event, newest first."""

    async def list_page(self, limit: int, *, before: str | None = None, removed: bool = False) -> list[Listing]:
        """List at most so many sessions by their place, the greatest first, of those whose place is before `before`."""

    async def remove(self, session_id: str, at: str) -> None:
        """Move a session to the trash, where other methods do not find it, and end its followers. Raises NotFound."""

    async def restore(self, session_id: str) -> None:
        """Take a session out of the trash. Raises NotFound if it is not there."""

    async def delete(self, session_id: str) -> None:
        """Delete a session for good, in the trash or not, and end its followers. Raises NotFound."""

    async def set_project(self, session_id: str, project: Project) -> None:
        """Remember where a session was started; listings tell it. Raises NotFound."""

    async def search(
        self, terms: Sequence[Term], *, session_id: str | None = None, limit: int = limits.FOUND
    ) -> list[Place]:
        """Find what was said: where every term occurs, the newest first. Sessions in the trash are left out.

        What was appended before this was called is found.
        """

    async def put_file(self, session_id: str, data: bytes) -> str:
        """Keep a file with a session until that is deleted, and return its SHA-256. It is durable when this returns.

        The same content is kept once. Raises NotFound, or StorageFull.
        """

    async def get_file(self, session_id: str, sha256: str) -> bytes | None:
        """Return the content of a file of a session, None if the session has no such file."""

    async def list_files(self, session_id: str) -> dict[str, int]:
        """Return the hashes of a session's files, each with its size."""

    async def save_snapshot(self, session_id: str, snapshot: Snapshot) -> None: ...

    async def load_snapshot(self, session_id: str) -> Snapshot | None: ...

    async def close(self) -> None: ...


class Finding(Struct, frozen=True, kw_only=True):
    """Something that `moot doctor` reports about a store, besides the check of every hash.

    `is_damage`: something that was stored cannot be read any more.
    """

    name: str
    text: str
    fix: str
    is_damage: bool


class Store(ABC):
    """A place for a log. `str()` names it in messages and must not show a password.

    An entry of `moot.extensions.STORES` is called with the whole URL and returns a Store, or raises ConfigError.
    """

    @abstractmethod
    async def open(self, *, read_only: bool = False) -> Log:
        """Open the log, and create an empty one if there is none and `read_only` is false.

        A log that is opened with `read_only` takes no lock: a server may be writing to the same store. Raises Unusable,
        or Locked if the store has one writer and another process is it.
        """

    def exists(self) -> bool:
        """Whether there is a log to read."""
        return True

    def list_files(self) -> list[Path]:
        """The files on this machine that the log is in. Agents' programs are kept from them."""
        return []

    def examine(self) -> Iterator[Finding]:
        """Look for faults that reading the sessions would not show. Changes nothing."""
        yield from ()

    def salvage(self) -> Iterator[list[Event]]:
        """For each session that can still be found: its events before the first damaged one, if there are any."""
        yield from ()


class Delta(Struct, frozen=True):
    """A piece of text while it is written: shown, not logged."""

    text: str


class Thinking(Struct, frozen=True):
    """A piece of a thought while it is written: shown, not logged. The whole thought follows as a step."""

    text: str


class Step(Struct, frozen=True, kw_only=True):
    """What an agent thought, did or observed; logged.

    `tool` is the use of a tool that the step is about, as data: one step when it begins, another with the same id when
    it is over. `diff` is what it changed in files, as a unified diff.
    """

    thought: str | None = None
    action: str | None = None
    observation: str | None = None
    tool: ToolUse | None = None
    diff: str | None = None
    total: int | None = None  # number of steps of the task, if known


class Result(Struct, frozen=True, kw_only=True):
    """The result of a turn.

    Planners and reviewers may return `plan`, `patches`, `review` or `evaluation` as data instead of text. In the
    supervisor flow an agent may return `state` (keys that it owns), `tool_calls` ({name, args}) and `ask` (a question
    to people: {question, options, selection, allow_custom_input, key}).
    """

    text: str = ""
    usage: Usage = Usage()
    plan: dict[str, Any] | None = None
    patches: tuple[Any, ...] | None = None
    review: dict[str, Any] | None = None
    evaluation: dict[str, Any] | None = None
    state: dict[str, Any] | None = None
    tool_calls: tuple[Any, ...] | None = None
    ask: dict[str, Any] | None = None


Output = Delta | Thinking | Step | Result
# How a message reaches a running turn: at once, or when the agent next looks for one.
Delivery = Literal["now", "boundary"]


class Ask(Protocol):
    """Asks people for a permission and returns the id of the option that they chose.

    The end of the turn withdraws its questions.

    Args:
        options: `allow` and `reject` if there are none. The first one is chosen by a plain yes.
        key: identifies the question within the turn; its text, if empty. The question is asked once, even if the turn
            is played again after a crash.
        default: returned for a no, and if nobody answers in time.
        tool: what the permission is for, as data; `diff` is what it would change in files.
        grant: what an answer for the rest of the session is about. The options are then those of `core.session.grants`.
    """

    async def __call__(
        self,
        question: str,
        options: Sequence[Option] = (),
        *,
        key: str = "",
        default: str | None = None,
        tool: ToolUse | None = None,
        diff: str | None = None,
        grant: Grant | None = None,
    ) -> str | None: ...


class Desk(Ask, Protocol):
    """What a member can do in the middle of its turn besides writing. Calling it asks for a permission.

    The methods return what the member is told. They raise Refused, with a sentence for the member, if it may not do
    that: there is no such member, or its turn is over.
    """

    async def ask_human(self, question: str, options: Sequence[str] = (), to: str = "") -> str:
        """Ask people, or the human named `to`, and wait a while for the answer."""

    async def ask_member(self, member: str, question: str) -> str:
        """Ask a team-mate and wait a while for the answer."""

    async def hand_over(self, member: str, reason: str = "") -> str:
        """Say who speaks after this turn, as `[NEXT:]` does."""

    async def report_blocked(self, reason: str) -> str:
        """Say that the work cannot be done. The turn fails when it ends."""

    async def show_file(self, path: str, data: bytes, caption: str = "") -> str:
        """Show people a file. `path` is what it is called."""

    def spend(self, usage: Usage) -> None:
        """Note what the turn has cost so far. It counts if the turn is stopped; otherwise its result says it."""


class Agent(Protocol):
    """Plays an AI member: yields outputs, the last one a Result; raises AgentError; may be cancelled.

    Optional methods: `refuse(turn) -> str | None` refuses a task before it starts, with the reason;
    `act_asking(turn, desk: Desk)` is called instead of `act` and may ask people and team-mates during the turn;
    `steer(turn, message: Message) -> Delivery | None` (async) brings what a person wrote into a turn that is being
    played. It returns when it reaches the agent, None if it does not.
    """

    def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]: ...


class Report(Protocol):
    """Logs what a worker reports; it is durable when this returns. Late reports are ignored.

    Returns why the last report was refused, if it was.
    """

    def __call__(self, *commands: WorkerCommand) -> Awaitable[Refused | None]: ...


Show = Callable[[str, Delta | Thinking], None]  # turn id, piece
ToolFunction = Callable[..., Any | Awaitable[Any]]


@runtime_checkable
class Worker(Handle, Protocol):
    """Plays one turn. Cancelling stops it, unless its end is already being reported."""

    @property
    def is_alive(self) -> bool:
        """Whether it still works on its task and so keeps its lease."""

    @property
    def is_in_line(self) -> bool:
        """Whether it has accepted a task and waits for room to start it."""

    def answer(self, step_id: str, choice: str | None, answer: str | None = None) -> None:
        """Deliver the answer to a question. After a crash it may come before the question is asked again."""

    def bring(self, number: int, message: Message) -> None:
        """Bring what a person wrote into the turn, and report whether the agent takes it."""


@runtime_checkable
class Detachable(Handle, Protocol):
    """Work on another machine, which does not end when this process stops acting for the session."""

    def detach(self) -> None:
        """Forget it here; it goes on."""


class ToolJob(Struct, frozen=True, kw_only=True):
    """A tool call of a member that Moot runs between the member's turns."""

    session_id: str
    team: str
    member: str
    call: ToolCall


class Dispatch(Protocol):
    """Hands turns to workers. A worker reports its steps and exactly one end."""

    def start(self, turn: TurnInput, team: str, report: Report, show: Show) -> Worker:
        """Have a turn played. `team` is the name of its team."""

    def offer(self, turn: TurnInput, team: str, report: Report, show: Show) -> Worker:
        """Have a task played: the worker accepts or refuses it, then reports its start."""

    def call(self, job: ToolJob, report: Report) -> Handle:
        """Run a tool of a member."""

    def release(self, session_id: str) -> None:
        """End what is kept for a session between its turns: it is over, or closed here."""

    async def list_live(self, session_id: str) -> Collection[str]:
        """The turns that workers of an earlier process still play, because they are on other machines."""


class Entered(Struct, frozen=True, kw_only=True):
    """Where a turn works, and what is to be reported about that."""

    turn: TurnInput
    reports: tuple[WorkerCommand, ...] = ()


class Workspaces(Protocol):
    """The trees that members work in. Each method may be called again after a crash and finds what it did before."""

    def knows(self, team: str) -> bool:
        """Whether the trees of a team are made on this machine."""

    def keep_place(self) -> str:
        """Return a lasting name for where trees are made, by which machines that share a log are told apart."""

    async def enter(self, turn: TurnInput, team: str, ask: Ask) -> Entered:
        """Make the tree of a turn ready. Raises WorkspaceError, with a sentence for people."""

    async def leave(self, turn: TurnInput, team: str) -> tuple[WorkerCommand, ...]:
        """Record what a turn did, and return what is to be reported. Raises WorkspaceError."""

    def run(self, job: WorkspaceJob, session_id: str, team: str, report: Report) -> Handle:
        """Do a job and report its end."""


class Understood(Struct, frozen=True, kw_only=True):
    """What a message means. `fallback_reason` says why the rules answered instead of the chosen understander."""

    analysis: IntentAnalysis
    fallback_reason: str | None = None
    usage: Usage = NO_USAGE  # what understanding cost


class Understander(Protocol):
    """Says what a message of a person means for the running work."""

    async def understand(self, request: SemanticInput) -> Understood: ...
