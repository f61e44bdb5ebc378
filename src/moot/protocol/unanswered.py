"""Commands that wait for an answer. Each keeps its id and its bytes, so that sending it again does no harm."""

from collections.abc import Iterator
from math import inf
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
    Rename,
    Replan,
    RestartTask,
    Resume,
    Retry,
    SetLanguage,
    SolveTasks,
)
from moot.core.errors import MootError
from moot.core.markers import parse

COMMANDS = 1_000  # that may wait for an answer
ANSWER_S = 30.0  # without an answer for so long, a command is sent again
SENDS = 10  # of one command; each repetition needed a lost link, a busy server or silence
RETRY_S = 1.0  # doubled each time, when the server says that trying again can help
RETRIES = 5


class Waiting:
    """One command."""

    __slots__ = ("command_id", "due", "event", "retries", "sends", "session_id", "text")

    def __init__(self, command_id: str, event: str, session_id: str | None, text: str) -> None:
        self.command_id = command_id
        self.event = event
        self.session_id = session_id
        self.text = text
        self.due = -inf  # when to send it (again)
        self.sends = 0
        self.retries = 0


class Unanswered:
    def __init__(self) -> None:
        self._waiting: dict[str, Waiting] = {}

    def add(self, command_id: str, event: str, session_id: str | None, fields: dict[str, Any]) -> Waiting:
        """The same command again is the one that waits already."""
        place = {} if session_id is None else {"session_id": session_id}
        frame = {"event": event, **place, **fields, "command_id": command_id}
        waiting = Waiting(command_id, event, session_id, msgspec.json.encode(frame).decode())
        known = self._waiting.get(command_id)
        if known and known.text == waiting.text:
            return known
        if known:
            raise MootError(f"command id {command_id!r} is in use for another command; choose a new one")
        if len(self._waiting) >= COMMANDS:
            raise MootError(f"{COMMANDS} commands wait for an answer already; wait for some of them")
        self._waiting[command_id] = waiting
        return waiting

    def find(self, command_id: str) -> Waiting | None:
        return self._waiting.get(command_id)

    def of(self, event: str, session_id: str | None = None) -> list[Waiting]:
        return [
            each
            for each in self._waiting.values()
            if each.event == event and (session_id is None or each.session_id == session_id)
        ]

    def remove(self, command_id: str) -> None:
        self._waiting.pop(command_id, None)

    def due(self, now: float) -> Iterator[Waiting]:
        """Those to send now, in the order they were given; each counts as sent. Who was sent too often is due too."""
        for waiting in list(self._waiting.values()):
            if waiting.due <= now:
                waiting.due = now + ANSWER_S
                waiting.sends += 1
                yield waiting

    def link_is_new(self) -> None:
        """Whatever was on its way is lost, or its answer is."""
        for waiting in self._waiting.values():
            waiting.due = -inf

    def put_off(self, now: float, waiting: Waiting | None = None) -> bool:
        """Try again a little later: one of them, or (the server dropped a frame without saying which) all.

        False when one was put off too often.
        """
        if waiting is None:
            for each in self._waiting.values():
                each.due = min(each.due, now + RETRY_S)
            return True
        waiting.due = now + RETRY_S * 2**waiting.retries
        waiting.retries += 1
        return waiting.retries <= RETRIES


def to_frame(command: HumanCommand) -> dict[str, Any]:
    """The event and fields that ask for this; `frames.to_command` reads them back."""
    match command:
        case Post(text=text, by=by):
            return {"event": "user.message", "content": sign(text, by)}
        case Answer():
            said = {name: getattr(command, name) for name in _ANSWERS}
            given = {key: value for key, value in said.items() if value is not None}
            return {"event": "user.response", "step_id": command.step_id, **given}
        case ChangeQueue(action=action, member=member, to=to):
            place = {"member": member} if member is not None else {}
            return {"event": "user.queue", "action": action, **place, "to": to}
        case SetLanguage(language=language):  # of the session; user.set_language is about the connection
            return {"event": "user.message", "content": f"/lang {language}"}
        case Rename(title=title):
            return {"event": "user.rename", "title": title}
        case SolveTasks(tasks=tasks, question=question):
            return {"event": "user.solve_tasks", "tasks": list(tasks), "question": question}
        case CancelTask(task_id=task_id):
            return {"event": "user.cancel_task", "task_id": task_id}
        case RestartTask(task_id=task_id, member=member):
            given = {} if member is None else {"member": member}
            return {"event": "user.restart_task", "task_id": task_id, **given}
        case Replan(feedback=feedback):
            return {"event": "user.replan", "feedback": feedback}
        case _:
            return {"event": _PLAIN[type(command)]}


_ANSWERS = ("confirmed", "choice", "answer", "tasks", "selected_ids", "custom_input", "state")
_PLAIN: dict[type, str] = {
    End: "user.end",
    Pause: "user.pause",
    Resume: "user.resume",
    Retry: "user.retry",
    CancelTurn: "user.cancel",
    CancelPlan: "user.cancel_plan",
}


def sign(text: str, by: str | None) -> str:
    """Who speaks, in the way the protocol has for it: `[FROM:]`, unless the text is signed or is a slash command."""
    if by is None or text.lstrip().startswith("/") or parse(text).sender:
        return text
    return f"[FROM: {by}] {text}"
