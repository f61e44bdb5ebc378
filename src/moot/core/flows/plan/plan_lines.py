"""The lines of the plan flow: the plan and its answers, tasks, retries, reviews, steering, the end, the task board."""

from collections.abc import Iterable
from typing import Any

from moot.core import limits
from moot.core.envelope import describe_source
from moot.core.fact_lines import Change, Entry, Lines, Message, Span, indent
from moot.core.facts import Json
from moot.core.flows.plan import plan_events as plan
from moot.core.flows.plan import staffing
from moot.core.flows.plan.plan_slice import find_work, workflow_status
from moot.core.flows.plan.plan_state import TaskRun
from moot.core.flows.plan.plan_texts import PLAN_TEXTS, tell_reason, tell_step
from moot.core.flows.plan.plan_view import project_work
from moot.core.machines.interrupt import STOPPED
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.session import Status
from moot.core.machines.task import TaskState
from moot.core.session import events
from moot.core.session.notices import name_failure, tell_failure
from moot.core.session.session_lines import TURN, tell_answer
from moot.core.session.state import State
from moot.core.session.tool_lines import transcribe_step
from moot.core.session.workspace_lines import tell_tree
from moot.core.session.workspace_view import TreeRow
from moot.core.texts import render

DISPATCH, RUN, RUN_OF = Span("dispatch", "dispatch_id"), Span("run", "task.id"), Span("run", "task_id")

RESULT_CHARS = 400  # of a task's result, unless results are told whole
MARKS = {
    TaskState.DONE: "✓",
    TaskState.CANCELLED: "✗",
    TaskState.BLOCKED: "✗",
    TaskState.EXECUTION_FAILED: "↻",
    TaskState.DISPATCH_FAILED: "↻",
    TaskState.CREATED: "·",
    TaskState.READY: "·",
}


def list_board(state: State) -> list[str]:
    """The status of the work, then a line for each task and each deferred input; nothing where there is no work."""
    work, language = find_work(state), state.language
    if work is None:
        return []
    done = sum(run.is_finished for run in work.tasks.values())
    is_waiting = state.status is Status.PAUSED and state.open_steps
    status = render("status_wait_user_decision" if is_waiting else f"status_{workflow_status(state)}", language)
    head = render("board", language, status=status, count=done, limit=len(work.tasks))
    shown = project_work(state)
    trees = {task_id: row.tree for task_id, row in shown.tasks.items()} if shown else {}
    rows = [
        f"  {_mark(run)} {run.task.title}{_details(run, trees.get(task_id), state)}"
        for task_id, run in work.tasks.items()
    ]
    return [head, *rows, *(render("board_deferred", language, detail=input_.text) for input_ in state.door.deferred)]


def _mark(run: TaskRun) -> str:
    return "✗" if run.is_skipped else MARKS.get(run.state, "▶")


def _details(run: TaskRun, tree: TreeRow | None, state: State) -> str:
    """Return who has or had the task, the attempt, its tree, and what went wrong as long as it is not finished."""
    parts = [state.team.member(run.member).display_name] if run.member else []
    if run.attempt > 1:
        parts.append(render("board_attempt", state.language, count=run.attempt))
    if tree:
        parts.append(tell_tree(tree, state.language))
    if run.error_type and not run.is_finished:
        kind = name_failure(run.error_type, state.language)
        parts.append(f"{kind}: {tell_failure(run.error_type, run.message, state.language)}")
    return "".join(f" · {part}" for part in parts)


PLAN_LINES = Lines(PLAN_TEXTS, board=list_board)
PLAN_LINES.ignore(
    plan.ExecutionFailed,  # the failure of the task or the turn tells it
    plan.TaskBlocked,
    plan.AggregateCompleted,
    plan.MemberProbed,
    plan.WaitEnded,
)


@PLAN_LINES.on(plan.TasksTakeTurns)
def _take_turns(change: Change[plan.TasksTakeTurns]) -> list[str]:
    return [change.say("tasks_take_turns", detail=change.fact.task_id, who=change.fact.waits_for)]


@PLAN_LINES.on(plan.TaskSentBack)
def _send_back(change: Change[plan.TaskSentBack]) -> list[str]:
    """Say who gets the task back; the fact before this one says why."""
    fact = change.fact
    work = find_work(change.after)
    title = work.tasks[fact.task_id].task.title if work and fact.task_id in work.tasks else fact.task_id
    code = "task_goes_back" if fact.is_reworked else "task_not_passed"
    return [f"  ↩ {change.say(code, detail=title, who=change.name(fact.member))}"]


