"""Making a plan: the planner's turn, checking what it returns, and the human's confirmation."""

from typing import Any

from msgspec.structs import replace

from moot.core import limits, text
from moot.core.draft import Draft
from moot.core.flows.plan import questions, staffing, workflow
from moot.core.flows.plan.jobs import start_job, start_review, work_of
from moot.core.flows.plan.plan_events import PlanApproved, PlanCompleted, PlanRefused, PlanReviewed, PlanStarted
from moot.core.flows.plan.plan_state import Work
from moot.core.flows.plan.runs import find_ready, renew
from moot.core.flows.plan.tasks import InvalidPlan, Task, TaskProblem, find_order, plan_hash, read_tasks
from moot.core.flows.plan.verdicts import Verdict
from moot.core.json_text import find_object
from moot.core.machines.workflow import Trigger
from moot.core.session import steps
from moot.core.session.commands import CompleteTurn
from moot.core.session.state import Turn

SHAPE = '{"summary": "…", "tasks": [{"id", "title", "objective", "depends_on"}]}'


def start_planning(draft: Draft, feedback: str = "", snapshot_id: str | None = None) -> None:
    work, planner = work_of(draft), staffing.planner(draft.team)
    draft.add(
        PlanStarted(
            question=work.question,
            plan_id=f"p{work.counts.plans + 1}",
            feedback=feedback,
            snapshot_id=snapshot_id,
            member=planner.id,
        )
    )
    start_job(draft, planner, "plan")


def bring_back(draft: Draft) -> None:
    """Ask again about the plan that nobody confirmed in time."""
    expired = work_of(draft)
    workflow.bring_back(draft)
    draft.add(PlanStarted(question=expired.question, plan_id=f"p{expired.counts.plans + 1}"))
    _complete(draft, expired.proposed, expired.summary)
    submit(draft, must_ask=True)


def receive_plan(draft: Draft, command: CompleteTurn) -> None:
    """Take what the planner returned: show a valid plan, or return an invalid one with its problems."""
    proposal = command.plan or find_object(command.text, "tasks")
    if proposal is None:
        refuse(draft, InvalidPlan([TaskProblem("plan", "no_plan", {"detail": SHAPE})]), "plan")
        return
    try:
        tasks = read_tasks(proposal.get("tasks"), draft.team)
    except InvalidPlan as invalid:
        refuse(draft, invalid, "plan")
        return
    _propose(draft, tasks, _summary(proposal))


def _summary(proposal: dict[str, Any]) -> str:
    said = proposal.get("summary") or proposal.get("plan_summary") or ""
    return text.cut(text.clean(str(said)), limits.HISTORY_CHARS)


def refuse(draft: Draft, invalid: InvalidPlan, job: str) -> None:
    """Return a plan to the planner with its problems, twice at most; then ask a human."""
    tries = work_of(draft).refusals + 1
    problems = invalid.tell(draft.state.language)
    draft.add(PlanRefused(problems=problems, n=tries))
    if tries < limits.PLAN_TRIES:
        start_job(draft, staffing.planner(draft.team), "patch" if job == "patch" else "plan")
        return
    options = ("retry", "continue", "replan") if job == "patch" else ("retry", "abort")
    steps.ask(draft, "plan_refused", options, job=job, detail="; ".join(problems)[: limits.DETAIL_CHARS])


def _propose(draft: Draft, tasks: tuple[Task, ...], summary: str) -> None:
    """Submit a plan to the reviewer, if the team has plans reviewed, else to people."""
    planner = _complete(draft, tasks, summary)
    if not draft.team.plan.review or not start_review(draft, "review_plan", planner):
        submit(draft)


def _complete(draft: Draft, tasks: tuple[Task, ...], summary: str) -> str:
    """Log a plan. Returns whose it is."""
    work, planner = work_of(draft), staffing.planner(draft.team).id
    draft.add(
        PlanCompleted(
            tasks=tuple(task.document for task in tasks),
            plan_summary=summary,
            plan_id=work.plan_id,
            plan_hash=plan_hash(tasks),
            kept=find_kept(work, tasks),
            member=planner,
        )
    )
    return planner


def receive_review(draft: Draft, turn: Turn, verdict: Verdict) -> None:
    """Go on with a plan that passed, or send it back to the planner; after the last time people decide."""
    work = work_of(draft)
    count = work.plan_reviews + 1
    again = not verdict.passed and count < limits.PLAN_TRIES
    draft.add(
        PlanReviewed(
            passed=verdict.passed,
            feedback=verdict.feedback,
            n=count,
            plan_id=work.plan_id,
            member=turn.member,
            turn_id=turn.turn_id,
            is_reworked=again,
        )
    )
    if again:
        start_job(draft, staffing.planner(draft.team), "plan")
    else:
        submit(draft, doubts="" if verdict.passed else verdict.feedback, must_ask=not verdict.passed)


def submit(draft: Draft, *, doubts: str = "", must_ask: bool = False) -> None:
    """Ask people to confirm the plan, or let it run if the team wants no question and nobody objected.

    Args:
        doubts: why the reviewer rejected the plan.
        must_ask: ask, whatever the team's settings say.
    """
    work, settings = work_of(draft), draft.team.plan
    if settings.confirm == "never" and not must_ask:
        approve(draft, work.proposed, None, Trigger.PLAN_APPROVED)
        return
    steps.ask(
        draft,
        questions.CONFIRM,
        ("approve", "reject"),
        step_id=f"{questions.CONFIRM}_{work.plan_id}",
        kind="plan",
        timeout_s=settings.confirm_timeout_s,
        default="reject",
        asked_by=work.asked_by or None,
        tasks=tuple(task.document for task in work.proposed),
        plan_summary=work.summary,
        plan_id=work.plan_id,
        plan_hash=plan_hash(work.proposed),
        detail=doubts,
    )
    workflow.move(draft, Trigger.PLAN_NEEDS_USER_CONFIRMATION)


def find_kept(work: Work, tasks: tuple[Task, ...]) -> tuple[str, ...]:
    """Return the finished tasks that the new plan keeps: neither they nor what they depend on have changed."""
    if not work.tasks:
        return ()
    kept: list[str] = []
    by_id = {task.id: task for task in tasks}
    for task_id in find_order({task.id: task.depends_on for task in tasks}):
        task, run = by_id[task_id], work.tasks.get(task_id)
        is_same = run is not None and run.is_finished and _essence(run.task) == _essence(task)
        if is_same and all(needed in kept for needed in task.depends_on):
            kept.append(task.id)
    return tuple(kept)


def _essence(task: Task) -> Task:
    """Return what decides whether two tasks are the same: everything but the assignee."""
    return replace(task, document={}, role="", member="")


def approve(draft: Draft, tasks: tuple[Task, ...], by: str | None, trigger: Trigger) -> None:
    """Approve these tasks, as they were shown or as a human edited them, and begin to run them."""
    work = work_of(draft)
    kept = find_kept(work, tasks)
    draft.add(
        PlanApproved(
            tasks=tuple(task.document for task in tasks),
            plan_hash=plan_hash(tasks),
            plan_id=work.plan_id,
            by=by,
            kept=kept,
            ready=find_ready(renew(work.tasks, tasks, kept)),
        )
    )
    workflow.move(draft, trigger)
