"""Where a pause stands (seed 002 §7), as one fact after the other moves it."""

from moot.core.intent import Route
from moot.core.machines.interrupt import INTERRUPT, State, Trigger

_BY_ROUTE: dict[Route, Trigger] = {
    "continue_execution": Trigger.SAME_TASK_NO_MAJOR_CHANGE,
    "minor_replan": Trigger.SAME_TASK_MINOR_CHANGE,
    "full_replan": Trigger.SAME_TASK_MAJOR_CHANGE,
    "new_task": Trigger.DIFFERENT_TASK,
    "wait_user_decision": Trigger.DIFFERENT_TASK,
}
_BY_CHOICE = {
    "replan": Trigger.FULL_REPLAN,
    "continue": Trigger.CONTINUE_CURRENT,
    "finish_first": Trigger.CONTINUE_CURRENT,
    "drop": Trigger.CONTINUE_CURRENT,
    "minor_replan": Trigger.MINOR_REPLAN,
    "close_and_start": Trigger.CLOSE_AND_NEW_TASK,
}
_AS_CHOICE: dict[Route, str] = {"continue_execution": "continue", "minor_replan": "minor_replan"}
STOPPED = (State.PAUSED, State.WAIT_USER_DECISION)


def relate(state: State, route: Route) -> State:
    """A new input while paused; one that is about the run itself (a status query) leaves it as it is.

    While a question about an earlier input waits, it may let the work go on all the same.
    """
    if state is State.WAIT_USER_DECISION:
        return choose(state, _AS_CHOICE.get(route, ""))
    if state is not State.PAUSED or route not in _BY_ROUTE:
        return state
    checked = INTERRUPT.follow(INTERRUPT.follow(state, Trigger.NEW_USER_INPUT), Trigger.TASK_UNDERSTANDING_READY)
    return INTERRUPT.follow(checked, _BY_ROUTE[route])


def choose(state: State, choice: str) -> State:
    """The human's answer to what that input led to."""
    trigger = _BY_CHOICE.get(choice)
    return INTERRUPT.follow(state, trigger) if trigger else state


def resume(state: State) -> State:
    """The work goes on, also when it was asked to before what ran came to its end."""
    for trigger in (Trigger.CHECKPOINT_SAVED, Trigger.RESUME, Trigger.RESUME_EXECUTION, Trigger.CONTINUE_CURRENT):
        state = INTERRUPT.follow(state, trigger)
    return state
