"""Inputs about a plan that is under way: nothing changes, a small change, or another plan."""

from moot.core import limits
from moot.core.draft import Draft
from moot.core.flows.plan import controls, evaluation, finishing, patches, planning, questions, workflow
from moot.core.flows.plan.jobs import work_of
from moot.core.flows.plan.plan_events import GoalChanged
from moot.core.flows.plan.plan_slice import PlanSlice, find_work
from moot.core.flows.plan.plan_state import Evaluation
from moot.core.flows.plan.tasks import InvalidPlan, read_tasks
from moot.core.intake.intent import Route, RoutingDecision
from moot.core.intake.intent_routing import tell_route
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.workflow import Trigger, WorkflowState
from moot.core.session.commands import CompleteTurn
from moot.core.session.events import Input, NoticePosted
from moot.core.session.state import State as Session
from moot.core.session.state import Turn
from moot.core.texts import render

_WHILE_PLANNING: dict[Route, str] = {
    "continue_execution": "route_plan_stays",
    "minor_replan": "route_plan_again",
    "full_replan": "route_plan_again",
}


def steer_work(draft: Draft, input_: Input, decision: RoutingDecision) -> None:
    match decision.route:
        case "continue_execution":
            _continue(draft)
        case "full_replan" if work_of(draft).is_planning:
            replan_for(draft, input_)
        case _ if work_of(draft).is_planning:
            replan(draft, input_.text)
        case "full_replan":
            _weigh(draft, input_)
        case _:
            _change(draft, input_, decision)


def adapt_route(decision: RoutingDecision, state: Session) -> RoutingDecision:
    """Say what happens to a plan that is not approved: it stays as it is, or is made again without a question."""
    work = find_work(state)
    if work is None or not work.is_active or not work.is_planning or decision.route not in _WHILE_PLANNING:
        return decision
    return tell_route(decision, _WHILE_PLANNING[decision.route], state.language)


def _continue(draft: Draft) -> None:
    """Change nothing. Paused work goes on; a plan that waits for its confirmation still waits."""
    state = draft.state
    if any(step.code == questions.CONFIRM for step in state.open_steps.values()):
        draft.add(NoticePosted(code="plan_waits"))
    if state.interrupt is Interrupt.RESUME_READY:
        draft.activate()


def _weigh(draft: Draft, input_: Input) -> None:
    """Ask the planner whether a large change needs another plan; ask people where it cannot be asked."""
    if work_of(draft).status is WorkflowState.EXECUTION and draft.state.interrupt is Interrupt.EXECUTION:
        workflow.move(draft, Trigger.MAJOR_CHANGE, reason="major_change")
        evaluation.start(draft, Evaluation(input=input_, code=questions.REPLAN))
    else:
        questions.ask_whether_to_replan(draft, input_)


def receive_evaluation(draft: Draft, turn: Turn, command: CompleteTurn) -> None:
    """Do what the planner decided about its plan."""
    weighed, reason = work_of(draft).evaluation or Evaluation(), work_of(draft).replan_reason
    match evaluation.receive(draft, turn, command):
        case "replan" if weighed.input:
            replan_for(draft, weighed.input)
        case "replan":
            title = work_of(draft).tasks[weighed.task_id or ""].task.title
            replan(draft, f"{title}: {weighed.error_type} {weighed.detail}".strip(), reason or "major_failure")
        case "continue":
            workflow.move(draft, Trigger.REPLAN_NOT_REQUIRED)
            if weighed.task_id:
                controls.skip_task(draft, weighed.task_id, None)
        case "abort":
            workflow.move(draft, Trigger.REPLAN_NOT_REQUIRED)
            finishing.give_up(draft, "planner_abort")
        case _:
            evaluation.ask(draft)


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
    return ("continue", *_changes(state), "finish_first", "close_and_start", "drop", "abort")


def choices_for_new_task(state: Session) -> tuple[str, ...]:
    """Return what a human may choose for an input that was taken for another task."""
    return ("finish_first", "close_and_start", *_changes(state), "drop", "abort")


def _changes(state: Session) -> tuple[str, ...]:
    """Return the changes that a human may choose. An unapproved plan is made again for every change."""
    return ("replan",) if state.part(PlanSlice).current.is_planning else ("minor_replan", "replan")


def carry_out(draft: Draft, input_: Input, choice: str) -> None:
    """Do what a human chose for an input: a small change, or another plan."""
    if work_of(draft).is_planning:
        replan(draft, input_.text)
    elif choice == "minor_replan":
        patches.request_change(draft, input_.text, input_.member)
    else:
        replan_for(draft, input_)


def replan_for(draft: Draft, input_: Input) -> None:
    """Plan again because of a change so large that the work gets another goal."""
    was = work_of(draft).question
    draft.add(GoalChanged(question=_reword(draft, input_), was=was, member=input_.member))
    replan(draft, input_.text)


def follow_up(draft: Draft, input_: Input) -> None:
    """Begin work that continues the complete one: the same goal with the change, planned with the finished result."""
    workflow.begin(draft, _reword(draft, input_), input_.member, follows=True)
    planning.start_planning(draft, input_.text)


def answer_back(draft: Draft, input_: Input) -> None:
    """Have a question about complete work answered: one task with the result at hand, without a plan to approve."""
    objective = render("answer_back", draft.state.language)
    title = " ".join(input_.text.split())[: limits.TITLE_CHARS]
    tasks = read_tasks([{"id": "answer", "title": title, "objective": objective}], draft.team)
    workflow.begin(draft, work_of(draft).question, input_.member, follows=True, asks_back=True)
    planning.approve(draft, tasks, input_.member, Trigger.PLAN_APPROVED)


def _reword(draft: Draft, input_: Input) -> str:
    """Return the goal with a change: in the words of the model that understood it, else the old goal and the change."""
    half = limits.HISTORY_CHARS // 2
    was, change = work_of(draft).question[:half], input_.text[:half]
    return input_.goal or render("changed_goal", draft.state.language, goal=was, change=change)


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
        case WorkflowState.REPLAN_EVALUATION:
            workflow.move(draft, Trigger.REPLAN_REQUIRED)
        case _:
            pass  # planning already
    planning.start_planning(draft, feedback, snapshot_id)
