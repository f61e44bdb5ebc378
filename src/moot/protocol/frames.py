"""Frames: what clients send, read leniently as to place and strictly as to form; and what the server says unlogged.

In a client frame every field may stand at top level, in `metadata`, or in `content` when that is an object; the first
found in that order counts. Unknown fields are ignored.
"""

import re
from typing import Any

import msgspec

from moot.core.commands import (
    Answer,
    CancelPlan,
    CancelTask,
    CancelTurn,
    ChangeQueue,
    End,
    HumanCommand,
    Pause,
    Post,
    QueueAction,
    Rename,
    Replan,
    RestartTask,
    Resume,
    Retry,
    SolveTasks,
)
from moot.core.team import Language
from moot.protocol.errors import ProtocolError
from moot.protocol.strict_json import read_object

PROTOCOL = 1
SESSION_ID = re.compile(r"[a-z0-9_-]{8,64}")
COMMAND_ID_CHARS = 128
MAX_SEQ = 2**53 - 1
PASSING_FIELDS = ("timestamp", "seq", "event_id", "hash", "show_content")  # of the envelope; they change nothing

PLAN_EVENTS = ("user.solve_tasks", "user.cancel_task", "user.restart_task", "user.cancel_plan", "user.replan")
CONNECTION_EVENTS = (
    "user.create_session",
    "user.reconnect",
    "user.reconnect_with_state",
    "user.request_state",
    "user.ack",
    "user.set_language",
)
COMMAND_EVENTS = (
    "user.message",
    "user.response",
    "user.cancel",
    "user.pause",
    "user.resume",
    "user.retry",
    "user.queue",
    "user.end",
    "user.rename",
    *PLAN_EVENTS,
)
CLIENT_EVENTS = (*CONNECTION_EVENTS, *COMMAND_EVENTS)

_encode = msgspec.json.Encoder().encode


class ClientFrame:
    """A frame as a client sent it."""

    __slots__ = ("_places", "content", "event")

    def __init__(self, data: dict[str, Any]) -> None:
        event = data.get("event")
        self.event = event if isinstance(event, str) else ""
        self.content = data.get("content")
        metadata = data.get("metadata")
        self._places = [place for place in (data, metadata, self.content) if isinstance(place, dict)]
        if self.event not in CLIENT_EVENTS:
            error = ProtocolError("unknown_event", detail=str(event)[:80], available=CLIENT_EVENTS)
            named = self.get("command_id")
            error.command_id = named if _is_command_id(named) else None
            raise error

    def get(self, name: str) -> Any:
        """A field from wherever it stands; None when it stands nowhere."""
        for place in self._places:
            if place.get(name) is not None:
                return place[name]
        return None

    def text(self, name: str) -> str | None:
        """A field that must be text if it is there."""
        value = self.get(name)
        if value is not None and not isinstance(value, str):
            raise ProtocolError("bad_field", detail=name)
        return value

    @property
    def session_id(self) -> str | None:
        """None when it is not there; an id that could not be one is somebody's guess: not found."""
        value = self.get("session_id")
        if value is None:
            return None
        if not isinstance(value, str) or not SESSION_ID.fullmatch(value):
            raise ProtocolError("not_found")
        return value

    @property
    def command_id(self) -> str | None:
        value = self.text("command_id")
        if value is not None and not _is_command_id(value):
            raise ProtocolError("bad_field", detail="command_id")
        return value

    @property
    def event_place(self) -> tuple[str, int] | None:
        """The session and seq that `last_event_id` names; None when it is not there, bad_cursor when it is none."""
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
        """`last_seq`, or the seq in `last_event_id`; None when neither is there, bad_cursor when it is no seq."""
        for place in self._places:
            if "last_seq" in place:
                return _read_seq(place["last_seq"])
        if type(self.content) is int and self.event == "user.ack":
            return _read_seq(self.content)
        named = self.event_place
        return named[1] if named else None

    def digest_source(self) -> bytes:
        """The body that a command id stands for: not how its keys are ordered, nor when it was sent."""
        said = {name: value for name, value in self._places[0].items() if name not in PASSING_FIELDS}
        return msgspec.json.encode(said, order="sorted")


def read_frame(text: str) -> ClientFrame:
    return ClientFrame(read_object(text))


def find_command_id(text: str) -> str | None:
    """The command id of a frame that is not obeyed, whatever else is wrong with it."""
    try:
        return read_frame(text).command_id
    except ProtocolError as error:
        return error.command_id


def to_command(frame: ClientFrame, by: str | None) -> HumanCommand:
    """What a frame asks a session to do. `by` is the human that the connection speaks for."""
    match frame.event:
        case "user.message":
            said = frame.content if isinstance(frame.content, str) else frame.text("text")
            return Post(text=said or "", by=by)
        case "user.response":
            return _read_answer(frame, by)
        case "user.cancel":
            return CancelTurn(by=by)
        case "user.pause":
            return Pause(by=by)
        case "user.resume":
            return Resume(by=by)
        case "user.retry":
            return Retry(by=by)
        case "user.end":
            return End(by=by)
        case "user.rename":
            return Rename(title=_text_content(frame, "title"), by=by)
        case "user.queue":
            return _read_queue_change(frame, by)
        case _:
            return _read_plan_command(frame, by)


