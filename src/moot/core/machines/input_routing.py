"""The path of one human input through understanding and routing to its effect on the work.

The machine shows the newest input. If the table has no row for another input, the machine restarts for the new one; the
older one is still processed, but no longer shown. The extensions cover inputs that change nothing, that control the
run, or that arrive while a plan is being made or a question is open.
"""

from enum import StrEnum

from moot.core.fsm import machine
from moot.core.intake.intent import ControlAction, Route


class State(StrEnum):
    IDLE = "IDLE"
    SEMANTIC_UNDERSTANDING = "SEMANTIC_UNDERSTANDING"
    ROUTING_DECISION = "ROUTING_DECISION"
    CONTINUE_EXECUTION = "CONTINUE_EXECUTION"
    MINOR_REPLAN = "MINOR_REPLAN"
    FULL_REPLAN = "FULL_REPLAN"
    NEW_TASK = "NEW_TASK"
    CONTROL_ACTION = "CONTROL_ACTION"
    WAIT_USER_DECISION = "WAIT_USER_DECISION"
    PLAN_LOOP = "PLAN_LOOP"
    EXECUTION = "EXECUTION"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"


class Trigger(StrEnum):
    USER_INPUT_RECEIVED = "user_input_received"
    INTENT_ANALYZED = "intent_analyzed"
    NEED_CLARIFICATION = "need_clarification"
    SAME_TASK_NO_CHANGE = "same_task_no_change"
    SAME_TASK_MINOR_CHANGE = "same_task_minor_change"
    SAME_TASK_MAJOR_CHANGE = "same_task_major_change"
    DIFFERENT_TASK = "different_task"
    CONTROL_INSTRUCTION = "control_instruction"
    CONFIDENCE_TOO_LOW = "confidence_too_low"
    REQUIRES_CONFIRMATION = "requires_confirmation"
    PATCHES_APPLIED = "patches_applied"
    USER_CONFIRMED = "user_confirmed"
    USER_REJECTED_CONTINUE_ANYWAY = "user_rejected_continue_anyway"
    CURRENT_TASK_CLOSED = "current_task_closed"
    NEW_TASK_STARTED = "new_task_started"
    ACTION_COMPLETED = "action_completed"
    USER_CHOOSE_REPLAN = "user_choose_replan"
    USER_CHOOSE_CONTINUE = "user_choose_continue"
    USER_CHOOSE_NEW_TASK = "user_choose_new_task"
    USER_ABORT = "user_abort"
    NORMAL_ITERATION = "normal_iteration"
    NEW_USER_INPUT = "new_user_input"
    MAJOR_FAILURE_OR_CHANGE = "major_failure_or_change"
    PLAN_APPROVED = "plan_approved"
    ALL_DONE = "all_done"
    UNRECOVERABLE = "unrecoverable"
    RESUMED = "resumed"
    RETURNED_TO_EXECUTION = "returned_to_execution"
    RETURNED_TO_PLAN = "returned_to_plan"
    CANCELLED = "cancelled"


S, T = State, Trigger

