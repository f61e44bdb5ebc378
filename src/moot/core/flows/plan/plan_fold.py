"""Folds facts into a piece of work: one function per kind of fact."""

from msgspec.structs import replace

from moot.core import limits
from moot.core.facts import Fold
from moot.core.flows.plan import plan_events as events
from moot.core.flows.plan import task_fold
from moot.core.flows.plan.plan_state import Evaluation, Work
from moot.core.flows.plan.runs import as_task, make_ready, patch_runs, renew, settle
from moot.core.machines import agent
from moot.core.machines.workflow import Trigger

work_fold: Fold[Work] = Fold()
work_fold.ignore(events.ExecutionFailed)
work_fold.on(events.DispatchRequested)(task_fold.request)
work_fold.on(events.DispatchAcked)(task_fold.ack)
work_fold.on(events.DispatchNacked)(task_fold.nack)
work_fold.on(events.SolverStarted)(task_fold.start)
work_fold.on(events.SolverProgressed)(task_fold.progress)
work_fold.on(events.SolverCompleted)(task_fold.complete)
work_fold.on(events.SolverCancelled)(task_fold.cancel)
work_fold.on(events.SolverRestarted)(task_fold.restart)
work_fold.on(events.TaskFailed)(task_fold.fail)
work_fold.on(events.LeaseExpired)(task_fold.lose_lease)
work_fold.on(events.TaskReviewed)(task_fold.review)
work_fold.on(events.TasksTakeTurns)(lambda work, _: replace(work, is_told_to_wait=True))
work_fold.on(events.TaskSentBack)(task_fold.send_back)
work_fold.on(events.TaskBlocked)(task_fold.block)
work_fold.on(events.TaskSkipped)(task_fold.skip)
work_fold.on(events.RecoveryStarted)(task_fold.retry)
work_fold.on(events.WaitEnded)(task_fold.end_wait)


@work_fold.on(events.PlanStarted)
def _start_plan(work: Work, fact: events.PlanStarted) -> Work:
    """Forget the retries that were due: they belong to the plan before this one."""
    return replace(
        work,
        tasks={task_id: replace(run, wait=None) if run.wait else run for task_id, run in work.tasks.items()},
        episodes={},
        plan_id=fact.plan_id,
        feedback=fact.feedback,
        proposed=(),
        discussed=work.proposed or work.discussed,
        plan_steps=0,
        plan_step="",
        is_aggregating=False,
        refusals=0,
        plan_reviews=0,
        problems=(),
        counts=replace(work.counts, plans=work.counts.plans + 1),
    )


@work_fold.on(events.PlanStepped)
def _step_plan(work: Work, fact: events.PlanStepped) -> Work:
    return replace(work, plan_steps=fact.n, plan_step=fact.step[: limits.STEP_CHARS])


@work_fold.on(events.PlanRefused)
def _refuse_plan(work: Work, fact: events.PlanRefused) -> Work:
    return replace(work, refusals=fact.n, problems=fact.problems)


@work_fold.on(events.PlanCompleted)
def _complete_plan(work: Work, fact: events.PlanCompleted) -> Work:
    return replace(
        work,
        proposed=tuple([as_task(each) for each in fact.tasks]),
        kept=fact.kept,
        summary=fact.plan_summary,
        refusals=0,
        problems=(),
    )


@work_fold.on(events.PlanReviewed)
def _review_plan(work: Work, fact: events.PlanReviewed) -> Work:
    """Keep a rejected plan and its problems for the planner."""
    work = replace(work, plan_reviews=fact.n)
    if not fact.is_reworked:
        return work
    problems = (fact.feedback,) if fact.feedback else ()
    return replace(work, problems=problems, discussed=work.proposed, proposed=(), kept=())


@work_fold.on(events.PlanApproved)
def _approve_plan(work: Work, fact: events.PlanApproved) -> Work:
    """Replace the tasks. Those that the plan keeps stay finished."""
    runs = renew(work.tasks, [as_task(document) for document in fact.tasks], fact.kept)
    return replace(
        work,
        tasks=make_ready(runs, fact.ready),
        dispatches={},
        proposed=(),
        kept=(),
        discussed=(),
        feedback="",
        episodes={},
        is_aggregating=False,
        replans=0 if fact.by else work.replans,
    )


