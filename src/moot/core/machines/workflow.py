"""One piece of work from its plan to its end.

Moves are events (`workflow.changed`), made by `moot.core.flows.plan.workflow`. Progress of a task is one already
(`solver.progress`): it iterates and stays in EXECUTION. A failure that other tasks depend on, or a large change, leads
to REPLAN_EVALUATION, where the planner says whether the plan still holds.
"""

from enum import StrEnum

from moot.core.fsm import machine


class WorkflowState(StrEnum):
    PLAN_LOOP = "PLAN_LOOP"
    EXECUTION = "EXECUTION"
    REPLAN_EVALUATION = "REPLAN_EVALUATION"
    WAIT_USER_DECISION = "WAIT_USER_DECISION"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"


class Trigger(StrEnum):
    PLAN_APPROVED = "plan_approved"
    PLAN_NEEDS_USER_CONFIRMATION = "plan_needs_user_confirmation"
    NORMAL_ITERATION = "normal_iteration"
    MAJOR_FAILURE = "major_failure"
    MAJOR_CHANGE = "major_change"
    REPLAN_REQUIRED = "replan_required"
    REPLAN_NOT_REQUIRED = "replan_not_required"
    USER_DECISION_REQUIRED = "user_decision_required"
    USER_CHOOSE_REPLAN = "user_choose_replan"
    USER_CHOOSE_CONTINUE = "user_choose_continue"
    USER_ABORT = "user_abort"
    ALL_DONE_AND_REVIEW_PASSED = "all_done_and_review_passed"
    UNRECOVERABLE_FAILURE = "unrecoverable_failure"


S, T = WorkflowState, Trigger

WORKFLOW = machine(
    "workflow",
    initial=S.PLAN_LOOP,
    final=[S.COMPLETED, S.FAILED],
    rows=[
        (S.PLAN_LOOP, T.PLAN_APPROVED, S.EXECUTION),
        (S.PLAN_LOOP, T.PLAN_NEEDS_USER_CONFIRMATION, S.WAIT_USER_DECISION),
        (S.EXECUTION, T.NORMAL_ITERATION, S.EXECUTION),
        (S.EXECUTION, T.MAJOR_FAILURE, S.REPLAN_EVALUATION),
        (S.EXECUTION, T.MAJOR_CHANGE, S.REPLAN_EVALUATION),
        (S.REPLAN_EVALUATION, T.REPLAN_REQUIRED, S.PLAN_LOOP),
        (S.REPLAN_EVALUATION, T.REPLAN_NOT_REQUIRED, S.EXECUTION),
        (S.REPLAN_EVALUATION, T.USER_DECISION_REQUIRED, S.WAIT_USER_DECISION),
        (S.WAIT_USER_DECISION, T.USER_CHOOSE_REPLAN, S.PLAN_LOOP),
        (S.WAIT_USER_DECISION, T.USER_CHOOSE_CONTINUE, S.EXECUTION),
        (S.WAIT_USER_DECISION, T.USER_ABORT, S.FAILED),
        (S.EXECUTION, T.ALL_DONE_AND_REVIEW_PASSED, S.COMPLETED),
        (S.EXECUTION, T.UNRECOVERABLE_FAILURE, S.FAILED),
    ],
    extensions=[
        (S.PLAN_LOOP, T.USER_ABORT, S.FAILED),
        (S.EXECUTION, T.USER_ABORT, S.FAILED),
        (S.REPLAN_EVALUATION, T.USER_ABORT, S.FAILED),
    ],
)


def iterate(state: WorkflowState) -> WorkflowState:
    """A task makes progress. While a decision is open, that changes nothing."""
    return WORKFLOW.walk(state, {S.EXECUTION: (T.NORMAL_ITERATION,)})