# the plan


@PLAN_LINES.on(plan.PlanStarted)
def _start_plan(change: Change[plan.PlanStarted]) -> list[str]:
    fact = change.fact
    if fact.member is None:
        return indent("", change.say("plan_brought_back"))
    code = "planning_again" if fact.feedback else "planning"
    return indent("", change.say(code, who=change.place(fact.member), detail=fact.feedback))


@PLAN_LINES.on(plan.PlanStepped)
def _step_plan(change: Change[plan.PlanStepped]) -> list[str]:
    return _tell_work(f"  · {change.name(change.fact.member)}: ", change)


def _tell_work(start: str, change: Change[plan.PlanStepped] | Change[plan.SolverProgressed]) -> list[str]:
    fact = change.fact
    said = (
        transcribe_step(fact, change.language, is_whole=change.is_whole)
        if fact.tool
        else tell_step(fact, change.language)
    )
    return indent(start, said) if said else []


@PLAN_LINES.on(plan.PlanCompleted, "landmark")
def _complete_plan(change: Change[plan.PlanCompleted]) -> list[str]:
    fact = change.fact
    summary = fact.plan_summary or change.say("plan_untold", count=len(fact.tasks))
    return [*indent("", change.say("plan_is", detail=summary)), *_number_tasks(change, fact.tasks, fact.kept)]


@PLAN_LINES.on(plan.PlanReviewed, "landmark")
def _review_plan(change: Change[plan.PlanReviewed]) -> list[str]:
    fact = change.fact
    code = "plan_passed" if fact.passed else "plan_rejected_by_reviewer"
    return indent("", change.say(code, who=change.place(fact.member), detail=fact.feedback))


@PLAN_LINES.on(plan.PlanRefused)
def _refuse_plan(change: Change[plan.PlanRefused]) -> list[str]:
    """Say who gets the plan back; after the last try a question to people follows, with the problems."""
    if change.fact.n >= limits.PLAN_TRIES:
        return []
    planner = staffing.planner(change.after.team)
    return [change.say("plan_sent_back", who=planner.display_name, problems=change.fact.problems)]


@PLAN_LINES.on(plan.PlanApproved)
def _approve_plan(change: Change[plan.PlanApproved]) -> list[str]:
    """A plan that somebody approved is told with the answer; one that was not proposed is told with its tasks."""
    fact, work = change.fact, find_work(change.before)
    is_proposed = bool(work and work.proposed)
    if is_proposed and fact.by is not None:
        return []
    line = change.say("plan_taken", count=len(fact.tasks))
    return [line] if is_proposed else [line, *_number_tasks(change, fact.tasks, fact.kept)]


@PLAN_LINES.on(plan.PlanCancelled)
def _cancel_plan(change: Change[plan.PlanCancelled]) -> list[str]:
    if change.fact.reason == "timeout":
        return [change.say("plan_expired")]
    return [change.say("plan_cancelled", reason=change.say(f"reason_{change.fact.reason}"))]


@PLAN_LINES.on(plan.EvaluationStarted)
def _start_evaluation(change: Change[plan.EvaluationStarted]) -> list[str]:
    return [change.say("plan_weighed", who=change.place(change.fact.member))]


@PLAN_LINES.on(plan.PlanEvaluated, "landmark")
def _evaluate(change: Change[plan.PlanEvaluated]) -> list[str]:
    fact = change.fact
    decision = change.say(f"evaluated_{fact.decision}", who=change.name(fact.member))
    return indent("", f"{decision}: {fact.reason}" if fact.reason else decision)


@PLAN_LINES.on(plan.GoalChanged)
def _change_goal(change: Change[plan.GoalChanged]) -> list[str]:
    return indent("", change.say("goal_changed", detail=change.fact.question))


@PLAN_LINES.on(plan.ChangeRequested)
def _request_change(change: Change[plan.ChangeRequested]) -> list[str]:
    return [change.say("change_asked", who=change.place(staffing.planner(change.after.team).id))]


@PLAN_LINES.on(plan.PlanPatched)
def _patch(change: Change[plan.PlanPatched]) -> list[str]:
    patches = change.fact.patches
    return [
        change.say("plan_patched"),
        *(change.say(f"patch_{patch.op}", title=_title(change, patch.task_id)) for patch in patches),
    ]