INPUT_ROUTING = machine(
    "input_routing",
    initial=S.IDLE,
    rows=[
        (S.IDLE, T.USER_INPUT_RECEIVED, S.SEMANTIC_UNDERSTANDING),
        (S.SEMANTIC_UNDERSTANDING, T.INTENT_ANALYZED, S.ROUTING_DECISION),
        (S.SEMANTIC_UNDERSTANDING, T.NEED_CLARIFICATION, S.SEMANTIC_UNDERSTANDING),
        (S.ROUTING_DECISION, T.SAME_TASK_NO_CHANGE, S.CONTINUE_EXECUTION),
        (S.ROUTING_DECISION, T.SAME_TASK_MINOR_CHANGE, S.MINOR_REPLAN),
        (S.ROUTING_DECISION, T.SAME_TASK_MAJOR_CHANGE, S.FULL_REPLAN),
        (S.ROUTING_DECISION, T.DIFFERENT_TASK, S.NEW_TASK),
        (S.ROUTING_DECISION, T.CONTROL_INSTRUCTION, S.CONTROL_ACTION),
        (S.ROUTING_DECISION, T.CONFIDENCE_TOO_LOW, S.WAIT_USER_DECISION),
        (S.ROUTING_DECISION, T.REQUIRES_CONFIRMATION, S.WAIT_USER_DECISION),
        (S.MINOR_REPLAN, T.PATCHES_APPLIED, S.EXECUTION),
        (S.FULL_REPLAN, T.USER_CONFIRMED, S.PLAN_LOOP),
        (S.FULL_REPLAN, T.USER_REJECTED_CONTINUE_ANYWAY, S.EXECUTION),
        (S.NEW_TASK, T.CURRENT_TASK_CLOSED, S.IDLE),
        (S.NEW_TASK, T.NEW_TASK_STARTED, S.PLAN_LOOP),
        (S.CONTROL_ACTION, T.ACTION_COMPLETED, S.IDLE),
        (S.WAIT_USER_DECISION, T.USER_CHOOSE_REPLAN, S.FULL_REPLAN),
        (S.WAIT_USER_DECISION, T.USER_CHOOSE_CONTINUE, S.CONTINUE_EXECUTION),
        (S.WAIT_USER_DECISION, T.USER_CHOOSE_NEW_TASK, S.NEW_TASK),
        (S.WAIT_USER_DECISION, T.USER_ABORT, S.IDLE),
        (S.EXECUTION, T.NORMAL_ITERATION, S.EXECUTION),
        (S.EXECUTION, T.NEW_USER_INPUT, S.SEMANTIC_UNDERSTANDING),
        (S.EXECUTION, T.MAJOR_FAILURE_OR_CHANGE, S.FULL_REPLAN),
        (S.PLAN_LOOP, T.PLAN_APPROVED, S.EXECUTION),
        (S.EXECUTION, T.ALL_DONE, S.COMPLETED),
        (S.EXECUTION, T.UNRECOVERABLE, S.FAILED),
    ],
    extensions=[
        (S.CONTINUE_EXECUTION, T.RESUMED, S.EXECUTION),
        (S.CONTROL_ACTION, T.RETURNED_TO_EXECUTION, S.EXECUTION),
        (S.CONTROL_ACTION, T.RETURNED_TO_PLAN, S.PLAN_LOOP),
        (S.PLAN_LOOP, T.NEW_USER_INPUT, S.SEMANTIC_UNDERSTANDING),
        (S.WAIT_USER_DECISION, T.NEW_USER_INPUT, S.SEMANTIC_UNDERSTANDING),
        (S.PLAN_LOOP, T.CANCELLED, S.IDLE),
        (S.EXECUTION, T.CANCELLED, S.IDLE),
        (S.COMPLETED, T.USER_INPUT_RECEIVED, S.SEMANTIC_UNDERSTANDING),
        (S.FAILED, T.USER_INPUT_RECEIVED, S.SEMANTIC_UNDERSTANDING),
    ],
)

_ROUTES: dict[Route, Trigger] = {
    "continue_execution": T.SAME_TASK_NO_CHANGE,
    "minor_replan": T.SAME_TASK_MINOR_CHANGE,
    "full_replan": T.SAME_TASK_MAJOR_CHANGE,
    "new_task": T.DIFFERENT_TASK,
    "control_action": T.CONTROL_INSTRUCTION,
    "wait_user_decision": T.CONFIDENCE_TOO_LOW,
}
_GO_ON = (T.USER_CHOOSE_CONTINUE, T.RESUMED)
_CHOICES: dict[str, tuple[Trigger, ...]] = {
    "replan": (T.USER_CHOOSE_REPLAN,),
    **dict.fromkeys(("continue", "minor_replan", "pause", "resume", "status_query", "finish_first"), _GO_ON),
    "close_and_start": (T.USER_CHOOSE_NEW_TASK,),
    **dict.fromkeys(("drop", "cancel", "abort"), (T.USER_ABORT,)),
}


def receive(state: State) -> State:
    """A human says something."""
    for trigger in (T.USER_INPUT_RECEIVED, T.NEW_USER_INPUT):
        if INPUT_ROUTING.takes(state, trigger):
            return INPUT_ROUTING.advance(state, trigger)
    return INPUT_ROUTING.advance(INPUT_ROUTING.initial, T.USER_INPUT_RECEIVED)


def understand(state: State, *, must_ask: bool) -> State:
    """An input is understood, or a question about it must be answered first."""
    trigger = T.NEED_CLARIFICATION if must_ask else T.INTENT_ANALYZED
    return INPUT_ROUTING.walk(state, {S.SEMANTIC_UNDERSTANDING: (trigger,)})


