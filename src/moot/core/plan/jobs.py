"""Turns of the plan flow that are no task's: plan, patch, review, aggregate."""

from typing import Literal

from moot.core import budgets
from moot.core.draft import Draft
from moot.core.events import PauseRequested, TurnStarted
from moot.core.machines.interrupt import State as Interrupt
from moot.core.plan import staffing
from moot.core.plan.state import Work
from moot.core.team import Member

Job = Literal["plan", "patch", "review", "aggregate"]


def work_of(draft: Draft) -> Work:
    work = draft.state.work
    assert work is not None  # noqa: S101 - who calls this has seen that there is work
    return work


def ask_for_budget(draft: Draft, member: Member) -> None:
    """Before somebody is given work: at the limit of a budget the work pauses, and a human says whether it goes on."""
    overrun = budgets.find_overrun(draft.state, member)
    if overrun and draft.state.interrupt is Interrupt.EXECUTION:
        draft.add(overrun)
        draft.add(PauseRequested(member=None))


def start_job(draft: Draft, member: Member, job: Job, task_id: str = "") -> None:
    ask_for_budget(draft, member)
    state = draft.state
    draft.add(
        TurnStarted(
            turn_id=f"t{state.turn_count + 1}",
            member=member.id,
            index=state.turns_by_member.get(member.id, 0),
            hop=state.hops + 1,
            job=job,
            task_id=task_id,
            task_index=state.task_turns.get(member.id, {}).get(task_id, 0) if task_id else 0,
        )
    )


def restart_job(draft: Draft, job: str, task_id: str = "") -> None:
    """A turn that failed is given out again."""
    team = draft.team
    match job:
        case "plan" | "patch":
            start_job(draft, staffing.planner(team), job)
        case "review":
            start_job(draft, staffing.reviewer(team) or staffing.planner(team), job, task_id)
        case "aggregate":
            start_job(draft, staffing.aggregator(team), job)
        case _:
            raise AssertionError(job)


def cancel_review(draft: Draft, task_id: str) -> None:
    """The review of something that is not wanted any more."""
    for turn in draft.state.running:
        if turn.job == "review" and turn.task_id == task_id:
            draft.cancel_turn(turn, "superseded")
