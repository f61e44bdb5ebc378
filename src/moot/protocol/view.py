"""What a screen shows of a session: the fold of its frames. Pure, so that every interface shows the same.

`reduce(view, frame)` takes logged frames, streaming ones, and one that never crosses the wire: `connection.changed`, by
which a client tells its own screen about the link. Everything that grows has a bound: the log keeps the rest.
"""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from moot.protocol.happenings import Moved
from moot.protocol.machine_fold import move_input, move_interrupt
from moot.protocol.plan_fold import PLAN, follow_turn, forget_turn
from moot.protocol.session_fold import SESSION, change_turn
from moot.protocol.supervisor_fold import SUPERVISOR
from moot.protocol.supervisor_fold import follow_turn as follow_job_turn
from moot.protocol.view_parts import STREAMED_CHARS, THINKING_CHARS, TIMELINE, Connection, Moment, RunningTurn, View

__all__ = ["HOUSE", "View", "connection_frame", "reduce"]

HOUSE = "connection.changed"

Frame = dict[str, Any]


def reduce(view: View, frame: Frame) -> View:
    """The view after a frame. A frame that was folded before, or that this version does not know, changes nothing."""
    event, seq = frame["event"], frame.get("seq")
    if seq is None:
        passing = _PASSING.get(event)
        return passing(view, frame) if passing else view
    if seq <= view.seq:
        return view
    said = frame.get("metadata", {})
    placed = _move(replace(view, session_id=frame["session_id"], seq=seq, at=frame["timestamp"]), event, said)
    if "timeline" in frame:
        placed = replace(placed, timeline=(*placed.timeline, _moment(frame, said))[-TIMELINE:])
    logged = LOGGED.get(event)
    return logged(placed, frame, said) if logged else placed


def _move(view: View, event: str, said: Frame) -> View:
    """The machines of an input and of a pause. An answer moves them only if it is about something that was said."""
    if event == "agent.user_confirm_closed" and not any(
        each.input and each.step_id == said["step_id"] for each in view.questions
    ):
        return view
    return replace(
        view,
        input_routing=move_input(view.input_routing, event, said, view.work, view.supervision),
        interrupt=move_interrupt(view.interrupt, event, said),
    )


def connection_frame(moved: Moved) -> Frame:
    """What a client tells its own screen when the link changes."""
    return {"event": HOUSE, "metadata": msgspec.to_builtins(moved)}


def _moment(frame: Frame, said: Frame) -> Moment:
    passed = {"solver.completed": True, "task.failed": False, "task.reviewed": said.get("pass")}
    return Moment(
        seq=frame["seq"],
        at=frame["timestamp"],
        name=frame["timeline"],
        event=frame["event"],
        member=frame.get("source", {}).get("member"),
        task_id=said.get("task_id") or said.get("task", {}).get("id"),
        passed=passed.get(frame["event"]),
    )


def _start_turn(view: View, frame: Frame, said: Frame) -> View:
    return follow_job_turn(follow_turn(SESSION["turn.started"](view, frame, said), said), said)


def _cancel_turn(view: View, frame: Frame, said: Frame) -> View:
    return SESSION["turn.cancelled"](forget_turn(view, said), frame, said)


def _step_plan(view: View, frame: Frame, said: Frame) -> View:
    thought = change_turn(view, said.get("turn_id", ""), lambda turn: replace(turn, thinking=""))
    return PLAN["plan.step_completed"](thought, frame, said)


def _stream(view: View, frame: Frame) -> View:
    """A piece of a turn's text or of its thoughts; one that comes after the turn's end is nothing."""
    said = frame["metadata"]
    if frame.get("session_id") != view.session_id:
        return view

    def grow(turn: RunningTurn) -> RunningTurn:
        if frame["event"] == "turn.thinking":
            return replace(turn, thinking=(turn.thinking + said["text"])[-THINKING_CHARS:])
        return replace(turn, streamed=(turn.streamed + said["text"])[-STREAMED_CHARS:], thinking="")

    return change_turn(view, said["turn_id"], grow)


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
    "turn.thinking": _stream,
    "system.connected": _restart,
    HOUSE: _change_connection,
}
LOGGED: dict[str, Callable[[View, Frame, Frame], View]] = {
    **SESSION,
    **PLAN,
    **SUPERVISOR,
    "turn.started": _start_turn,
    "turn.cancelled": _cancel_turn,
    "plan.step_completed": _step_plan,
}
