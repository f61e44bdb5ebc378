"""The table of commands: every `user.*` frame that a client may send.

A command for a session is a struct of the core, a frame about the connection is a struct of this module. Each names its
event and describes its fields; a row of the table adds what only the wire knows. Reading, writing, JSON Schema,
AsyncAPI, OpenAPI and the page's TypeScript types are all derived from these rows.

In a frame every field may be at top level, in `metadata`, or in `content` when that is an object; the first place that
has it counts. Unknown fields are ignored.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Protocol, get_args, get_origin

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import FieldInfo

from moot.core import limits
from moot.core.flows.plan import plan_commands as plan
from moot.core.intake.markers import parse
from moot.core.session import commands as core
from moot.core.session import workspace_commands as trees
from moot.core.session.commands import HumanCommand
from moot.core.session.principal import Principal
from moot.core.session.team import Language
from moot.protocol.protocol_errors import ProtocolError
from moot.protocol.strict_json import read_object

SESSION_ID = re.compile(r"[a-z0-9_-]{8,64}")
COMMAND_ID_CHARS = 128
MAX_SEQ = 2**53 - 1
ABOUT_SENDER = ("by", "principal", "files")  # fields of commands that no frame can set
PASSING_FIELDS = ("timestamp", "seq", "event_id", "hash", "show_content")  # of the envelope; they change nothing

Seq = Annotated[int, Meta(ge=0, le=MAX_SEQ)]
SessionId = Annotated[str, Meta(pattern=f"^{SESSION_ID.pattern}$")]
CommandId = Annotated[str, Meta(min_length=1, max_length=COMMAND_ID_CHARS)]


class Create(Struct, frozen=True, kw_only=True):
    """Create a session of a team and follow it from seq 1."""

    event: ClassVar[str] = "user.create_session"
    team: Annotated[str | None, Meta(description="the server's first team if absent")] = None
    title: str = ""


class Reconnect(Struct, frozen=True, kw_only=True):
    """Follow a session: its whole history, then live."""

    event: ClassVar[str] = "user.reconnect"
    session_id: SessionId


class ReconnectWithState(Struct, frozen=True, kw_only=True):
    """Follow a session from a place in its log: what is missing, then live."""

    event: ClassVar[str] = "user.reconnect_with_state"
    session_id: SessionId
    last_seq: Seq | None = None
    last_event_id: str | None = None
    state_checksum: Annotated[str | None, Meta(description="the hash of the last event that the client has")] = None
    signed_state: Annotated[str | None, Meta(description="from agent.state_exported; names the place by itself")] = None


class RequestState(Struct, frozen=True, kw_only=True):
    """Ask for the state of a session; the answer is agent.state_exported."""

    event: ClassVar[str] = "user.request_state"
    session_id: SessionId


class Ack(Struct, frozen=True, kw_only=True):
    """Tell the server how far the client has read. It is never refused and deletes nothing. An integer as `content`
    is `last_seq`."""

    event: ClassVar[str] = "user.ack"
    last_seq: Seq | None = None
    last_event_id: str | None = None


class ChangeLanguage(Struct, frozen=True, kw_only=True):
    """Choose the language of the texts for people that this connection is sent."""

    event: ClassVar[str] = "user.set_language"
    language: Language


class Watch(Struct, frozen=True, kw_only=True):
    """Be told of the sessions that one may read: system.sessions with the list, then with each change, until `on` is
    false or the connection ends."""

    event: ClassVar[str] = "user.watch"
    what: Literal["sessions"]
    on: bool = True


class Task(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A task of a plan. A whole number as id counts as its decimal text; other keys are kept."""

    id: Annotated[str, Meta(max_length=limits.NAME_CHARS)] | int
    title: Annotated[str, Meta(max_length=limits.TITLE_CHARS)]
    objective: str = ""
    depends_on: list[str | int] = []
    role: str = ""
    member: str = ""
    deliverable: str = ""


Tasks = Annotated[list[Task], Meta(max_length=limits.TASKS)]
EditedPlan = Annotated[Tasks | None, Meta(description="the plan as it was edited; checked like any plan")]
Title = Annotated[str, Meta(min_length=1, max_length=limits.TITLE_CHARS)]


class Fields(Protocol):
    """Where a row looks for the fields of a command."""

    content: Any

    def get(self, name: str) -> Any: ...


