"""The wire between a server and its workers: JSON frames over a WebSocket at `/worker`.

It is the Dispatch port: jobs are offered, answered and cancelled; a worker reports what its agents do, and each report
is answered when it is durable. Nothing that a server sends names a program: a worker plays members of its own team
files.
"""

import re
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from moot.core.session.commands import (
    AckDispatch,
    AskHuman,
    AskMember,
    AskPeople,
    AwaitAnswer,
    CompleteTool,
    CompleteTurn,
    FailTurn,
    HandOver,
    NackDispatch,
    OfferReport,
    ReportBlocked,
    ReportDelivery,
    ReportSpending,
    ReportStep,
    ShowFile,
    StartTask,
    TurnReport,
    WorkerCommand,
)
from moot.core.session.workspace_commands import ReportChange, ReportTree

PATH = "/worker"
CHUNK_CHARS = 60_000  # of a message; more is sent in several: a server takes no larger ones (four bytes a character)
MESSAGE_CHARS = 32 * 1024 * 1024
MORE, LAST = "+", "."  # how a message begins

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")

COMMANDS: dict[str, type[WorkerCommand]] = {
    command.__name__: command
    for command in (
        *(AckDispatch, NackDispatch, StartTask, ReportStep, ReportDelivery, CompleteTurn, FailTurn, CompleteTool),
        *(AskHuman, AskPeople, AskMember, AwaitAnswer, HandOver, ReportBlocked, ShowFile, ReportTree, ReportChange),
        ReportSpending,
    )
}


class Held(Struct, frozen=True):
    job: int
    attempt: int


class Refusal(Struct, frozen=True, kw_only=True):
    code: str
    params: dict[str, Any] = {}


# from a worker


class Hello(Struct, frozen=True, kw_only=True, tag_field="event", tag="worker.hello"):
    """`worker` is the same for one data folder; `holds` is what it still works on."""

    worker: str
    name: str
    pools: tuple[str, ...]
    teams: tuple[str, ...]
    at_once: int
    holds: tuple[Held, ...] = ()


class Beat(Struct, frozen=True, kw_only=True, tag_field="event", tag="worker.beat"):
    """The worker lives; the answer says what it still holds."""

    number: int


class Bye(Struct, frozen=True, kw_only=True, tag_field="event", tag="worker.bye"):
    """The worker stops; what it holds is for others."""


class ReportJob(Struct, frozen=True, kw_only=True, tag_field="event", tag="job.report"):
    """Sent again, with the same number, until there is a receipt."""

    job: int
    attempt: int
    number: int
    commands: tuple[dict[str, Any], ...]


class DeclineJob(Struct, frozen=True, kw_only=True, tag_field="event", tag="job.decline"):
    """The worker cannot play what it was offered."""

    job: int
    attempt: int
    reason: str


class ShowPiece(Struct, frozen=True, kw_only=True, tag_field="event", tag="job.show"):
    job: int
    attempt: int
    what: Literal["delta", "thinking"]
    text: str


class GetFile(Struct, frozen=True, kw_only=True, tag_field="event", tag="job.get_file"):
    request: int
    job: int
    attempt: int
    sha256: str


class PutFile(Struct, frozen=True, kw_only=True, tag_field="event", tag="job.put_file"):
    request: int
    job: int
    attempt: int
    data: bytes


# to a worker


class Welcome(Struct, frozen=True, kw_only=True, tag_field="event", tag="worker.welcome"):
    """`holds` is what it may go on with; the rest of what it held is over."""

    lease_s: float
    holds: tuple[Held, ...] = ()


class Renewed(Struct, frozen=True, kw_only=True, tag_field="event", tag="worker.renewed"):
    number: int
    holds: tuple[Held, ...] = ()


class OfferJob(Struct, frozen=True, kw_only=True, tag_field="event", tag="job.offer"):
    job: int
    attempt: int
    kind: Literal["turn", "task", "tool"]
    team: str
    input: msgspec.Raw


class AnswerJob(Struct, frozen=True, kw_only=True, tag_field="event", tag="job.answer"):
    job: int
    step_id: str
    choice: str | None
    answer: str | None


class BringMessage(Struct, frozen=True, kw_only=True, tag_field="event", tag="job.message"):
    job: int
    number: int
    by: str
    text: str