def _read_plan_command(frame: ClientFrame, by: str | None) -> HumanCommand:
    match frame.event:
        case "user.solve_tasks":
            return SolveTasks(tasks=_read_tasks(frame) or (), question=_text_content(frame, "question"), by=by)
        case "user.cancel_task":
            return CancelTask(task_id=_read_task_id(frame), by=by)
        case "user.restart_task":
            return RestartTask(task_id=_read_task_id(frame), member=frame.text("member"), by=by)
        case "user.cancel_plan":
            return CancelPlan(by=by)
        case "user.replan":
            return Replan(feedback=_text_content(frame, "feedback"), by=by)
        case _:
            raise ProtocolError("not_in_this_flow", detail=frame.event)


def _text_content(frame: ClientFrame, name: str) -> str:
    """A text that may also be the content itself."""
    return frame.content if isinstance(frame.content, str) else frame.text(name) or ""


def _read_tasks(frame: ClientFrame) -> tuple[Any, ...] | None:
    """The tasks, unchecked: the session knows its team. A bare list as content is meant too."""
    tasks = frame.get("tasks")
    if tasks is None and isinstance(frame.content, list):
        tasks = frame.content
    if tasks is not None and not isinstance(tasks, list):
        raise ProtocolError("bad_field", detail="tasks")
    return None if tasks is None else tuple(tasks)


def _read_task_id(frame: ClientFrame) -> str:
    task_id = frame.content if isinstance(frame.content, str) else frame.get("task_id")
    if type(task_id) is int:  # a number as id counts as its decimal string
        task_id = str(task_id)
    if not isinstance(task_id, str) or not task_id:
        raise ProtocolError("bad_field", detail="task_id")
    return task_id


def _read_answer(frame: ClientFrame, by: str | None) -> Answer:
    step_id = frame.text("step_id")
    if not step_id:
        raise ProtocolError("missing_step_id")
    confirmed = frame.get("confirmed")
    if confirmed is None:
        confirmed = frame.get("approved")
    if confirmed is not None and not isinstance(confirmed, bool):
        raise ProtocolError("bad_field", detail="confirmed")
    return Answer(
        step_id=step_id,
        by=by,
        confirmed=confirmed,
        choice=frame.text("choice"),
        answer=frame.text("answer"),
        tasks=_read_tasks(frame),
        selected_ids=_read_selected(frame),
        custom_input=frame.text("custom_input"),
        state=_read_state(frame),
    )


def _read_selected(frame: ClientFrame) -> tuple[str, ...] | None:
    selected = frame.get("selected_ids")
    if selected is None:
        return None
    if not isinstance(selected, list) or not all(isinstance(each, str) for each in selected):
        raise ProtocolError("bad_field", detail="selected_ids")
    return tuple(selected)


def _read_state(frame: ClientFrame) -> dict[str, Any] | None:
    """An agent's output as it was edited; the session knows which keys are whose."""
    state = frame.get("state")
    if state is not None and not isinstance(state, dict):
        raise ProtocolError("bad_field", detail="state")
    return state


def _read_queue_change(frame: ClientFrame, by: str | None) -> ChangeQueue:
    wanted = frame.content if isinstance(frame.content, str) else frame.get("action")
    to = frame.get("to") or 0
    if type(to) is not int:
        raise ProtocolError("bad_field", detail="to")
    try:
        action = msgspec.convert(wanted, QueueAction)
    except msgspec.ValidationError:
        raise ProtocolError("bad_field", detail="action (skip, clear or move)") from None
    return ChangeQueue(action=action, by=by, member=frame.text("member"), to=to)


def _is_command_id(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= COMMAND_ID_CHARS


def _read_seq(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= MAX_SEQ:  # bool is an int, 4.0 and "4" are not
        raise ProtocolError("bad_cursor")
    return value


def unlogged(
    event: str,
    timestamp: str,
    *,
    session_id: str | None = None,
    content: str | None = None,
    metadata: dict[str, Any] | None = None,
) -> str:
    """A frame of the connection itself: it has no seq, no event_id and no hash."""
    frame: dict[str, Any] = {"event": event}
    if session_id is not None:
        frame["session_id"] = session_id
    frame["timestamp"] = timestamp
    if content is not None:
        frame["content"] = content
    frame["metadata"] = metadata or {}
    return _encode(frame).decode()


def error_frame(
    error: ProtocolError, timestamp: str, language: Language, *, session_id: str | None, command_id: str | None
) -> str:
    """`agent.error` when a session refuses, `system.error` when the connection does."""
    metadata: dict[str, Any] = {"code": error.code, "retryable": error.retryable}
    if command_id is not None:
        metadata["command_id"] = command_id
    for name in ("by", "problems"):
        if name in error.params:
            metadata[name] = error.params[name]
    name = "system.error" if session_id is None else "agent.error"
    return unlogged(name, timestamp, session_id=session_id, content=error.explain(language), metadata=metadata)