class Row:
    """One command, and how it may be written.

    kind: the struct; its ClassVar `event` is the name of the frame.
    text: the field that a string as `content` stands for; it counts more than the field itself.
    items: the field that an array as `content` stands for, if the field is absent.
    also: other names of fields.
    absent: values of required fields that are missing where the session itself refuses them, with a better sentence.
    documented: types to show in the documents, where the session checks a field and reading it does not.
    """

    def __init__(
        self,
        kind: Any,
        *,
        text: str | None = None,
        items: str | None = None,
        also: Mapping[str, str] | None = None,
        absent: Mapping[str, Any] | None = None,
        documented: Mapping[str, Any] | None = None,
    ) -> None:
        self.kind = kind
        self.event: str = kind.event
        self.fields = tuple(field for field in msgspec.structs.fields(kind) if field.name not in ABOUT_SENDER)
        self.also = also or {}
        self.documented = documented or {}
        self.text = text
        self.items = items
        self._absent = absent or {}

    @property
    def description(self) -> str:
        """The docstring of the command, with what a bare `content` means."""
        words = [" ".join(self.kind.__doc__.split())]
        words += [f"A string as `content` is `{self.text}`."] if self.text else []
        words += [f"An array as `content` is `{self.items}`."] if self.items else []
        return " ".join(words)

    def read(self, frame: Fields) -> dict[str, Any]:
        """Return the fields that a frame has. Raises ProtocolError if one is missing or of another type."""
        values = {}
        for field in self.fields:
            value = self._find(frame, field.name)
            if field.required and value in (None, ""):
                value = self._absent.get(field.name)
                if value is None:
                    raise _missing(field)
            if value is not None:
                values[field.name] = _convert(value, field)
        return values

    def _find(self, frame: Fields, name: str) -> Any:
        if name == self.text and isinstance(frame.content, str):
            return frame.content
        value = frame.get(name)
        if value is None and name in self.also:
            value = frame.get(self.also[name])
        if value is None and name == self.items and isinstance(frame.content, list):
            value = frame.content
        return value


def _convert(value: Any, field: FieldInfo) -> Any:
    if field.name == "task_id" and type(value) is int:  # a number as id counts as its decimal text
        value = str(value)
    try:
        return msgspec.convert(value, field.type)
    except msgspec.ValidationError:
        raise ProtocolError("bad_field", detail=_describe(field)) from None


def _missing(field: FieldInfo) -> ProtocolError:
    if field.name == "step_id":
        return ProtocolError("missing_step_id")
    return ProtocolError("bad_field", detail=_describe(field))


def _describe(field: FieldInfo) -> str:
    """The name of a field, with what it may be if that is one of a few words."""
    if get_origin(field.type) is not Literal:
        return field.name
    *words, last = get_args(field.type)
    return f"{field.name} ({', '.join(words)} or {last})"


ABOUT_CONNECTION = {
    row.event: row
    for row in (
        Row(Create),
        Row(Reconnect),
        Row(ReconnectWithState),
        Row(RequestState),
        Row(Ack),
        Row(ChangeLanguage, text="language"),
        Row(Watch, text="what"),
    )
}
FOR_SESSION = {
    row.event: row
    for row in (
        Row(core.Post, text="text", absent={"text": ""}),
        Row(core.Answer, items="tasks", also={"confirmed": "approved"}, documented={"tasks": EditedPlan}),
        Row(core.CancelTurn),
        Row(core.Stop),
        Row(core.Pause),
        Row(core.Resume),
        Row(core.Retry),
        Row(core.ChangeQueue, text="action"),
        Row(core.End),
        Row(core.Rename, text="title", absent={"title": ""}, documented={"title": Title}),
        Row(trees.Take, text="how"),
        Row(trees.Undo, documented={"task_id": str | int | None}),
        Row(trees.Comment, text="text", absent={"text": ""}),
        Row(plan.SolveTasks, text="question", items="tasks", absent={"tasks": []}, documented={"tasks": Tasks}),
        Row(plan.CancelTask, text="task_id", documented={"task_id": str | int}),
        Row(plan.RestartTask, text="task_id", documented={"task_id": str | int}),
        Row(plan.CancelPlan),
        Row(plan.Replan, text="feedback"),
    )
}
COMMANDS = {**ABOUT_CONNECTION, **FOR_SESSION}


