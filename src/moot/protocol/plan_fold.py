"""How the view follows the front door and the plan flow: one function a fact."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from moot.core import limits
from moot.protocol import task_fold, work_fold
from moot.protocol.session_fold import add_message, spend
from moot.protocol.view_parts import View
from moot.protocol.work_view import STEP_CHARS, DeferredInput, UnderstoodInput

Frame = dict[str, Any]
Fold = Callable[[View, Frame, Frame], View]


def _begin_input(view: View, frame: Frame, said: Frame) -> View:
    new = said["input"]
    understood = UnderstoodInput(
        input_id=new["input_id"], seq=frame["seq"], member=new["member"], text=new["text"][:STEP_CHARS]
    )
    return replace(view, input=understood)


def _understand(view: View, frame: Frame, said: Frame) -> View:
    """Of the newest input; when an older one is understood late, that is in the timeline."""
    known = _newest(view, frame, said)
    if known is None:
        return view
    relation, judged = said["analysis"]["task_relation"], said["analysis"].get("assessment")
    understood = replace(
        known,
        relation=relation["type"],
        confidence=relation["confidence"],
        reasoning=relation["reasoning"],
        deltas=judged["assessment"] if judged else None,
    )
    return replace(view, input=understood)


def _route(view: View, frame: Frame, said: Frame) -> View:
    """In chat the queue decides: there is no route."""
    known = _newest(view, frame, said) if said.get("route") else None
    if known is None:
        return view
    routed = replace(
        known,
        route=said["route"],
        confidence=said["confidence"],
        message=frame.get("show_content") or said.get("user_message", ""),
        asks=said.get("user_confirmation_required", False),
    )
    return replace(view, input=routed)


def _newest(view: View, frame: Frame, said: Frame) -> UnderstoodInput | None:
    input_id = said.get("input_id") or ""
    known = view.input
    if known and known.input_id == input_id:
        return known
    if known and said.get("analysis"):
        return None
    return UnderstoodInput(input_id=input_id, seq=frame["seq"])  # under `explicit` nothing came before


def _change_workflow(view: View, frame: Frame, said: Frame) -> View:  # noqa: ARG001 - one signature for all
    left = view.deferred[1:] if said.get("is_deferred") else view.deferred
    return replace(view, work=work_fold.begin(view.work, said), deferred=left)


def _defer(view: View, frame: Frame, said: Frame) -> View:  # noqa: ARG001
    put_off = DeferredInput(text=said["text"][:STEP_CHARS], member=said["member"])
    return replace(view, deferred=(*view.deferred, put_off)[: limits.DEFERRED])


def _answer(view: View, frame: Frame, said: Frame) -> View:
    return add_message(view, frame, said)


def _on_work(event: str) -> Fold:
    def change(view: View, frame: Frame, said: Frame) -> View:
        if view.work is None:
            return view
        return replace(view, work=work_fold.FOLD[event](view.work, said, frame["timestamp"]))

    return change


def _on_task(event: str) -> Fold:
    def change(view: View, frame: Frame, said: Frame) -> View:
        if view.work is None:
            return view
        return replace(view, work=work_fold.change_task(view.work, event, said, frame["timestamp"]))

    return change


def _start_task(view: View, frame: Frame, said: Frame) -> View:
    started = _on_task("solver.start")(view, frame, said)
    return replace(started, counters=replace(view.counters, turns=view.counters.turns + 1))


def _complete_task(view: View, frame: Frame, said: Frame) -> View:
    return spend(_on_task("solver.completed")(view, frame, said), said)


def _fail_task(view: View, frame: Frame, said: Frame) -> View:
    failed = _on_task("task.failed")(view, frame, said)
    counters = replace(view.counters, failed_turns=view.counters.failed_turns + 1)
    return spend(replace(failed, counters=counters), said)


def follow_turn(view: View, said: Frame) -> View:
    """A turn that reviews a task moves it."""
    if view.work is None or said.get("job") != "review":
        return view
    rows = task_fold.request_review(view.work.tasks, said.get("task_id", ""))
    return replace(view, work=replace(view.work, tasks=rows))


def forget_turn(view: View, said: Frame) -> View:
    """A turn that was cancelled is not tried again."""
    turn = next((each for each in view.running if each.turn_id == said["turn_id"]), None)
    if view.work is None or turn is None:
        return view
    job = f"{turn.job}:{turn.task_id}" if turn.task_id else turn.job
    left = {each: trouble for each, trouble in view.work.troubles.items() if each != job}
    return replace(view, work=replace(view.work, troubles=left))


PLAN: dict[str, Fold] = {
    "understanding.started": _begin_input,
    "understanding.completed": _understand,
    "routing.decided": _route,
    "workflow.changed": _change_workflow,
    "workflow.deferred": _defer,
    "agent.final_answer": _answer,
    **{event: _on_task(event) for event in task_fold.CHANGES},
    **{event: _on_work(event) for event in work_fold.FOLD},
    "solver.start": _start_task,
    "solver.completed": _complete_task,
    "task.failed": _fail_task,
}
