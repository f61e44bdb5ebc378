"""What people do: anything at all while faults are on, then what brings the work to its end."""

import random

from moot.core.flows.plan.plan_commands import CancelPlan, CancelTask, Replan, RestartTask, SolveTasks
from moot.core.machines.interrupt import STOPPED
from moot.core.machines.session import Status
from moot.core.session.commands import (
    Answer,
    CancelTurn,
    ChangeQueue,
    End,
    HumanCommand,
    Pause,
    Post,
    Rename,
    Resume,
    Retry,
)
from moot.core.session.events import StepAsked
from moot.core.session.state import State
from sim.members import TASK_IDS

ENDING = ("approve", "skip", "run_without", "continue", "finish_first", "drop", "abort", "reject", "retry")
ADDRESSES = {
    "chat": ("[NEXT: bob]", "[NEXT: carol, dave!P1]", "[NEXT: adam]", "[NEXT: alice]", "", "", "[TEAM_TASK: tea]"),
    "plan": ("", "", "control"),
    "studio": ("", "", "control"),
}


def pick_any(state: State, text: str, chance: random.Random) -> HumanCommand:
    """Anything that a human might do, sensible or not. `text` is unique, so that the log can be searched for it."""
    steps = list(state.open_steps.values())
    if steps and chance.random() < 0.5:
        return answer_any(chance.choice(steps), chance)
    closed = list(state.closed_steps)
    if closed and chance.random() < 0.05:
        return Answer(step_id=chance.choice(closed), confirmed=True)
    flow = state.team.name
    post = Post(text=f"{chance.choice(ADDRESSES[flow])} {text}".strip())
    anything: list[HumanCommand] = [post, post, post, Pause(), Resume(), Retry(), Rename(title=text)]
    if flow == "chat":
        anything += [ChangeQueue(action="skip"), ChangeQueue(action="clear"), CancelTurn()]
    if flow == "plan":
        tasks = ({"id": "a", "title": "A"}, {"id": "b", "title": "B", "depends_on": ["a"]})
        anything += [
            CancelTask(task_id=chance.choice(TASK_IDS)),
            CancelTask(task_id=chance.choice(TASK_IDS)),
            RestartTask(task_id=chance.choice(TASK_IDS)),
            Replan(feedback="better"),
            SolveTasks(tasks=tasks),
            CancelPlan(),
        ]
    if chance.random() < 0.1:
        anything += [CancelTurn(), CancelPlan()]
    if chance.random() < 0.03:
        anything += [End(), End(), End()]
    return chance.choice(anything)


def answer_any(step: StepAsked, chance: random.Random) -> Answer:
    if not step.options:
        return Answer(step_id=step.step_id, answer="as I said")
    if chance.random() < 0.2:
        return Answer(step_id=step.step_id, confirmed=chance.random() < 0.5)
    return Answer(step_id=step.step_id, choice=chance.choice(step.options).id)


def pick_sensible(state: State) -> HumanCommand | None:
    """What brings the work to its end; None if that needs nobody."""
    if state.status is Status.COMPLETED:
        return None
    for step in state.open_steps.values():
        known = [option.id for option in step.options]
        for choice in ENDING:
            if choice in known:
                return Answer(step_id=step.step_id, choice=choice)
        if known:
            return Answer(step_id=step.step_id, choice=known[0])
        return Answer(step_id=step.step_id, answer="as I said", custom_input="as I said")
    is_put_off = bool(state.door.deferred) and state.is_settled
    is_stopped = state.interrupt in STOPPED and state.slice.is_active
    return Resume() if is_stopped or (is_put_off and not state.slice.is_active) else None