def route(state: State, route: Route, control: ControlAction | None, *, asks: bool, goes_back_to: State) -> State:
    """The route of an input is decided.

    Args:
        route: what was decided.
        control: what a control instruction asks for.
        asks: whether a new task waits for a confirmation.
        goes_back_to: where the work is that a control instruction is about: `EXECUTION`, `PLAN_LOOP`, or `IDLE`.
    """
    if state is not S.ROUTING_DECISION:  # the newest input is another one, or needed no understanding
        state = INPUT_ROUTING.advance(receive(state), T.INTENT_ANALYZED)
    state = INPUT_ROUTING.advance(state, T.REQUIRES_CONFIRMATION if route == "new_task" and asks else _ROUTES[route])
    returned = {S.EXECUTION: T.RETURNED_TO_EXECUTION, S.PLAN_LOOP: T.RETURNED_TO_PLAN, S.IDLE: T.ACTION_COMPLETED}
    back = T.ACTION_COMPLETED if control == "cancel" else returned[goes_back_to]
    return INPUT_ROUTING.walk(state, {S.CONTINUE_EXECUTION: (T.RESUMED,), S.CONTROL_ACTION: (back,)})


def choose(state: State, choice: str) -> State:
    """A human decides what to do with an input."""
    moves = {S.WAIT_USER_DECISION: _CHOICES.get(choice, ())}
    if choice != "replan":  # what else is chosen happens to the plan that is under way
        moves[S.FULL_REPLAN] = (T.USER_REJECTED_CONTINUE_ANYWAY,)
    return INPUT_ROUTING.walk(state, moves)


def begin_work(state: State) -> State:
    """Work begins. If no input led to it directly (deferred goals, given tasks), the machine moves as for a new input.

    While another input is being understood, the machine shows that one.
    """
    as_new_input = (T.USER_INPUT_RECEIVED, T.INTENT_ANALYZED, T.DIFFERENT_TASK)
    return INPUT_ROUTING.walk(state, dict.fromkeys((S.IDLE, S.COMPLETED, S.FAILED), as_new_input))


def start_planning(state: State) -> State:
    return INPUT_ROUTING.walk(state, {S.FULL_REPLAN: (T.USER_CONFIRMED,), S.NEW_TASK: (T.NEW_TASK_STARTED,)})


def approve_plan(state: State) -> State:
    return INPUT_ROUTING.walk(
        state,
        {
            S.NEW_TASK: (T.NEW_TASK_STARTED, T.PLAN_APPROVED),
            S.PLAN_LOOP: (T.PLAN_APPROVED,),
            S.MINOR_REPLAN: (T.PATCHES_APPLIED,),
        },
    )


def apply_patch(state: State) -> State:
    return INPUT_ROUTING.walk(state, {S.MINOR_REPLAN: (T.PATCHES_APPLIED,)})


def start_job(state: State) -> State:
    """A supervisor's job begins: there is nothing to plan."""
    started = (T.NEW_TASK_STARTED, T.PLAN_APPROVED)
    return INPUT_ROUTING.walk(begin_work(state), {S.NEW_TASK: started, S.PLAN_LOOP: started[1:]})


def hear(state: State) -> State:
    """The supervisor will hear what was said: it changes no plan, and the job goes on."""
    return INPUT_ROUTING.walk(
        state,
        {
            S.CONTINUE_EXECUTION: (T.RESUMED,),
            S.MINOR_REPLAN: (T.PATCHES_APPLIED,),
            S.FULL_REPLAN: (T.USER_REJECTED_CONTINUE_ANYWAY,),
        },
    )


def iterate(state: State) -> State:
    """The work that the input led to makes progress."""
    return INPUT_ROUTING.walk(state, {S.EXECUTION: (T.NORMAL_ITERATION,)})


def replan(state: State) -> State:
    """A failure or a change is so large that the plan is evaluated again."""
    return INPUT_ROUTING.walk(state, {S.EXECUTION: (T.MAJOR_FAILURE_OR_CHANGE,)})


def continue_anyway(state: State) -> State:
    """The work goes on as planned."""
    return INPUT_ROUTING.walk(state, {S.FULL_REPLAN: (T.USER_REJECTED_CONTINUE_ANYWAY,)})


def complete(state: State) -> State:
    return INPUT_ROUTING.walk(state, {S.EXECUTION: (T.ALL_DONE,)})


def fail(state: State) -> State:
    return INPUT_ROUTING.walk(state, {S.EXECUTION: (T.UNRECOVERABLE,)})


def cancel(state: State) -> State:
    """The work is stopped for good."""
    return INPUT_ROUTING.walk(
        state, {S.NEW_TASK: (T.CURRENT_TASK_CLOSED,), S.PLAN_LOOP: (T.CANCELLED,), S.EXECUTION: (T.CANCELLED,)}
    )


def cancel_job(state: State) -> State:
    return INPUT_ROUTING.walk(state, {S.PLAN_LOOP: (T.CANCELLED,), S.EXECUTION: (T.CANCELLED,)})