@PLAN_LINES.on(events.StepClosed, "landmark")
def _answer(change: Change[events.StepClosed]) -> list[str]:
    """Tell the answer to "approve this plan?" in its own words, and other answers like any."""
    fact, step = change.fact, change.before.open_steps.get(change.fact.step_id)
    if fact.outcome != "answered" or step is None or step.kind != "plan":
        return tell_answer(change)
    who = change.name(fact.by)
    if fact.choice == "reject":
        return [change.say("plan_rejected", who=who)]
    if fact.choice != "approve":
        return indent("", change.say("answered", who=who, detail=fact.answer or ""))
    if fact.tasks is None:
        return [change.say("plan_approved", who=who)]
    return [change.say("plan_approved_edited", who=who), *_number_tasks(change, fact.tasks)]


def _number_tasks(change: Change[Any], tasks: Iterable[Json], kept: tuple[str, ...] = ()) -> list[str]:
    """The tasks of a plan, numbered; dependencies are named by their numbers, `kept` are finished already."""
    numbers = {task["id"]: str(number) for number, task in enumerate(tasks, 1)}
    return [f"  {numbers[task['id']]}. {_describe_task(change, task, numbers, kept)}" for task in tasks]


def _describe_task(change: Change[Any], task: Json, numbers: dict[str, str], kept: tuple[str, ...]) -> str:
    member = change.after.team.find(task["member"]) if task.get("member") else None
    who = f" → {member.display_name}" if member else ""
    needed = ", ".join(numbers.get(task_id, task_id) for task_id in task.get("depends_on", ()))
    after = change.say("task_after", detail=needed) if needed else ""
    done = change.say("task_kept") if task["id"] in kept else ""
    return f"{task['title']}{who}{after}{done}"


# steering and the end


@PLAN_LINES.on(plan.Interrupted)
def _interrupt(change: Change[plan.Interrupted]) -> list[str]:
    return [change.say("work_stopped", reason=change.say(f"reason_{change.fact.reason}"))]


@PLAN_LINES.on(plan.WorkflowChanged)
def _change_workflow(change: Change[plan.WorkflowChanged]) -> list[str]:
    """Announce the start of deferred work; other changes of phase are told by what caused them."""
    fact = change.fact
    return indent("", change.say("put_off_begins", detail=fact.question or "")) if fact.is_deferred else []


@PLAN_LINES.on(plan.SnapshotSaved)
def _save(change: Change[plan.SnapshotSaved]) -> list[str]:
    fact, work = change.fact, find_work(change.after)
    count = len(work.tasks) if work else 0
    return [change.say("checkpoint", detail=fact.snapshot_id, count=len(fact.done), limit=count)]


@PLAN_LINES.on(events.PauseRequested)
def _request_pause(change: Change[events.PauseRequested]) -> list[str]:
    return [change.say("pausing")] if find_work(change.after) else []


@PLAN_LINES.on(events.SessionActivated)
def _activate(change: Change[events.SessionActivated]) -> list[str]:
    before = change.before.interrupt
    is_resumed = before in STOPPED or before in (Interrupt.PAUSING, Interrupt.RESUME_READY)
    return [change.say("resumed")] if find_work(change.after) and is_resumed else []


@PLAN_LINES.on(events.TurnFailed, "landmark")
def _fail_turn(change: Change[events.TurnFailed]) -> list[str]:
    """A turn of the planner, a reviewer or the aggregator."""
    fact = change.fact
    if find_work(change.after) is None:
        return []
    kind, reason = name_failure(fact.error_type, change.language), change.failure(fact.error_type, fact.message)
    return indent("", change.say("turn_broke", who=change.name(fact.member), error_type=kind, detail=reason))


@PLAN_LINES.on(plan.AggregateStarted)
def _aggregate(change: Change[plan.AggregateStarted]) -> list[str]:
    return [change.say("aggregating", who=change.place(change.fact.member))]


@PLAN_LINES.on(plan.AggregateReviewed, "landmark")
def _review_answer(change: Change[plan.AggregateReviewed]) -> list[str]:
    fact = change.fact
    code = "answer_passed" if fact.passed else "answer_rejected"
    return indent("", change.say(code, who=change.place(fact.member), detail=fact.feedback))


