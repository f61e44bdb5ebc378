"""The plan flow as lines: how an input was understood, the plan, questions and answers, steering, the end.

An event that is part of another's story (an ack, a phase that everybody sees change) gives none.
"""

from collections.abc import Callable
from typing import Any

from moot.cli.lines.tasks import TASK_LINES
from moot.cli.lines.telling import Telling, indent
from moot.core import events
from moot.core.interruption import STOPPED
from moot.core.machines.interrupt import State as Interrupt
from moot.core.notices import show
from moot.core.plan import events as plan
from moot.core.plan import staffing


def _understand(tell: Telling, fact: events.UnderstandingCompleted) -> list[str]:
    relation, work = fact.analysis.task_relation, tell.before.work
    is_new = relation.type == "different_task" and not (work and work.is_active)
    meant = tell.say("relation_new" if is_new else f"relation_{relation.type}")
    percent = round(100 * relation.confidence)
    return [tell.say("understood", relation=meant, percent=percent, reason=relation.reasoning)]


def _route(tell: Telling, fact: events.RoutingDecided) -> list[str]:  # noqa: ARG001 - one signature for all
    """When it asks, the question says it."""
    if fact.route is None or fact.user_confirmation_required or not fact.user_message:
        return []
    return [f"→ {fact.user_message}"]


def _start_plan(tell: Telling, fact: plan.PlanStarted) -> list[str]:
    code = "planning_again" if fact.feedback else "planning"
    return indent("", tell.say(code, who=tell.name(fact.member), detail=fact.feedback))


def _step_plan(tell: Telling, fact: plan.PlanStepped) -> list[str]:
    return indent(f"  · {tell.name(fact.member)}: ", fact.step)


def _show_plan(tell: Telling, fact: plan.PlanCompleted) -> list[str]:
    summary = fact.plan_summary or tell.say("plan_untold", count=len(fact.tasks))
    return [*indent("", tell.say("plan_is", detail=summary)), *tell.tasks(fact.tasks, fact.kept)]


def _refuse_plan(tell: Telling, fact: plan.PlanRefused) -> list[str]:
    planner = staffing.planner(tell.after.team)
    return [tell.say("plan_sent_back", who=planner.display_name, problems=fact.problems)]


def _approve_plan(tell: Telling, fact: plan.PlanApproved) -> list[str]:
    """Approved by hand, it is told with the answer."""
    shown = tell.before.work.proposed if tell.before.work else ()
    if shown and fact.by is not None:
        return []
    told = tell.say("plan_taken", count=len(fact.tasks))
    return [told] if shown else [told, *tell.tasks(fact.tasks, fact.kept)]


def _cancel_plan(tell: Telling, fact: plan.PlanCancelled) -> list[str]:
    return [tell.say("plan_cancelled", reason=tell.say(f"reason_{fact.reason}"))]


def _interrupt(tell: Telling, fact: plan.Interrupted) -> list[str]:
    return [tell.say("work_stopped", reason=tell.say(f"reason_{fact.reason}"))]


def _ask(tell: Telling, fact: events.StepAsked) -> list[str]:
    question = show(fact, tell.after.language) or fact.step_id
    names = tuple(option.id for option in fact.options)
    return [*indent("? ", question), *([tell.say("options", names=names)] if names else [])]


def _answer(tell: Telling, fact: events.StepClosed) -> list[str]:
    """One that was overtaken is told by what overtook it."""
    step = tell.before.open_steps.get(fact.step_id)
    if fact.outcome == "expired":
        return [tell.say("nobody_answered")]
    if fact.outcome != "answered" or step is None:
        return []
    if step.kind == "plan":
        return _answer_plan(tell, fact)
    chosen = next((option.label for option in step.options if option.id == fact.choice), None)
    said = [each for each in (chosen, fact.answer) if each]
    return indent("", tell.say("answered", who=tell.name(fact.by), detail=" · ".join(said))) if said else []


def _answer_plan(tell: Telling, fact: events.StepClosed) -> list[str]:
    who = tell.name(fact.by)
    if fact.choice == "reject":
        return [tell.say("plan_rejected", who=who)]
    if fact.choice != "approve":
        return indent("", tell.say("answered", who=who, detail=fact.answer or ""))
    if fact.tasks is None:
        return [tell.say("plan_approved", who=who)]
    return [tell.say("plan_approved_edited", who=who), *tell.tasks(fact.tasks)]


def _request_change(tell: Telling, fact: plan.ChangeRequested) -> list[str]:  # noqa: ARG001
    return [tell.say("change_asked", who=staffing.planner(tell.after.team).display_name)]


def _patch(tell: Telling, fact: plan.PlanPatched) -> list[str]:
    changes = [tell.say(f"patch_{patch.op}", title=tell.title(patch.task_id)) for patch in fact.patches]
    return [tell.say("plan_patched"), *changes]


def _defer(tell: Telling, fact: plan.InputDeferred) -> list[str]:
    return indent("", tell.say("put_off", detail=fact.text))


def _change_workflow(tell: Telling, fact: plan.WorkflowChanged) -> list[str]:
    return indent("", tell.say("put_off_begins", detail=fact.question or "")) if fact.is_deferred else []


def _save(tell: Telling, fact: plan.SnapshotSaved) -> list[str]:
    count = len(tell.after.work.tasks) if tell.after.work else 0
    return [tell.say("checkpoint", detail=fact.snapshot_id, count=len(fact.done), limit=count)]


def _request_pause(tell: Telling, fact: events.PauseRequested) -> list[str]:  # noqa: ARG001
    return [tell.say("pausing")] if tell.after.work else []


def _activate(tell: Telling, fact: events.SessionActivated) -> list[str]:  # noqa: ARG001
    was = tell.before.interrupt
    is_back = was in STOPPED or was in (Interrupt.PAUSING, Interrupt.RESUME_READY)
    return [tell.say("resumed")] if tell.after.work and is_back else []


def _fail_turn(tell: Telling, fact: events.TurnFailed) -> list[str]:
    """In chat a notice says it."""
    about = {"error_type": fact.error_type, "detail": tell.failure(fact)}
    return indent("", tell.say("turn_broke", who=tell.name(fact.member), **about)) if tell.after.work else []


def _aggregate(tell: Telling, fact: plan.AggregateStarted) -> list[str]:
    return [tell.say("aggregating", who=tell.name(fact.member))]


def _complete(tell: Telling, fact: plan.PipelineCompleted) -> list[str]:
    return [tell.say(f"work_{fact.status}")]


PLAN_LINES: dict[type, Callable[[Telling, Any], list[str]]] = {
    events.UnderstandingCompleted: _understand,
    events.RoutingDecided: _route,
    events.StepAsked: _ask,
    events.StepClosed: _answer,
    events.PauseRequested: _request_pause,
    events.SessionActivated: _activate,
    events.TurnFailed: _fail_turn,
    plan.PlanStarted: _start_plan,
    plan.PlanStepped: _step_plan,
    plan.PlanCompleted: _show_plan,
    plan.PlanRefused: _refuse_plan,
    plan.PlanApproved: _approve_plan,
    plan.PlanCancelled: _cancel_plan,
    plan.Interrupted: _interrupt,
    plan.ChangeRequested: _request_change,
    plan.PlanPatched: _patch,
    plan.InputDeferred: _defer,
    plan.WorkflowChanged: _change_workflow,
    plan.SnapshotSaved: _save,
    plan.AggregateStarted: _aggregate,
    plan.PipelineCompleted: _complete,
    **TASK_LINES,
}
