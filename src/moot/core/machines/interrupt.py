"""Interrupting running work and giving it new instructions.

The machine starts again at `EXECUTION` whenever work begins or ends. When a pause is requested, running turns finish or
are stopped, a checkpoint is saved, and the work is `PAUSED`. The next human input is understood and related to the
work, which goes on, is changed a little, or waits for a decision. The extension resumes without new input.
"""

from enum import StrEnum

from moot.core.fsm import machine
from moot.core.intake.intent import Route


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

STOPPED = (S.PAUSED, S.WAIT_USER_DECISION)  # nothing runs until a human says how to go on

_ROUTES: dict[Route, Trigger] = {
    "continue_execution": T.SAME_TASK_NO_MAJOR_CHANGE,
    "minor_replan": T.SAME_TASK_MINOR_CHANGE,
    "full_replan": T.SAME_TASK_MAJOR_CHANGE,
    "new_task": T.DIFFERENT_TASK,
    "wait_user_decision": T.DIFFERENT_TASK,
}
_CHOICES = {
    "replan": T.FULL_REPLAN,
    "continue": T.CONTINUE_CURRENT,
    "finish_first": T.CONTINUE_CURRENT,
    "drop": T.CONTINUE_CURRENT,
    "minor_replan": T.MINOR_REPLAN,
    "close_and_start": T.CLOSE_AND_NEW_TASK,
}
_ROUTE_AS_CHOICE: dict[Route, str] = {"continue_execution": "continue", "minor_replan": "minor_replan"}


def request_pause(state: State, trigger: str) -> State:
    """A pause is requested, with the Esc key or otherwise, or a budget is used up."""
    return INTERRUPT.advance(state, Trigger(trigger))


def save_checkpoint(state: State) -> State:
    """Running turns have ended. Outside of a pause nothing changes."""
    return INTERRUPT.walk(state, {S.PAUSING: (T.CHECKPOINT_SAVED,)})


def relate(state: State, route: Route) -> State:
    """A new input while the work is paused. One about the run itself (a status query) leaves it as it is.

    The new input may resume the work even while a question about an earlier one is open.
    """
    if state is S.WAIT_USER_DECISION:
        return choose(state, _ROUTE_AS_CHOICE.get(route, ""))
    if state is not S.PAUSED or route not in _ROUTES:
        return state
    return INTERRUPT.walk(state, {S.PAUSED: (T.NEW_USER_INPUT, T.TASK_UNDERSTANDING_READY, _ROUTES[route])})


def choose(state: State, choice: str) -> State:
    """The human's answer to the question that such an input led to."""
    trigger = _CHOICES.get(choice)
    return INTERRUPT.walk(state, {S.WAIT_USER_DECISION: (trigger,)}) if trigger else state


def resume(state: State) -> State:
    """The work goes on. This may be requested before the running turns have ended."""
    return INTERRUPT.walk(
        state,
        {
            S.PAUSING: (T.CHECKPOINT_SAVED, T.RESUME),
            S.PAUSED: (T.RESUME,),
            S.RESUME_READY: (T.RESUME_EXECUTION,),
            S.WAIT_USER_DECISION: (T.CONTINUE_CURRENT,),
        },
    )


def apply_patch(state: State) -> State:
    """The small change is made."""
    return INTERRUPT.walk(state, {S.MINOR_REPLAN: (T.PATCH_PLAN_APPLIED,)})


def hear(state: State) -> State:
    """The supervisor will hear what was said: for its job there is nothing to plan again, it goes on."""
    return INTERRUPT.walk(
        state,
        {
            S.RESUME_READY: (T.RESUME_EXECUTION,),
            S.MINOR_REPLAN: (T.PATCH_PLAN_APPLIED,),
            S.WAIT_USER_DECISION: (T.CONTINUE_CURRENT,),
        },
    )


def end(state: State, *, is_cancelled: bool) -> State:
    """The work is over. A requested pause still applies, so that deferred work does not begin by itself."""
    return state if state is S.PAUSING and not is_cancelled else INTERRUPT.initial
