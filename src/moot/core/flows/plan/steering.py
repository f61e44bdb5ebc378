"""Inputs about a plan that is under way: nothing changes, a small change, or another plan."""

from moot.core import limits
from moot.core.draft import Draft
from moot.core.flows.plan import finishing, patches, planning, questions, workflow
from moot.core.flows.plan.jobs import work_of
from moot.core.flows.plan.plan_slice import PlanSlice
from moot.core.flows.plan.tasks import InvalidPlan
from moot.core.intake.intent import RoutingDecision
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.workflow import Trigger, WorkflowState
from moot.core.session import steps
from moot.core.session.events import Input, NoticePosted, SessionActivated
from moot.core.session.state import State as Session


def steer_work(draft: Draft, input_: Input, decision: RoutingDecision) -> None:
    match decision.route:
        case "continue_execution":
            _continue(draft)
        case _ if work_of(draft).is_planning:
            replan(draft, input_.text)
        case "full_replan":
            steps.ask_about_input(draft, "ask_replan", ("replan", "continue"), input_)
        case _:
            _change(draft, input_, decision)


def _continue(draft: Draft) -> None:
    """Change nothing. Paused work goes on; a plan that waits for its confirmation still waits."""
    state = draft.state
    if any(step.code == questions.CONFIRM for step in state.open_steps.values()):
        draft.add(NoticePosted(code="plan_waits"))
    if state.interrupt is Interrupt.RESUME_READY:
        draft.add(SessionActivated())


def _change(draft: Draft, input_: Input, decision: RoutingDecision) -> None:
    """Apply the patches that the rules found; if there are none or they do not fit the plan, ask the planner."""
    simple = decision.payload.plan_patches
    try:
        if simple:
            patches.apply(draft, simple)
    except InvalidPlan:
        simple = ()
    if not simple:
        patches.request_change(draft, input_.text, input_.member)


def choices_when_unsure(state: Session) -> tuple[str, ...]:
    if state.part(PlanSlice).current.is_planning:
        return ("continue", "replan", "finish_first", "close_and_start", "drop")
    return ("continue", "minor_replan", "replan", "finish_first", "close_and_start", "drop")


def carry_out(draft: Draft, input_: Input, choice: str) -> None:
    """Do what a human chose for an input: a small change, or another plan."""
    if choice == "minor_replan" and not work_of(draft).is_planning:
        patches.request_change(draft, input_.text, input_.member)
    else:
        replan(draft, input_.text)


def replan(draft: Draft, feedback: str, reason: str = "major_change") -> None:
    """Plan again. Running tasks are stopped; finished ones are kept if they still fit.

    Earlier feedback on a plan that is not approved yet is kept.
    """
    work = work_of(draft)
    if work.is_planning and work.feedback:
        feedback = f"{work.feedback}\n{feedback}"[-limits.HISTORY_CHARS :]
    snapshot_id = workflow.save_snapshot(draft, "replan") if work.is_approved else None
    finishing.stop_tasks(draft, "replan")
    questions.supersede_work(draft)
    match work.status:
        case WorkflowState.WAIT_USER_DECISION:
            workflow.move(draft, Trigger.USER_CHOOSE_REPLAN, reason=reason)
        case WorkflowState.EXECUTION:
            failed = reason != "major_change"
            workflow.move(draft, Trigger.MAJOR_FAILURE if failed else Trigger.MAJOR_CHANGE, reason=reason)
            workflow.move(draft, Trigger.REPLAN_REQUIRED)
        case _:
            pass  # planning already
    planning.start_planning(draft, feedback, snapshot_id)
