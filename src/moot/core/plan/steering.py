"""Steering work with what people say (seed 002 §7): each route of the front door, and the answers to its questions."""

from moot.core import limits
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.events import Input, NoticePosted, SessionActivated, StepAsked
from moot.core.intent import ControlAction, RoutingDecision
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.workflow import State, Trigger
from moot.core.plan import finishing, patches, planning, questions, workflow
from moot.core.plan.controls import cancel, pause, resume
from moot.core.plan.events import InputDeferred
from moot.core.plan.jobs import work_of
from moot.core.plan.status import status_notice
from moot.core.plan.tasks import InvalidPlan

CONTROLS = ("pause", "resume", "cancel", "status_query")


def begin(draft: Draft, text: str, member: str, *, is_deferred: bool = False) -> None:
    workflow.begin(draft, text, member, is_deferred=is_deferred)
    planning.start_planning(draft)


def steer(draft: Draft, said: Input, decision: RoutingDecision) -> None:
    """Do what was decided about an input."""
    work = draft.state.work
    active = work if work and work.is_active else None
    match decision.route:
        case "control_action":
            control(draft, decision.payload.control_action or "status_query", said.member)
        case "new_task" if active is None:
            begin(draft, said.text, said.member)
        case "new_task":
            questions.ask_about_input(draft, "ask_new_task", ("finish_first", "close_and_start", "drop"), said)
        case "continue_execution":
            _continue(draft)
        case "full_replan" | "minor_replan" if active is None:
            begin(draft, said.text, said.member)
        case "full_replan" | "minor_replan" if work_of(draft).is_planning:
            replan(draft, said.text)
        case "full_replan":
            questions.ask_about_input(draft, "ask_replan", ("replan", "continue"), said)
        case "minor_replan":
            _change(draft, said, decision)
        case "wait_user_decision":
            _ask_what_it_means(draft, said, decision)


def _continue(draft: Draft) -> None:
    """Nothing changes. A plan is never approved by that: it still waits; paused work goes on."""
    state = draft.state
    if any(step.code == planning.CONFIRM for step in state.open_steps.values()):
        draft.add(NoticePosted(code="plan_waits"))
    if state.interrupt is Interrupt.RESUME_READY:
        draft.add(SessionActivated())


def _change(draft: Draft, said: Input, decision: RoutingDecision) -> None:
    """Simple changes come as patches from the rules; where those do not fit the plan, the planner decides."""
    simple = decision.payload.plan_patches
    try:
        if simple:
            patches.apply(draft, simple)
    except InvalidPlan:
        simple = ()
    if not simple:
        patches.request_change(draft, said.text, said.member)


def _ask_what_it_means(draft: Draft, said: Input, decision: RoutingDecision) -> None:
    guess = decision.payload.control_action
    work = work_of(draft) if draft.state.work and draft.state.work.is_active else None
    options: tuple[str, ...] = ("continue", "minor_replan", "replan", "finish_first", "close_and_start", "drop")
    if work is None:
        options = ("close_and_start", "drop")
    elif work.is_planning:
        options = ("continue", "replan", "finish_first", "close_and_start", "drop")
    questions.ask_about_input(draft, "ask_unsure", (guess, *options) if guess else options, said)


def control(draft: Draft, action: ControlAction, by: str) -> None:
    """What cannot be done is said, not refused: nobody waits for the answer to this."""
    member = draft.team.member(by)
    try:
        match action:
            case "pause":
                pause(draft, member)
            case "resume":
                resume(draft)
            case "cancel":
                cancel(draft, member)
            case "status_query":
                draft.add(status_notice(draft.state))
    except Refused as refusal:
        draft.add(NoticePosted(code=refusal.code, detail=str(refusal.params.get("detail", ""))))


def choose(draft: Draft, step: StepAsked, choice: str) -> None:
    """A human decided what becomes of an input. When the work is over meanwhile, it is a goal of its own."""
    said = step.input
    assert said is not None  # noqa: S101 - questions about inputs carry them
    work = draft.state.work
    is_active = work is not None and work.is_active
    if choice in CONTROLS:
        control(draft, choice, said.member)  # type: ignore[arg-type]
    elif choice in ("continue", "drop"):
        if choice == "drop":
            draft.add(NoticePosted(code="input_dropped", detail=said.text[:200]))
    elif not is_active:
        begin(draft, said.text, said.member)
    elif choice == "finish_first":
        if len(draft.state.door.deferred) >= limits.DEFERRED:
            raise Refused("too_many_inputs", limit=limits.DEFERRED)
        draft.add(InputDeferred(text=said.text, member=said.member))
    elif choice == "close_and_start":
        finishing.interrupt(draft, "closed_for_new_task")
        begin(draft, said.text, said.member)
    elif choice == "minor_replan" and not work_of(draft).is_planning:
        patches.request_change(draft, said.text, said.member)
    else:
        replan(draft, said.text)


def replan(draft: Draft, feedback: str, reason: str = "major_change") -> None:
    """Plan again. What is finished is kept where it still fits; what runs is stopped.

    What was asked of a plan that is still in the making is asked of the next one too.
    """
    work = work_of(draft)
    if work.is_planning and work.feedback:
        feedback = f"{work.feedback}\n{feedback}"[-limits.HISTORY_CHARS :]
    snapshot_id = workflow.save_snapshot(draft, "replan") if work.is_approved else None
    finishing.stop_tasks(draft, "replan")
    questions.supersede_work(draft)
    match work.status:
        case State.WAIT_USER_DECISION:
            workflow.move(draft, Trigger.USER_CHOOSE_REPLAN, reason=reason)
        case State.EXECUTION:
            failed = reason != "major_change"
            workflow.move(draft, Trigger.MAJOR_FAILURE if failed else Trigger.MAJOR_CHANGE, reason=reason)
            workflow.move(draft, Trigger.REPLAN_REQUIRED)
        case _:
            pass  # planning already
    planning.start_planning(draft, feedback, snapshot_id)
