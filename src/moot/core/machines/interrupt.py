"""Interrupting running work and giving it new instructions (seed 002 §7). The extension resumes without new input."""

from enum import StrEnum

from moot.core.fsm import machine


class State(StrEnum):
    EXECUTION = "EXECUTION"
    PAUSING = "PAUSING"
    PAUSED = "PAUSED"
    UNDERSTANDING_NEW_INPUT = "UNDERSTANDING_NEW_INPUT"
    RELATION_CHECK = "RELATION_CHECK"
    RESUME_READY = "RESUME_READY"
    MINOR_REPLAN = "MINOR_REPLAN"
    WAIT_USER_DECISION = "WAIT_USER_DECISION"
    PLAN_LOOP = "PLAN_LOOP"
    NEW_TASK_INIT = "NEW_TASK_INIT"


class Trigger(StrEnum):
    ESC = "esc"
    PAUSE_BUTTON = "pause_button"
    CHECKPOINT_SAVED = "checkpoint_saved"
    NEW_USER_INPUT = "new_user_input"
    TASK_UNDERSTANDING_READY = "task_understanding_ready"
    SAME_TASK_NO_MAJOR_CHANGE = "same_task_no_major_change"
    SAME_TASK_MINOR_CHANGE = "same_task_minor_change"
    SAME_TASK_MAJOR_CHANGE = "same_task_major_change"
    DIFFERENT_TASK = "different_task"
    RESUME_EXECUTION = "resume_execution"
    PATCH_PLAN_APPLIED = "patch_plan_applied"
    FULL_REPLAN = "full_replan"
    CONTINUE_CURRENT = "continue_current"
    MINOR_REPLAN = "minor_replan"
    CLOSE_AND_NEW_TASK = "close_and_new_task"
    RESUME = "resume"


S, T = State, Trigger

INTERRUPT = machine(
    "interrupt",
    initial=S.EXECUTION,
    final=[S.PLAN_LOOP, S.NEW_TASK_INIT],
    rows=[
        (S.EXECUTION, T.ESC, S.PAUSING),
        (S.EXECUTION, T.PAUSE_BUTTON, S.PAUSING),
        (S.PAUSING, T.CHECKPOINT_SAVED, S.PAUSED),
        (S.PAUSED, T.NEW_USER_INPUT, S.UNDERSTANDING_NEW_INPUT),
        (S.UNDERSTANDING_NEW_INPUT, T.TASK_UNDERSTANDING_READY, S.RELATION_CHECK),
        (S.RELATION_CHECK, T.SAME_TASK_NO_MAJOR_CHANGE, S.RESUME_READY),
        (S.RELATION_CHECK, T.SAME_TASK_MINOR_CHANGE, S.MINOR_REPLAN),
        (S.RELATION_CHECK, T.SAME_TASK_MAJOR_CHANGE, S.WAIT_USER_DECISION),
        (S.RELATION_CHECK, T.DIFFERENT_TASK, S.WAIT_USER_DECISION),
        (S.RESUME_READY, T.RESUME_EXECUTION, S.EXECUTION),
        (S.MINOR_REPLAN, T.PATCH_PLAN_APPLIED, S.EXECUTION),
        (S.WAIT_USER_DECISION, T.FULL_REPLAN, S.PLAN_LOOP),
        (S.WAIT_USER_DECISION, T.CONTINUE_CURRENT, S.EXECUTION),
        (S.WAIT_USER_DECISION, T.MINOR_REPLAN, S.EXECUTION),
        (S.WAIT_USER_DECISION, T.CLOSE_AND_NEW_TASK, S.NEW_TASK_INIT),
    ],
    extensions=[
        (S.PAUSED, T.RESUME, S.EXECUTION),
    ],
)