@PLAN_LINES.on(plan.PipelineCompleted)
def _complete(change: Change[plan.PipelineCompleted]) -> list[str]:
    """Say what makes the end partial: tasks that are missing, an answer that was rejected."""
    fact = change.fact
    reasons = [change.say("work_without", names=fact.missing)] if fact.missing else []
    reasons += [change.say("work_rejected")] if fact.is_rejected else []
    return ["".join((change.say(f"work_{fact.status}"), *reasons))]


@PLAN_LINES.message(plan.FinalAnswered)
def _give_answer(fact: plan.FinalAnswered) -> Message:
    return Message(fact.member, fact.text.strip())


@PLAN_LINES.says(plan.SolverCompleted)
def _say_result(fact: plan.SolverCompleted) -> Message:
    return Message(fact.member, fact.result)


# tasks


@PLAN_LINES.on(plan.SolverStarted)
def _start(change: Change[plan.SolverStarted]) -> list[str]:
    fact = change.fact
    code = "task_started" if fact.attempt == 1 else "task_started_again"
    return [change.say(code, who=change.name(fact.member), title=fact.task["title"], count=fact.attempt)]


@PLAN_LINES.on(plan.SolverProgressed)
def _progress(change: Change[plan.SolverProgressed]) -> list[str]:
    fact = change.fact
    count = f"{fact.done}/{fact.total}" if fact.total else str(fact.done)
    return _tell_work(f"  · {change.name(fact.member)} {count}: ", change)


@PLAN_LINES.on(plan.SolverCompleted, "landmark")
def _complete_task(change: Change[plan.SolverCompleted]) -> list[str]:
    """Return the line and the result below it: whole, or its beginning without blank lines."""
    line = change.say("task_finished", who=change.name(change.fact.member), title=change.fact.task["title"])
    result = change.fact.result.strip()
    if not change.is_whole and len(result) > RESULT_CHARS:
        result = f"{result[:RESULT_CHARS].rstrip()}…"
    parts = [part.rstrip() for part in result.split("\n")] if result else []
    return [line, *(f"    {part}" if part else "" for part in parts if part or change.is_whole)]


@PLAN_LINES.on(plan.DispatchRequested)
def _offer(change: Change[plan.DispatchRequested]) -> list[str]:
    """Logs of older versions lack the place, which is then derived from the member."""
    fact = change.fact
    place = fact.place or describe_source(change.after.team, fact.member)
    return [change.say("task_offered", detail=place, title=_title(change, fact.task_id))]


@PLAN_LINES.on(plan.DispatchAcked)
def _ack(change: Change[plan.DispatchAcked]) -> list[str]:
    fact = change.fact
    title = _title(change, fact.task_id)
    taken = change.say("task_taken", who=change.name(fact.member), title=title)
    return [taken] if fact.place is None else [taken, change.say("task_in_line", count=fact.place, title=title)]


@PLAN_LINES.on(plan.DispatchNacked)
def _nack(change: Change[plan.DispatchNacked]) -> list[str]:
    fact = change.fact
    reason = tell_reason(fact.reason, change.language)
    line = change.say("task_not_taken", who=change.name(fact.member), title=_title(change, fact.task_id), reason=reason)
    return [line if fact.retry_in_s is None else line + change.say("offered_again", seconds=fact.retry_in_s)]


@PLAN_LINES.on(plan.TaskFailed, "landmark")
def _fail(change: Change[plan.TaskFailed]) -> list[str]:
    fact = change.fact
    line = change.say(
        "task_broke" if fact.message else "task_ended",
        who=change.name(fact.member),
        title=_title(change, fact.task_id),
        error_type=name_failure(fact.error_type, change.language),
        detail=change.failure(fact.error_type, fact.message),
    )
    return indent("", line)


@PLAN_LINES.on(plan.RecoveryStarted)
def _retry(change: Change[plan.RecoveryStarted]) -> list[str]:
    fact = change.fact
    line = change.say(
        "retry_in" if fact.delay_s else "retry_at_once",
        seconds=fact.delay_s,
        count=fact.attempt,
        limit=fact.max_attempts,
        title=_subject(change),
    )
    return [line]


@PLAN_LINES.on(plan.RecoverySucceeded)
def _recover(change: Change[plan.RecoverySucceeded]) -> list[str]:
    return [change.say("retry_worked", count=change.fact.attempt, title=_subject(change))]