class CancelJob(Struct, frozen=True, kw_only=True, tag_field="event", tag="job.cancel"):
    job: int
    attempt: int


class Receipt(Struct, frozen=True, kw_only=True, tag_field="event", tag="job.receipt"):
    """`refused`: why the last command of the report was, if it was."""

    job: int
    attempt: int
    number: int
    refused: Refusal | None = None


class FileReply(Struct, frozen=True, kw_only=True, tag_field="event", tag="job.file"):
    request: int
    data: bytes | None = None
    sha256: str = ""
    refused: Refusal | None = None


FromWorker = Hello | Beat | Bye | ReportJob | DeclineJob | ShowPiece | GetFile | PutFile
ToWorker = Welcome | Renewed | OfferJob | AnswerJob | BringMessage | CancelJob | Receipt | FileReply

_from_worker: msgspec.json.Decoder[FromWorker] = msgspec.json.Decoder(FromWorker)
_to_worker: msgspec.json.Decoder[ToWorker] = msgspec.json.Decoder(ToWorker)


def encode(frame: FromWorker | ToWorker) -> list[str]:
    """Return the messages that carry a frame."""
    text = msgspec.json.encode(frame).decode()
    parts = [text[at : at + CHUNK_CHARS] for at in range(0, len(text), CHUNK_CHARS)]
    return [*(MORE + part for part in parts[:-1]), LAST + parts[-1]]


class Assembly:
    """Assembles frames from messages. Raises ValueError for a malformed message or a frame that is too long."""

    def __init__(self, limit: int = MESSAGE_CHARS) -> None:
        self.size = 0  # of the parts that are here
        self._limit = limit
        self._parts: list[str] = []

    def take(self, message: str) -> str | None:
        """Return the text of the frame that this message completes, else None."""
        if message[:1] not in (MORE, LAST):
            raise ValueError("a message begins with + or .")
        self._parts.append(message[1:])
        self.size += len(message)
        if self.size > self._limit:
            raise ValueError(f"a frame has at most {self._limit} characters")
        if message[0] == MORE:
            return None
        text, self._parts, self.size = "".join(self._parts), [], 0
        return text


def read_from_worker(text: str) -> FromWorker:
    """Read a worker's frame. Raises ValueError."""
    return _from_worker.decode(text)


def read_to_worker(text: str) -> ToWorker:
    """Read a server's frame. Raises ValueError."""
    return _to_worker.decode(text)


def write_commands(commands: Sequence[WorkerCommand]) -> tuple[dict[str, Any], ...]:
    return tuple({"type": type(command).__name__, **msgspec.to_builtins(command)} for command in commands)


def read_commands(written: Sequence[dict[str, Any]], turn_id: str, member: str) -> list[WorkerCommand]:
    """Read the commands of a report about a member's turn.

    Raises ValueError if one is of no known kind, or about another turn or member.
    """
    commands: list[WorkerCommand] = []
    for fields in written:
        kind = COMMANDS.get(str(fields.get("type")))
        if kind is None:
            raise ValueError(f"no command {fields.get('type')!r} of a worker")
        command = msgspec.convert({name: value for name, value in fields.items() if name != "type"}, kind)
        if _find_turn(command) != turn_id:
            raise ValueError(f"{kind.__name__} is about another turn than {turn_id}")
        if isinstance(command, ReportSpending) and command.member != member:
            raise ValueError(f"{kind.__name__} is about another member than {member}")
        if not all(_COMMIT.fullmatch(each) for each in _find_commits(command)):
            raise ValueError(f"{kind.__name__} names something else than a commit")
        commands.append(command)
    if not commands:
        raise ValueError("a report has at least one command")
    return commands


def _find_commits(command: WorkerCommand) -> tuple[str, ...]:
    """Return what git will be given on its command line, where any other text could be an option."""
    match command:
        case ReportTree(base=base):
            return (base,)
        case ReportChange(commit=commit, parent=parent):
            return (commit, parent)
        case _:
            return ()


def _find_turn(command: WorkerCommand) -> str:
    match command:
        case OfferReport(dispatch_id=turn_id):
            return turn_id
        case TurnReport(turn_id=turn_id) | ReportTree(turn_id=turn_id) | ReportChange(turn_id=turn_id):
            return turn_id
        case ReportSpending(turn_id=turn_id):
            return turn_id
        case CompleteTool(call_id=call_id):
            return call_id
        case _:
            return ""