@work_fold.on(events.PlanPatched)
def _patch_plan(work: Work, fact: events.PlanPatched) -> Work:
    """Replace the tasks. Those that are still in the plan keep their progress."""
    runs = patch_runs(work.tasks, [as_task(document) for document in fact.tasks])
    dispatches = {dispatch: task_id for dispatch, task_id in work.dispatches.items() if task_id in runs}
    work = task_fold.forget_episodes(work, *(task_id for task_id in work.tasks if task_id not in runs))
    tasks = settle(runs, fact.ready)
    return replace(work, tasks=tasks, dispatches=dispatches, refusals=0, problems=(), feedback="")


@work_fold.on(events.WorkflowChanged)
def _change_workflow(work: Work, fact: events.WorkflowChanged) -> Work:
    """Move the workflow. Every move ends the evaluation, and the retry of one that failed."""
    reason = fact.reason if fact.trigger in _REPLANS and fact.reason else work.replan_reason
    episodes = {job: episode for job, episode in work.episodes.items() if job.partition(":")[0] != "evaluate"}
    return replace(
        work, status=fact.state, trigger=fact.trigger, replan_reason=reason, evaluation=None, episodes=episodes
    )


@work_fold.on(events.EvaluationStarted)
def _start_evaluation(work: Work, fact: events.EvaluationStarted) -> Work:
    evaluation = Evaluation(
        task_id=fact.task_id, input=fact.input, code=fact.code, error_type=fact.error_type, detail=fact.detail
    )
    return replace(work, evaluation=evaluation)


@work_fold.on(events.PlanEvaluated)
def _evaluate(work: Work, fact: events.PlanEvaluated) -> Work:
    return replace(work, replans=work.replans + 1) if fact.decision == "replan" else work


_REPLANS = (Trigger.MAJOR_FAILURE, Trigger.MAJOR_CHANGE, Trigger.USER_CHOOSE_REPLAN)


@work_fold.on(events.GoalChanged)
def _change_goal(work: Work, fact: events.GoalChanged) -> Work:
    return replace(work, question=fact.question)


@work_fold.on(events.ChangeRequested)
def _request_change(work: Work, fact: events.ChangeRequested) -> Work:
    return replace(task_fold.forget_episodes(work), feedback=fact.text, refusals=0, problems=())


@work_fold.on(events.SnapshotSaved)
def _save_snapshot(work: Work, fact: events.SnapshotSaved) -> Work:
    counts = replace(work.counts, snapshots=work.counts.snapshots + 1)
    return replace(work, latest_execution_snapshot_id=fact.snapshot_id, counts=counts)


@work_fold.on(events.RecoverySucceeded, events.RecoveryFailed)
def _end_episode(work: Work, fact: events.RecoverySucceeded | events.RecoveryFailed) -> Work:
    if not fact.job:
        return work
    return replace(work, episodes={job: each for job, each in work.episodes.items() if job != fact.job})


@work_fold.on(events.AggregateStarted)
def _aggregate(work: Work, fact: events.AggregateStarted) -> Work:
    if fact.n > 1:
        return replace(work, is_aggregating=True)
    return replace(work, is_aggregating=True, answer_reviews=0, answer_feedback="")


@work_fold.on(events.AggregateReviewed)
def _review_answer(work: Work, fact: events.AggregateReviewed) -> Work:
    return replace(work, answer_reviews=fact.n, answer_feedback="" if fact.passed else fact.feedback)


@work_fold.on(events.AggregateCompleted)
def _answer(work: Work, fact: events.AggregateCompleted) -> Work:
    return replace(work, answer=fact.text[: limits.RESULT_CHARS], is_aggregating=False)


@work_fold.on(events.PipelineCompleted)
def _complete(work: Work, fact: events.PipelineCompleted) -> Work:
    return replace(work, outcome=fact.status)


@work_fold.on(events.PlanCancelled, events.Interrupted)
def _stop(work: Work, fact: events.PlanCancelled | events.Interrupted) -> Work:
    return replace(work, outcome=fact.reason, is_aggregating=False)


@work_fold.on(events.MemberUnavailable)
def _open_breaker(work: Work, fact: events.MemberUnavailable) -> Work:
    slots = work.slots[fact.member]
    states = {name: agent.open_breaker(slot) for name, slot in slots.states.items()}
    opened = replace(
        slots,
        states=states,
        is_open=True,
        probes=slots.probes + 1,
        delay_s=fact.retry_in_s,
        retry_at=fact.retry_at,
    )
    return task_fold.with_slots(work, fact.member, opened)


@work_fold.on(events.MemberProbed)
def _probe(work: Work, fact: events.MemberProbed) -> Work:
    return task_fold.with_slots(work, fact.member, replace(work.slots[fact.member], may_probe=True))
