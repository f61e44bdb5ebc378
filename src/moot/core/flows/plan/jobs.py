"""Turns of the plan flow that are not a task: planning, patching, reviewing, aggregating."""

from typing import Literal

from moot.core.draft import Draft
from moot.core.flows.plan import staffing
from moot.core.flows.plan.plan_slice import EVALUATIONS, PlanSlice, find_work
from moot.core.flows.plan.plan_state import Work
from moot.core.machines.interrupt import State as Interrupt
from moot.core.session import budgets
from moot.core.session.events import PauseRequested
from moot.core.session.team import Member

Job = Literal["plan", "patch", "review", "aggregate", "review_plan", "review_answer", "evaluate"]
REVIEWS = ("review", "review_plan", "review_answer")


def work_of(draft: Draft) -> Work:
    """Return the current work. Raises LookupError if there is none, which callers rule out."""
    work = find_work(draft.state)
    if work is None:
        raise LookupError("no work was begun")
    return work


def count_turns(draft: Draft, member: str, task_id: str | None) -> int:
    """Return how many turns the member had for a task, or for evaluations; none are counted without either."""
    return 0 if task_id is None else draft.state.part(PlanSlice).task_turns.get(member, {}).get(task_id, 0)


def ask_for_budget(draft: Draft, member: Member) -> None:
    """Request a pause if a budget is used up, before a member gets work. A human then decides whether to go on."""
    overrun = budgets.find_overrun(draft.state, member)
    if overrun and draft.state.interrupt is Interrupt.EXECUTION:
        draft.add(overrun)
        draft.add(PauseRequested(member=None))


def start_job(
    draft: Draft, member: Member, job: str, task_id: str = "", *, retry_of: str | None = None, stands_in_for: str = ""
) -> None:
    ask_for_budget(draft, member)
    index = count_turns(draft, member.id, EVALUATIONS if job == "evaluate" else task_id or None)
    draft.start_turn(member, job=job, task_id=task_id, task_index=index, retry_of=retry_of, stands_in_for=stands_in_for)


def start_review(draft: Draft, job: Job, author: str, task_id: str = "") -> bool:
    """Have what `author` made reviewed. Returns False if nobody can do that."""
    reviewer = staffing.reviewer(draft.team, author)
    if reviewer is None:
        return False
    start_job(draft, reviewer, job, task_id)
    return True


def find_author(draft: Draft, job: str, task_id: str) -> str:
    """Return the member whose work a review is about; empty for other jobs."""
    match job:
        case "review":
            return work_of(draft).tasks[task_id].member
        case "review_plan":
            return staffing.planner(draft.team).id
        case "review_answer":
            return staffing.aggregator(draft.team).id
        case _:
            return ""


def restart_job(draft: Draft, job: str, task_id: str = "") -> None:
    """Start a turn that failed once more."""
    team = draft.team
    match job:
        case "plan" | "patch":
            start_job(draft, staffing.planner(team), job)
        case "evaluate":
            start_job(draft, staffing.planner(team), job, task_id)
        case "review" | "review_plan" | "review_answer":
            start_review(draft, job, find_author(draft, job, task_id), task_id)
        case "aggregate":
            start_job(draft, staffing.aggregator(team), job)
        case _:
            raise ValueError(f"{job!r} is not a job of the plan flow")


def cancel_review(draft: Draft, task_id: str) -> None:
    """Cancel the running review of a task."""
    for turn in draft.state.running:
        if turn.job == "review" and turn.task_id == task_id:
            draft.cancel_turn(turn, "superseded")