@PLAN_LINES.on(plan.RecoveryFailed)
def _give_up(change: Change[plan.RecoveryFailed]) -> list[str]:
    return [change.say("retries_over", title=_subject(change))]


@PLAN_LINES.on(plan.LeaseExpired)
def _lose(change: Change[plan.LeaseExpired]) -> list[str]:
    """Say that a worker is gone. Leases that end because of a pause are told by the pause."""
    fact = change.fact
    return [] if fact.reason == "paused" else [change.say("worker_gone", title=_title(change, fact.task_id))]


@PLAN_LINES.on(plan.TaskReviewed, "landmark")
def _review(change: Change[plan.TaskReviewed]) -> list[str]:
    fact = change.fact
    code = "task_passed" if fact.passed else "task_sent_back"
    title = _title(change, fact.task_id)
    return indent("", change.say(code, who=change.place(fact.member), title=title, detail=fact.feedback))


@PLAN_LINES.on(plan.SolverCancelled)
def _cancel(change: Change[plan.SolverCancelled]) -> list[str]:
    return [change.say("task_cancelled", title=change.fact.task["title"])]


@PLAN_LINES.on(plan.SolverRestarted)
def _restart(change: Change[plan.SolverRestarted]) -> list[str]:
    fact = change.fact
    who = f" → {change.name(fact.member)}" if fact.member else ""
    return [change.say("task_restarted", title=fact.task["title"]) + who]


@PLAN_LINES.on(plan.TaskSkipped)
def _skip(change: Change[plan.TaskSkipped]) -> list[str]:
    return [change.say("task_skipped", title=_title(change, change.fact.task_id))]


@PLAN_LINES.on(plan.MemberUnavailable)
def _open_breaker(change: Change[plan.MemberUnavailable]) -> list[str]:
    fact, who = change.fact, change.name(change.fact.member)
    return [change.say("member_unavailable", who=who, count=fact.failures, seconds=fact.retry_in_s)]


def _title(change: Change[Any], task_id: str | None) -> str:
    """The title of a task, also of one that this fact removes; its id where it is not known."""
    for state in (change.after, change.before):
        work = find_work(state)
        run = work.tasks.get(task_id or "") if work else None
        if run:
            return run.task.title
    return task_id or ""


def _subject(change: Change[plan.RecoveryStarted | plan.RecoverySucceeded | plan.RecoveryFailed]) -> str:
    """What is retried: a task, or the turn of a planner, reviewer or aggregator, which is named by its job."""
    job = change.fact.job.partition(":")[0]
    parts = (change.say(f"job_{job}") if job else "", _title(change, change.fact.task_id))
    return " · ".join(part for part in parts if part)


# the timeline


@PLAN_LINES.row(plan.WorkflowChanged, "flow")
def _phase_row(entry: Entry[plan.WorkflowChanged]) -> str:
    phases = (entry.fact.was, entry.fact.state)
    return " → ".join(entry.term("phase", phase) for phase in phases if phase)


@PLAN_LINES.row(plan.PlanCancelled, "flow")
def _cancelled_plan_row(entry: Entry[plan.PlanCancelled]) -> str:
    return entry.term("outcome", entry.fact.reason)


@PLAN_LINES.row(plan.Interrupted, "flow")
def _interrupted_row(entry: Entry[plan.Interrupted]) -> str:
    return entry.term("outcome", entry.fact.reason)


@PLAN_LINES.row(plan.PipelineCompleted, "flow")
def _completed_row(entry: Entry[plan.PipelineCompleted]) -> str:
    return entry.term("outcome", entry.fact.status)


@PLAN_LINES.row(events.TurnStarted, "steps", begins=TURN)
def _turn_row(entry: Entry[events.TurnStarted]) -> str:
    return _row_subject(entry, entry.fact.job)


@PLAN_LINES.row(plan.DispatchRequested, "dispatch", begins=DISPATCH)
def _dispatch_row(entry: Entry[plan.DispatchRequested]) -> str:
    subject = entry.title
    return f"{entry.fact.place} · {subject}" if entry.fact.place else subject


@PLAN_LINES.row(plan.DispatchAcked, "dispatch")
def _ack_row(entry: Entry[plan.DispatchAcked]) -> str:
    return entry.title


PLAN_LINES.ends(plan.DispatchAcked, DISPATCH)


@PLAN_LINES.row(plan.DispatchNacked, "errors", "failed")
def _nack_row(entry: Entry[plan.DispatchNacked]) -> str:
    return f"{entry.title}: {entry.term('error', entry.fact.reason)}"


