"""What a human's answer to a question of the plan flow leads to. A refused answer leaves the question open."""

from moot.core import front_door, steps, text
from moot.core.commands import Answer
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.events import StepAsked
from moot.core.machines.workflow import Trigger
from moot.core.plan import controls, finishing, patches, planning, steering
from moot.core.plan.events import TaskReviewed, TaskSkipped
from moot.core.plan.jobs import restart_job, work_of
from moot.core.plan.tasks import InvalidPlan, Task, candidates, executors, read_tasks
from moot.core.team import Member


def answer(draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
    if step.kind == "ask_user":
        close(draft, step, command, by)
        front_door.clarify(draft, step, command)
    elif step.code == planning.CONFIRM:
        _confirm(draft, step, command, by)
    else:
        choice = _read_choice(step, command)
        if step.code in ("ask_replan", "ask_new_task", "ask_unsure"):
            close(draft, step, command, by, choice)
            steering.choose(draft, step, choice)
        else:
            _decide(draft, step, command, choice, by)


def close(
    draft: Draft,
    step: StepAsked,
    command: Answer,
    by: Member | None,
    choice: str | None = None,
    tasks: tuple[Task, ...] | None = None,
) -> None:
    documents = None if tasks is None else tuple(task.document for task in tasks)
    steps.close(draft, step, command, by, choice, steps.clean_answer(command), tasks=documents)


def _read_choice(step: StepAsked, command: Answer) -> str:
    """An option's id; where there are two, yes is the first and no the second."""
    known = [option.id for option in step.options]
    choice = command.choice
    if choice is None and command.confirmed is not None and len(known) == 2:
        choice = known[0] if command.confirmed else known[1]
    if choice not in known:
        raise Refused("bad_answer", available=known)
    return choice


def _confirm(draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
    """Approve, approve with changes, reject, or say what should be different."""
    confirmed = command.confirmed
    if command.choice is not None:
        if command.choice not in ("approve", "reject"):
            raise Refused("bad_answer", available=("approve", "reject"))
        confirmed = command.choice == "approve"
    if confirmed is None and command.answer and not text.is_blank(command.answer):
        close(draft, step, command, by)
        steering.replan(draft, text.clean(command.answer))
        return
    if confirmed is None:
        raise Refused("bad_answer", available=("approve", "reject"))
    if not confirmed:
        close(draft, step, command, by, "reject")
        finishing.cancel_plan(draft, "user_reject")
        return
    tasks = work_of(draft).proposed
    edited: tuple[Task, ...] | None = None
    if command.tasks is not None:
        try:
            tasks = edited = read_tasks(command.tasks, draft.team)
        except InvalidPlan as invalid:
            raise Refused("invalid_plan", problems=[str(each) for each in invalid.problems]) from None
    close(draft, step, command, by, "approve", edited)
    planning.approve(draft, tasks, by.id if by else None, Trigger.USER_CHOOSE_CONTINUE)


def _decide(draft: Draft, step: StepAsked, command: Answer, choice: str, by: Member | None) -> None:
    """What failed: try again, go on without it, give it to another, plan again, or give up."""
    other = find_other(draft, step.task_id or "", command.answer or "") if choice == "reassign" else None
    close(draft, step, command, by, choice)
    match choice:
        case "abort" if not work_of(draft).is_approved:
            finishing.cancel_plan(draft, "invalid_plan" if step.code == "plan_refused" else "failed")
        case "abort":
            finishing.interrupt(draft, "user_abort")
        case "replan":
            failure = f"{step.who}: {step.error_type} {step.detail}".strip()
            steering.replan(draft, text.clean(command.answer or "") or failure, _replan_reason(step))
        case "continue":  # the change that could not be made is given up
            patches.apply(draft, ())
        case "run_without" | "skip" if step.task_id and not step.job:
            draft.add(TaskSkipped(task_id=step.task_id, by=by.id if by else None))
        case "skip" if step.task_id:
            draft.add(TaskReviewed(task_id=step.task_id, passed=True, member=by.id if by else ""))
        case "cancel_dependants":
            _cancel_dependants(draft, step.task_id or "")
        case _ if step.task_id and not step.job:
            controls.restart_task(draft, step.task_id, other, reason=choice)
        case _:
            restart_job(draft, step.job, step.task_id or "")


def _replan_reason(step: StepAsked) -> str:
    return {"review": "review_reject", "dispatch": "resource_missing"}.get(step.error_type, "major_failure")


def find_other(draft: Draft, task_id: str, name: str) -> str:
    """The member of that name; without a name the first one who could do it and does not have it."""
    run = controls.find_run(draft, task_id)
    able = [*candidates(run.task, draft.team), *executors(draft.team)]
    others = [each for each in dict.fromkeys(able) if each.id != run.member]
    if name.strip():
        named = draft.team.find(name)
        if named is None or named.is_human:
            raise Refused("no_such_member", detail=name[:80], available=[each.id for each in others])
        return named.id
    if not others:
        raise Refused("nobody_else", detail=run.task.title)
    return others[0].id


def _cancel_dependants(draft: Draft, task_id: str) -> None:
    """All that depend on it, also through others."""
    gone = {task_id}
    runs = work_of(draft).tasks
    while True:
        more = [each for each, run in runs.items() if each not in gone and gone & set(run.task.depends_on)]
        if not more:
            break
        gone |= set(more)
    for each, run in runs.items():
        if each in gone and not run.is_over:
            controls.drop_task(draft, run, "dependency_cancelled")