class ClientFrame:
    """A frame as a client sent it. Raises ProtocolError `unknown_event` if the table has no such command."""

    __slots__ = ("_places", "content", "event")

    def __init__(self, data: dict[str, Any]) -> None:
        event = data.get("event")
        self.event = event if isinstance(event, str) else ""
        self.content = data.get("content")
        metadata = data.get("metadata")
        self._places = [place for place in (data, metadata, self.content) if isinstance(place, dict)]
        if self.event not in COMMANDS:
            error = ProtocolError("unknown_event", detail=str(event)[:80], available=tuple(COMMANDS))
            command_id = self.get("command_id")
            error.command_id = command_id if _is_command_id(command_id) else None
            raise error

    def get(self, name: str) -> Any:
        """Return a field from the first place that has it, or None."""
        for place in self._places:
            if place.get(name) is not None:
                return place[name]
        return None

    @property
    def session_id(self) -> str | None:
        """The session that is named, or None. Raises ProtocolError `not_found` for what cannot be an id."""
        value = self.get("session_id")
        if value is None:
            return None
        if not isinstance(value, str) or not SESSION_ID.fullmatch(value):
            raise ProtocolError("not_found")
        return value

    @property
    def command_id(self) -> str | None:
        """The id under which the command is done at most once, or None. Raises ProtocolError."""
        value: str | None = self.get("command_id")
        if value is not None and not _is_command_id(value):
            raise ProtocolError("bad_field", detail="command_id")
        return value

    @property
    def event_place(self) -> tuple[str, int] | None:
        """The session and seq that `last_event_id` names, or None. Raises ProtocolError `bad_cursor`."""
        event_id = self.get("last_event_id")
        if event_id is None:
            return None
        if not isinstance(event_id, str):
            raise ProtocolError("bad_cursor")
        session_id, _, seq = event_id.rpartition("-")
        if not SESSION_ID.fullmatch(session_id) or not seq.isascii() or not seq.isdigit():
            raise ProtocolError("bad_cursor")
        return session_id, _read_seq(int(seq) if len(seq) < 20 else -1)

    @property
    def cursor(self) -> int | None:
        """`last_seq`, else the seq of `last_event_id`, or None. Raises ProtocolError `bad_cursor`.

        A `last_seq` of null is refused: a client that lost its place must not be taken for one that has none.
        """
        for place in self._places:
            if "last_seq" in place:
                return _read_seq(place["last_seq"])
        if type(self.content) is int and self.event == Ack.event:
            return _read_seq(self.content)
        place_named = self.event_place
        return place_named[1] if place_named else None

    def digest_source(self) -> bytes:
        """Return the bytes that identify the command: independent of the order of keys and of when it was sent."""
        body = {name: value for name, value in self._places[0].items() if name not in PASSING_FIELDS}
        return msgspec.json.encode(body, order="sorted")


def read_frame(text: str) -> ClientFrame:
    """Read a frame from its JSON. Raises ProtocolError."""
    return ClientFrame(read_object(text))


def read_command(frame: ClientFrame, principal: Principal | None) -> HumanCommand:
    """Return the command for a session that a frame carries; `principal` is the authenticated sender.

    Raises ProtocolError if a field is wrong, or if the frame is about the connection.
    """
    row = FOR_SESSION.get(frame.event)
    if row is None:
        raise ProtocolError("not_in_this_flow", detail=frame.event)
    by = principal.member if principal else None
    command: HumanCommand = row.kind(**row.read(frame), by=by, principal=principal)
    return command


def write_command(command: HumanCommand) -> dict[str, Any]:
    """Return the event and the fields of the frame for a command; `read_command` is the inverse."""
    match command:
        case core.Post(text=text, by=by, to=to, inputs=inputs, step_id=step_id, attachments=attachments):
            files = msgspec.to_builtins(attachments)
            fields = {"to": to, "inputs": inputs, "step_id": step_id, "attachments": files}
            given = {name: value for name, value in fields.items() if value}
            return {"event": command.event, "content": sign(text, by), **given}
        case core.SetLanguage(language=language):  # user.set_language would be about the connection
            return {"event": core.Post.event, "content": f"/lang {language}"}
        case _:
            names = [field.name for field in FOR_SESSION[command.event].fields]
            given = {name: value for name in names if (value := getattr(command, name)) is not None}
            return {"event": command.event, **given}


def sign(text: str, by: str | None) -> str:
    """Prefix a text with `[FROM: by]`, unless it is signed already or is a slash command."""
    if by is None or text.lstrip().startswith("/") or parse(text).sender:
        return text
    return f"[FROM: {by}] {text}"


def _is_command_id(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= COMMAND_ID_CHARS


def _read_seq(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= MAX_SEQ:  # bool is an int, 4.0 and "4" are not
        raise ProtocolError("bad_cursor")
    return value