@PLAN_LINES.row(plan.SolverStarted, "steps", begins=RUN)
def _start_row(entry: Entry[plan.SolverStarted]) -> str:
    attempt, subject = entry.fact.attempt, entry.title
    return f"{entry.say('task.attempt', n=attempt)} · {subject}" if attempt > 1 else subject


@PLAN_LINES.row(plan.SolverProgressed, "steps")
def _progress_row(entry: Entry[plan.SolverProgressed]) -> str:
    fact = entry.fact
    return f"{fact.done}{f'/{fact.total}' if fact.total else ''} {tell_step(fact, entry.language)}"


@PLAN_LINES.row(plan.SolverCompleted, "steps")
def _result_row(entry: Entry[plan.SolverCompleted]) -> str:
    return entry.title


PLAN_LINES.ends(plan.SolverCompleted, RUN)


@PLAN_LINES.row(plan.TaskFailed, "steps", "failed")
def _failed_task_row(entry: Entry[plan.TaskFailed]) -> str:
    return _row_failure(entry, entry.fact.error_type, entry.fact.message)


PLAN_LINES.ends(plan.TaskFailed, RUN_OF, "failed")
PLAN_LINES.ends(plan.LeaseExpired, RUN_OF, "cancelled")
PLAN_LINES.ends(plan.SolverCancelled, RUN, "cancelled")
PLAN_LINES.ends(plan.SolverRestarted, RUN, "cancelled")


@PLAN_LINES.row(plan.TaskReviewed, "steps")
def _review_row(entry: Entry[plan.TaskReviewed]) -> str:
    return _row_verdict(entry, entry.title, entry.fact.feedback)


@PLAN_LINES.row(plan.PlanEvaluated, "flow")
def _evaluated_row(entry: Entry[plan.PlanEvaluated]) -> str:
    fact = entry.fact
    return ": ".join(part for part in (entry.say(f"evaluated.{fact.decision}"), fact.reason) if part)


@PLAN_LINES.row(plan.PlanReviewed, "steps")
def _plan_review_row(entry: Entry[plan.PlanReviewed]) -> str:
    return _row_verdict(entry, entry.term("work", "plan"), entry.fact.feedback)


@PLAN_LINES.row(plan.AggregateReviewed, "steps")
def _answer_review_row(entry: Entry[plan.AggregateReviewed]) -> str:
    return _row_verdict(entry, entry.term("work", "aggregate"), entry.fact.feedback)


@PLAN_LINES.row(plan.ExecutionFailed, "errors", "failed")
def _failed_execution_row(entry: Entry[plan.ExecutionFailed]) -> str:
    fact = entry.fact
    return _row_failure(entry, fact.error_type, fact.message, fact.job)


@PLAN_LINES.row(plan.RecoveryStarted, "errors", "failed")
def _retry_row(entry: Entry[plan.RecoveryStarted]) -> str:
    fact = entry.fact
    return f"{fact.attempt}/{fact.max_attempts} · {_row_subject(entry, fact.job)}"


@PLAN_LINES.row(plan.RecoverySucceeded, "errors", "ok")
def _recovered_row(entry: Entry[plan.RecoverySucceeded]) -> str:
    return _row_subject(entry, entry.fact.job)


@PLAN_LINES.row(plan.RecoveryFailed, "errors", "failed")
def _given_up_row(entry: Entry[plan.RecoveryFailed]) -> str:
    fact = entry.fact
    return _row_failure(entry, fact.error_type, fact.message, fact.job)


def _row_verdict(
    entry: Entry[plan.TaskReviewed | plan.PlanReviewed | plan.AggregateReviewed], subject: str, feedback: str
) -> str:
    verdict = entry.say("review.passed" if entry.fact.passed else "review.sent_back")
    return f"{verdict}: {' · '.join(part for part in (subject, feedback) if part)}"


def _row_subject(entry: Entry[Any], job: str = "") -> str:
    """What a row is about: a task by its title, or the job of a turn that is no task."""
    name = entry.term("work", job.partition(":")[0]) if job else ""
    return " · ".join(part for part in (name, entry.title) if part)


def _row_failure(entry: Entry[Any], error_type: str, message: str, job: str = "") -> str:
    parts = (_row_subject(entry, job), entry.term("error", error_type), message)
    return ": ".join(part for part in parts if part)
