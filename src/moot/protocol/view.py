"""What a screen shows of a session: the fold of its frames. Pure, so that every interface shows the same.

`reduce(view, frame)` takes logged frames, streaming ones, and one that never crosses the wire: `connection.changed`, by
which a client tells its own screen about the link. Everything that grows has a bound: the log keeps the rest.
"""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot.core.events import Option
from moot.core.machines.connection import CONNECTION
from moot.core.machines.session import SESSION, Status
from moot.core.notices import render
from moot.core.queue_line import YOU
from moot.core.team import Language, Member
from moot.protocol.happenings import Moved

MESSAGES, NOTICES, TIMELINE, STEPS = 500, 100, 500, 50
STREAMED_CHARS = 100_000  # of a turn that is being written; the end of it is shown
HOUSE = "connection.changed"

Frame = dict[str, Any]


class Line(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message. `author` is `{loop_id}.{role}`, `name` is what people call the member."""

    seq: int
    at: str
    member: str
    name: str
    author: str
    text: str
    turn_id: str | None = None


class Notice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    seq: int
    at: str
    code: str
    text: str


class Question(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An open step."""

    step_id: str
    seq: int
    kind: str
    text: str
    options: tuple[Option, ...] = ()
    expires_at: str | None = None
    default: str | None = None
    asked_by: str | None = None


class Step(Struct, frozen=True, kw_only=True, omit_defaults=True):
    seq: int
    thought: str | None = None
    action: str | None = None
    observation: str | None = None


class RunningTurn(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A turn under way; `streamed` is what it has written so far, as far as it was shown."""

    turn_id: str
    member: str
    name: str
    started_at: str
    steps: tuple[Step, ...] = ()
    streamed: str = ""


class Moment(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row of the timeline: one of the twelve names, and the event that has it."""

    seq: int
    at: str
    name: str
    event: str
    member: str | None = None


class Counters(Struct, frozen=True, kw_only=True):
    messages: int = 0
    turns: int = 0
    failed_turns: int = 0
    tokens: int = 0
    cost_usd: float = 0.0


class Connection(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The link, as far as this screen knows; `reset` is why the history was loaded again, if it was."""

    state: str = CONNECTION.initial
    attempt: int = 0
    retry_in_s: float = 0.0
    reason: str | None = None
    reset: str | None = None


class View(Struct, frozen=True, kw_only=True, omit_defaults=True):
    session_id: str = ""
    seq: int = 0
    at: str = ""
    title: str = ""
    team: str = ""
    flow: str = ""
    language: Language = "en"
    team_task: str = ""
    members: tuple[Member, ...] = ()
    status: Status = SESSION.initial
    waiting_for: str | None = None
    pause_reason: str | None = None
    executing: str | None = None
    pending: tuple[str, ...] = ()
    hops: int = 0
    max_hops: int = 0
    messages: tuple[Line, ...] = ()
    notices: tuple[Notice, ...] = ()
    questions: tuple[Question, ...] = ()
    running: tuple[RunningTurn, ...] = ()
    timeline: tuple[Moment, ...] = ()
    counters: Counters = Counters()
    connection: Connection = Connection()

    def name(self, member_id: str) -> str:
        return next((each.display_name for each in self.members if each.id == member_id), member_id)

    def queue_line(self, viewer: str | None = None) -> str | None:
        """`📋 Queue: [Claude ⏳] → Bob → You`; None when nothing runs and nothing waits."""

        def name(member_id: str) -> str:
            return YOU[self.language] if member_id == viewer else self.name(member_id)

        acting = (f"[{name(self.executing)} ⏳]",) if self.executing else ()
        names = acting + tuple(name(member_id) for member_id in self.pending)
        return render("queue", self.language, names=names) if names else None


def reduce(view: View, frame: Frame) -> View:
    """The view after a frame. A frame that was folded before, or that this version does not know, changes nothing."""
    event, seq = frame["event"], frame.get("seq")
    if seq is None:
        passing = _PASSING.get(event)
        return passing(view, frame) if passing else view
    if seq <= view.seq:
        return view
    placed = replace(view, session_id=frame["session_id"], seq=seq, at=frame["timestamp"])
    if "timeline" in frame:
        moment = Moment(
            seq=seq,
            at=frame["timestamp"],
            name=frame["timeline"],
            event=event,
            member=frame.get("source", {}).get("member"),
        )
        placed = replace(placed, timeline=(*placed.timeline, moment)[-TIMELINE:])
    logged = _LOGGED.get(event)
    return logged(placed, frame, frame.get("metadata", {})) if logged else placed


def connection_frame(moved: Moved) -> Frame:
    """What a client tells its own screen when the link changes."""
    return {"event": HOUSE, "metadata": msgspec.to_builtins(moved)}


def _create(view: View, frame: Frame, said: Frame) -> View:  # noqa: ARG001 - one signature for all
    return replace(
        view,
        title=said["title"],
        team=said["team"],
        flow=said["flow"],
        language=said["language"],
        members=msgspec.convert(said["members"], tuple[Member, ...]),
        max_hops=said.get("chat", {}).get("max_hops", 0),
    )


def _add_message(view: View, frame: Frame, said: Frame) -> View:
    member, source = said["member"], frame.get("source", {})
    line = Line(
        seq=frame["seq"],
        at=frame["timestamp"],
        member=member,
        name=view.name(member),
        author=f"{source.get('loop_id', '')}.{source.get('role', '')}",
        text=said["text"] if said["text"].strip() else said.get("raw") or "",
        turn_id=said.get("turn_id"),
    )
    is_human = line.turn_id is None
    return replace(
        view,
        messages=(*view.messages, line)[-MESSAGES:],
        counters=replace(view.counters, messages=view.counters.messages + 1),
        hops=0 if is_human else view.hops,
    )


def _add_notice(view: View, frame: Frame, said: Frame) -> View:
    text = frame.get("show_content") or f"[{said['code']}]"
    notice = Notice(seq=frame["seq"], at=frame["timestamp"], code=said["code"], text=text)
    return replace(view, notices=(*view.notices, notice)[-NOTICES:])


def _change_queue(view: View, frame: Frame, said: Frame) -> View:  # noqa: ARG001
    return replace(view, executing=said["executing"], pending=tuple(said["pending"]))


def _start_turn(view: View, frame: Frame, said: Frame) -> View:
    turn = RunningTurn(
        turn_id=said["turn_id"], member=said["member"], name=view.name(said["member"]), started_at=frame["timestamp"]
    )
    counters = replace(view.counters, turns=view.counters.turns + 1)
    return replace(view, running=(*view.running, turn), hops=said["hop"], counters=counters)


def _add_step(view: View, frame: Frame, said: Frame) -> View:
    step = Step(
        seq=frame["seq"],
        thought=said.get("thought"),
        action=said.get("action"),
        observation=said.get("observation"),
    )
    return _change_turn(view, said["turn_id"], lambda turn: replace(turn, steps=(*turn.steps, step)[-STEPS:]))


def _complete_turn(view: View, frame: Frame, said: Frame) -> View:  # noqa: ARG001
    usage, counters = said.get("usage", {}), view.counters
    tokens = int(usage.get("input_tokens", 0)) + int(usage.get("output_tokens", 0))
    spent = replace(counters, tokens=counters.tokens + tokens, cost_usd=counters.cost_usd + usage.get("cost_usd", 0.0))
    return replace(_end_turn(view, said["turn_id"]), counters=spent)


def _fail_turn(view: View, frame: Frame, said: Frame) -> View:  # noqa: ARG001
    counters = replace(view.counters, failed_turns=view.counters.failed_turns + 1)
    return replace(_end_turn(view, said["turn_id"]), counters=counters)


def _end_turn(view: View, turn_id: str) -> View:
    return replace(view, running=tuple(turn for turn in view.running if turn.turn_id != turn_id))


def _change_turn(view: View, turn_id: str, change: Callable[[RunningTurn], RunningTurn]) -> View:
    return replace(view, running=tuple(change(turn) if turn.turn_id == turn_id else turn for turn in view.running))


def _activate(view: View, frame: Frame, said: Frame) -> View:  # noqa: ARG001
    return replace(view, status=Status.ACTIVE, waiting_for=None, pause_reason=None, hops=0)


def _pause(view: View, frame: Frame, said: Frame) -> View:  # noqa: ARG001
    return replace(view, status=Status.PAUSED, waiting_for=said["waiting_for"], pause_reason=said["reason"])


def _complete(view: View, frame: Frame, said: Frame) -> View:  # noqa: ARG001
    return replace(view, status=Status.COMPLETED, waiting_for=None)


def _ask(view: View, frame: Frame, said: Frame) -> View:
    question = Question(
        step_id=said["step_id"],
        seq=frame["seq"],
        kind=said["kind"],
        text=frame.get("show_content") or frame.get("content") or said["kind"],
        options=msgspec.convert(said["options"], tuple[Option, ...]),
        expires_at=said["expires_at"],
        default=said["default"],
        asked_by=said.get("asked_by"),
    )
    return replace(view, questions=(*view.questions, question))


def _close_step(view: View, frame: Frame, said: Frame) -> View:  # noqa: ARG001
    return replace(view, questions=tuple(each for each in view.questions if each.step_id != said["step_id"]))


def _set_team_task(view: View, frame: Frame, said: Frame) -> View:  # noqa: ARG001
    return replace(view, team_task=said["team_task"])


def _change_language(view: View, frame: Frame, said: Frame) -> View:  # noqa: ARG001
    return replace(view, language=said["language"])


def _stream(view: View, frame: Frame) -> View:
    """A piece of a turn's text; one that comes after the turn's end is nothing."""
    said = frame["metadata"]
    if frame.get("session_id") != view.session_id:
        return view

    def grow(turn: RunningTurn) -> RunningTurn:
        return replace(turn, streamed=(turn.streamed + said["text"])[-STREAMED_CHARS:])

    return _change_turn(view, said["turn_id"], grow)


def _restart(view: View, frame: Frame) -> View:
    """`resumed: false` for this session: what was had does not count, the whole history follows."""
    said = frame.get("metadata", {})
    if not view.seq or said.get("session_id") != view.session_id or said.get("resumed"):
        return view
    return View(connection=replace(view.connection, reset=said.get("reason", "")))


def _change_connection(view: View, frame: Frame) -> View:
    said = frame["metadata"]
    return replace(
        view,
        connection=Connection(
            state=said["state"],
            attempt=said.get("attempt", 0),
            retry_in_s=said.get("retry_in_s", 0.0),
            reason=said.get("reason"),
            reset=view.connection.reset,
        ),
    )


_PASSING: dict[str, Callable[[View, Frame], View]] = {
    "turn.delta": _stream,
    "system.connected": _restart,
    HOUSE: _change_connection,
}
_LOGGED: dict[str, Callable[[View, Frame, Frame], View]] = {
    "agent.session_created": _create,
    "message.posted": _add_message,
    "notice.posted": _add_notice,
    "queue.changed": _change_queue,
    "turn.started": _start_turn,
    "turn.step": _add_step,
    "turn.completed": _complete_turn,
    "turn.failed": _fail_turn,
    "turn.cancelled": _fail_turn,
    "session.activated": _activate,
    "session.paused": _pause,
    "session.completed": _complete,
    "session.team_task_set": _set_team_task,
    "session.language_changed": _change_language,
    "agent.user_confirm": _ask,
    "agent.user_confirm_closed": _close_step,
}
