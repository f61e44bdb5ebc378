"""How what is shown of every session changes: one function a fact."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from moot.core.events import Option
from moot.core.machines.session import Status
from moot.core.team import Member
from moot.protocol.view_parts import MESSAGES, NOTICES, STEPS, Line, Notice, Question, RunningTurn, Step, View

Frame = dict[str, Any]


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


def add_message(view: View, frame: Frame, said: Frame) -> View:
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
    is_human = frame["event"] == "message.posted" and line.turn_id is None
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
        turn_id=said["turn_id"],
        member=said["member"],
        name=view.name(said["member"]),
        started_at=frame["timestamp"],
        job=said.get("job", ""),
        task_id=said.get("task_id", ""),
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
    return change_turn(
        view, said["turn_id"], lambda turn: replace(turn, steps=(*turn.steps, step)[-STEPS:], thinking="")
    )


def _complete_turn(view: View, frame: Frame, said: Frame) -> View:  # noqa: ARG001
    return spend(_end_turn(view, said["turn_id"]), said)


def spend(view: View, said: Frame) -> View:
    usage, counters = said.get("usage", {}), view.counters
    tokens = int(usage.get("input_tokens", 0)) + int(usage.get("output_tokens", 0))
    spent = replace(counters, tokens=counters.tokens + tokens, cost_usd=counters.cost_usd + usage.get("cost_usd", 0.0))
    return replace(view, counters=spent)


def _fail_turn(view: View, frame: Frame, said: Frame) -> View:  # noqa: ARG001
    counters = replace(view.counters, failed_turns=view.counters.failed_turns + 1)
    return spend(replace(_end_turn(view, said["turn_id"]), counters=counters), said)


def _end_turn(view: View, turn_id: str) -> View:
    return replace(view, running=tuple(turn for turn in view.running if turn.turn_id != turn_id))


def change_turn(view: View, turn_id: str, change: Callable[[RunningTurn], RunningTurn]) -> View:
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
        text=frame.get("show_content") or said.get("question") or said["kind"],
        options=msgspec.convert(said["options"], tuple[Option, ...]),
        expires_at=said["expires_at"],
        default=said["default"],
        asked_by=said.get("asked_by"),
        who=said.get("who", ""),
        code=said.get("code", ""),
        task_id=said.get("task_id"),
        error_type=said.get("error_type", ""),
        input=(said.get("input") or {}).get("text", ""),
        tasks=None if said.get("tasks") is None else tuple(said["tasks"]),
        plan_summary=said.get("plan_summary") or "",
        job=said.get("job", ""),
        key=said.get("key", ""),
        selection=said.get("selection") or "",
        allow_custom_input=said.get("allow_custom_input", False),
    )
    return replace(view, questions=(*view.questions, question))


def _close_step(view: View, frame: Frame, said: Frame) -> View:  # noqa: ARG001
    return replace(view, questions=tuple(each for each in view.questions if each.step_id != said["step_id"]))


def _set_team_task(view: View, frame: Frame, said: Frame) -> View:  # noqa: ARG001
    return replace(view, team_task=said["team_task"])


def _change_language(view: View, frame: Frame, said: Frame) -> View:  # noqa: ARG001
    return replace(view, language=said["language"])


def _rename(view: View, frame: Frame, said: Frame) -> View:  # noqa: ARG001
    return replace(view, title=said["title"])


SESSION: dict[str, Callable[[View, Frame, Frame], View]] = {
    "agent.session_created": _create,
    "message.posted": add_message,
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
    "session.renamed": _rename,
    "agent.user_confirm": _ask,
    "agent.user_confirm_closed": _close_step,
}
