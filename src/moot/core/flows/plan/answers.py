"""Answers of humans to the questions of the plan flow."""

from moot.core import text
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.flows.plan import controls, finishing, integration, patches, planning, questions, steering
from moot.core.flows.plan.jobs import REVIEWS, restart_job, work_of
from moot.core.flows.plan.plan_events import TaskReviewed
from moot.core.flows.plan.runs import find_freed
from moot.core.flows.plan.tasks import InvalidPlan, Task, candidates, executors, read_tasks
from moot.core.machines.workflow import Trigger
from moot.core.session import steps
from moot.core.session.commands import Answer
from moot.core.session.events import StepAsked
from moot.core.session.team import Member
from moot.core.texts import render


def answer_question(draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
    if step.code == questions.CONFIRM:
        _confirm(draft, step, command, by)
    else:
        _decide(draft, step, command, steps.read_choice(step, command), by)


def _close(
    draft: Draft,
    step: StepAsked,
    command: Answer,
    by: Member | None,
    choice: str | None = None,
    tasks: tuple[Task, ...] | None = None,
) -> None:
    documents = None if tasks is None else tuple(task.document for task in tasks)
    steps.close(draft, step, command, by, choice, steps.clean_answer(command), tasks=documents)


def _confirm(draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
    """Approve a plan, approve it with changes, reject it, or ask for another one with feedback."""
    confirmed = command.confirmed
    if command.choice is not None:
        if command.choice not in ("approve", "reject"):
            raise Refused("bad_answer", available=("approve", "reject"))
        confirmed = command.choice == "approve"
    if confirmed is None and command.answer and not text.is_blank(command.answer):
        _close(draft, step, command, by)
        steering.replan(draft, text.clean(command.answer))
        return
    if confirmed is None:
        raise Refused("bad_answer", available=("approve", "reject"))
    if not confirmed:
        _close(draft, step, command, by, "reject")
        finishing.cancel_plan(draft, "user_reject")
        return
    tasks = work_of(draft).proposed
    edited: tuple[Task, ...] | None = None
    if command.tasks is not None:
        try:
            tasks = edited = read_tasks(command.tasks, draft.team)
        except InvalidPlan as invalid:
            raise Refused("invalid_plan", problems=invalid.tell(draft.state.language)) from None
    _close(draft, step, command, by, "approve", edited)
    planning.approve(draft, tasks, by.id if by else None, Trigger.USER_CHOOSE_CONTINUE)


def _decide(draft: Draft, step: StepAsked, command: Answer, choice: str, by: Member | None) -> None:
    """Carry out a choice about a failure: retry, skip, reassign, plan again, or abort."""
    other = find_other(draft, step.task_id or "", command.answer or "") if choice == "reassign" else None
    _close(draft, step, command, by, choice)
    if step.code == questions.CONFLICT:
        _settle_conflict(draft, step, command, choice, by)
        return
    match choice:
        case "abort" if not work_of(draft).is_approved:
            finishing.cancel_plan(draft, "invalid_plan" if step.code == "plan_refused" else "failed")
        case "abort":
            finishing.give_up(draft, "user_abort")
        case "replan":
            failure = f"{step.who}: {step.error_type} {step.detail}".strip()
            steering.replan(draft, text.clean(command.answer or "") or failure, _replan_reason(step))
        case "continue":  # without the change that could not be made
            patches.apply(draft, ())
        case "run_without" | "skip" if step.task_id and not step.job:
            controls.skip_task(draft, step.task_id, by.id if by else None)
        case "skip" if step.job in REVIEWS:
            _skip_review(draft, step, by)
        case "cancel_dependants":
            _cancel_dependants(draft, step.task_id or "")
        case _ if step.task_id and not step.job:
            controls.restart_task(draft, step.task_id, other, reason=choice)
        case _:
            restart_job(draft, step.job, step.task_id or "")


def _settle_conflict(draft: Draft, step: StepAsked, command: Answer, choice: str, by: Member | None) -> None:
    """Carry out a choice about files that contradict each other."""
    task_id = step.task_id or ""
    match choice:
        case "drop":
            controls.drop_task(draft, work_of(draft).tasks[task_id], "conflict")
        case "retry":
            feedback = render("feedback.conflict", draft.state.language, names=step.names)
            advice = text.clean(command.answer or "").strip()
            run = work_of(draft).tasks[task_id]
            integration.send_back_once_more(draft, run, f"{feedback}\n{advice}".strip())
        case _:
            integration.resolve(draft, task_id, choice, command.answer or "", by)


def _skip_review(draft: Draft, step: StepAsked, by: Member | None) -> None:
    """Go on without a review that failed."""
    match step.job:
        case "review_plan":
            planning.submit(draft)
        case "review_answer":
            finishing.conclude(draft, work_of(draft).answer)
        case _:
            _accept(draft, step.task_id or "", by)


def _accept(draft: Draft, task_id: str, by: Member | None) -> None:
    """Take a result without the review that failed."""
    work = work_of(draft)
    run = work.tasks[task_id]
    state = finishing.find_reviewed_state(run, passed=True)
    ready = find_freed(work, run, state)
    draft.add(TaskReviewed(task_id=task_id, passed=True, member=by.id if by else "", state=state, ready=ready))
    if run.tree:
        integration.enqueue(draft, task_id)


def _replan_reason(step: StepAsked) -> str:
    return {"review": "review_reject", "dispatch": "resource_missing"}.get(step.error_type, "major_failure")


def find_other(draft: Draft, task_id: str, name: str) -> str:
    """Return the AI of that name; without a name the other one who suits the task best, or its own if it is alone.

    Raises Refused if the name is none.
    """
    run = controls.find_run(draft, task_id)
    suited = [*candidates(run.task, draft.team), *executors(draft.team), *draft.team.ais]
    others = [member.id for member in dict.fromkeys(suited) if member.id != run.member]
    if name.strip():
        named = draft.team.find(name)
        if named is None or named.is_human:
            raise Refused("no_such_member", detail=name[:80], available=others)
        return named.id
    return next(iter(others), run.member)


def _cancel_dependants(draft: Draft, task_id: str) -> None:
    """Cancel the tasks that depend on this one, directly or indirectly."""
    cancelled = {task_id}
    runs = work_of(draft).tasks
    while True:
        more = [key for key, run in runs.items() if key not in cancelled and cancelled & set(run.task.depends_on)]
        if not more:
            break
        cancelled |= set(more)
    for key, run in runs.items():
        if key in cancelled and not run.is_over:
            controls.drop_task(draft, run, "dependency_cancelled")
