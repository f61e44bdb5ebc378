"""Whether a plan still holds after a failure or a change: the planner is asked first, then people if it cannot say.

A planner that keeps deciding to plan again is not asked any more: a human decides.
"""

from moot.core import limits, text
from moot.core.draft import Draft
from moot.core.flows.plan import questions, staffing, workflow
from moot.core.flows.plan.jobs import start_job, work_of
from moot.core.flows.plan.plan_events import Decision, EvaluationStarted, PlanEvaluated
from moot.core.flows.plan.plan_state import Evaluation
from moot.core.json_text import find_object
from moot.core.machines.workflow import Trigger, WorkflowState
from moot.core.session.commands import CompleteTurn
from moot.core.session.state import Turn

DECISIONS: dict[str, Decision] = {"replan": "replan", "continue": "continue", "abort": "abort"}


def start(draft: Draft, evaluation: Evaluation) -> None:
    """Ask the planner. The workflow is in REPLAN_EVALUATION already."""
    planner = staffing.planner(draft.team)
    draft.add(
        EvaluationStarted(
            member=planner.id,
            task_id=evaluation.task_id,
            input=evaluation.input,
            code=evaluation.code,
            error_type=evaluation.error_type,
            detail=evaluation.detail,
        )
    )
    if work_of(draft).replans >= limits.REPLANS:
        ask(draft)
    else:
        start_job(draft, planner, "evaluate", evaluation.task_id or "")


def receive(draft: Draft, turn: Turn, command: CompleteTurn) -> Decision:
    """Log what the planner decided, and return it. An answer that names no decision leaves it to people."""
    answer = command.evaluation or find_object(command.text, "decision") or {}
    decision = DECISIONS.get(str(answer.get("decision")), "ask")
    reason = text.cut(text.clean(str(answer.get("reason") or "")), limits.DETAIL_CHARS)
    task_id = turn.task_id or None
    draft.add(PlanEvaluated(decision=decision, reason=reason, member=turn.member, task_id=task_id))
    return decision


def ask(draft: Draft) -> None:
    """Leave the decision to people."""
    evaluation = work_of(draft).evaluation
    workflow.move(draft, Trigger.USER_DECISION_REQUIRED)
    if evaluation and evaluation.input:
        questions.ask_whether_to_replan(draft, evaluation.input)
    elif evaluation and evaluation.task_id:
        title = work_of(draft).tasks[evaluation.task_id].task.title
        questions.ask_about_failure(draft, evaluation, title)


def withdraw(draft: Draft, task_id: str) -> None:
    """End the evaluation of a task that somebody restarts, changes or cancels: there is nothing left to decide."""
    work = work_of(draft)
    if work.status is not WorkflowState.REPLAN_EVALUATION or work.evaluation is None:
        return
    if work.evaluation.task_id == task_id:
        for turn in draft.state.running:
            if turn.job == "evaluate":
                draft.cancel_turn(turn, "superseded")
        workflow.move(draft, Trigger.REPLAN_NOT_REQUIRED)
