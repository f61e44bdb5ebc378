"""Where the pure core meets the world: five small protocols, each with an in-memory twin or a fake in `moot.testing`.

Nothing outside these ports may assume that two parts of Moot share a process.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from moot.core.codec import Event, Head
from moot.core.commands import WorkerCommand
from moot.core.events import Option, PauseReason
from moot.core.intent import IntentAnalysis, SemanticInput
from moot.core.machines.session import Status
from moot.core.supervisor.events import ToolCall
from moot.core.team import Flow
from moot.core.turns import TurnInput
from moot.core.usage import Usage


class Handle(Protocol):
    def cancel(self) -> object: ...


class Clock(Protocol):
    """Wall time for stamps, monotonic time for waiting."""

    def now(self) -> str:
        """RFC 3339, UTC, milliseconds, `Z`."""

    def monotonic(self) -> float:
        """Seconds; never goes back."""

    def call_later(self, delay_s: float, callback: Callable[[], object]) -> Handle: ...

    async def sleep(self, delay_s: float) -> None: ...


class CommandKey(Struct, frozen=True):
    """Makes a command exactly-once: the id its sender chose and a digest of its body."""

    command_id: str
    digest: str


class Receipt(Struct, frozen=True):
    """What became of a command: `seq` is the head after it."""

    digest: str
    seq: int


class LastLine(Struct, frozen=True):
    """How the last message begins, on one line; `by` is what people call its author."""

    by: str
    text: str


class Summary(Struct, frozen=True, kw_only=True):
    """What a list of sessions shows. `busy`: something is outstanding, so a restart must open this session.

    Kept beside the log and written with it whenever the floor changes hands: listing folds nothing.
    """

    title: str
    team: str
    flow: Flow
    status: Status
    waiting_for: str | None
    busy: bool
    pause_reason: PauseReason | None = None
    messages: int = 0  # so far
    last: LastLine | None = None


class Listing(Struct, frozen=True, kw_only=True):
    session_id: str
    created_at: str
    updated_at: str
    head: Head
    summary: Summary
    removed_at: str | None = None  # when it went to the trash


class Snapshot(Struct, frozen=True):
    """A folded state, as a cache: it may be missing, old, or of another version of the code (`version`)."""

    head: Head
    version: str
    state: bytes


class Log(Protocol):
    """The only truth. Appends are durable when `append` returns; reads verify the hash chain."""

    async def append(
        self,
        session_id: str,
        expected_seq: int,
        events: Sequence[Event],
        *,
        command: CommandKey | None = None,
        summary: Summary | None = None,
    ) -> None:
        """All or nothing. Raises Conflict when the head is not `expected_seq`, StorageFull when the disk is.

        `expected_seq` 0 makes the session and needs a summary; later a summary is given only when it changed.
        """

    async def read(self, session_id: str, after: int = 0, limit: int = 1_000) -> list[Event]:
        """Events with seq > after, in order. Raises NotFound, or Corrupt at the first that is not what was written."""

    def follow(self, session_id: str, after: int = 0) -> AsyncGenerator[list[Event], None]:
        """History behind `after`, then live, for ever; batches are never empty, no hole and no double between them."""

    async def head(self, session_id: str) -> Head:
        """Raises NotFound."""

    async def find_command(self, session_id: str, command_id: str) -> Receipt | None: ...

    async def sessions(self, *, removed: bool = False) -> list[Listing]:
        """Newest first by last event; those in the trash only if they are asked for, and then no others."""

    async def remove(self, session_id: str, at: str) -> None:
        """To the trash: for all others there is no such session. Raises NotFound. Those who follow it are ended."""

    async def restore(self, session_id: str) -> None:
        """Out of the trash, as it was. Raises NotFound when it is not there."""

    async def delete(self, session_id: str) -> None:
        """For good, from the trash or not. Raises NotFound. Those who follow it are ended."""

    async def save_snapshot(self, session_id: str, snapshot: Snapshot) -> None: ...

    async def load_snapshot(self, session_id: str) -> Snapshot | None: ...

    async def close(self) -> None: ...


class Delta(Struct, frozen=True):
    """A piece of text as it is being written: shown, never logged."""

    text: str


class Thinking(Struct, frozen=True):
    """A piece of a thought as it is being thought: shown, never logged. The whole of it follows as a step."""

    text: str


class Step(Struct, frozen=True, kw_only=True):
    """Something an agent thought, did or saw; logged."""

    thought: str | None = None
    action: str | None = None
    observation: str | None = None
    total: int | None = None  # of the steps of a task, where it is known


class Result(Struct, frozen=True, kw_only=True):
    """The end of a turn. `plan`, `patches` and `review` are what planners and reviewers return, where it is not text.

    In the supervisor flow an agent returns `state` (keys that it owns), `tool_calls` ({name, args}) and `ask` (a
    question to people: {question, options, selection, allow_custom_input, key}).
    """

    text: str = ""
    usage: Usage = Usage()
    plan: dict[str, Any] | None = None
    patches: tuple[Any, ...] | None = None
    review: dict[str, Any] | None = None
    state: dict[str, Any] | None = None
    tool_calls: tuple[Any, ...] | None = None
    ask: dict[str, Any] | None = None


Output = Delta | Thinking | Step | Result


class Ask(Protocol):
    """Asks people for a permission and waits: the id of the option that they chose.

    The first option is what a plain yes means. A no, and no answer in five minutes, is `default`. Without options they
    are `allow` and `reject`. `key` names the question within the turn (its text, if there is none): it is put once,
    also when a crash makes the turn run again. A turn that ends withdraws its questions.
    """

    async def __call__(
        self, question: str, options: Sequence[Option] = (), *, key: str = "", default: str | None = None
    ) -> str | None: ...


class Agent(Protocol):
    """Plays an AI member. Yields outputs, the last one a Result; raises AgentError; is cancelled like any task.

    An agent that has a method `refuse(turn) -> str | None` may turn a task down before it starts; one that has a method
    `act_asking(turn, ask: Ask)` may ask people in the middle of a turn: it is called instead of `act`.
    """

    def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]: ...


class Report(Protocol):
    """Durable when it returns; what comes too late is ignored."""

    def __call__(self, *commands: WorkerCommand) -> Awaitable[None]: ...


Show = Callable[[str, Delta | Thinking], None]  # by turn id


@runtime_checkable
class Worker(Handle, Protocol):
    """Somebody at work on a turn. Cancelling it stops it; once its end is reported, cancelling does nothing."""

    @property
    def is_alive(self) -> bool:
        """Whether it still holds its lease."""

    @property
    def is_in_line(self) -> bool:
        """Whether it has taken a task and waits for room to start it."""

    def answer(self, step_id: str, choice: str | None) -> None:
        """What came of a question, whether it has asked it yet or, after a crash, will."""


class ToolJob(Struct, frozen=True, kw_only=True):
    """A call that an agent of the supervisor flow made, to be run between its turns."""

    session_id: str
    team: str
    member: str
    call: ToolCall


class Dispatch(Protocol):
    """Hands turns to workers. A worker reports steps and exactly one end; a report that comes too late is ignored."""

    def start(self, turn: TurnInput, team: str, report: Report, show: Show) -> Worker:
        """Have a turn played."""

    def offer(self, turn: TurnInput, team: str, report: Report, show: Show) -> Worker:
        """The same for a task, with the handshake: taken or not, then started (seed 002 §10)."""

    def call(self, job: ToolJob, report: Report) -> Handle:
        """Have a member's tool run."""


class Understood(Struct, frozen=True, kw_only=True):
    """What an input means, and why the understander that was chosen did not say it itself, if so."""

    analysis: IntentAnalysis
    fallback_reason: str | None = None


class Understander(Protocol):
    """The front door's first step. Always answers: who cannot, lets the rules answer and says why."""

    async def understand(self, given: SemanticInput) -> Understood: ...
