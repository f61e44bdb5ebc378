"""The plan flow (spec/4, seeds 002 and 004): plan, confirm, solve in parallel, aggregate; steered while it runs.

Every function ends in `_advance`: offer what can start, aggregate what is complete, and settle who has the floor.
"""

from moot.core import budgets, front_door, limits, permissions, text
from moot.core.commands import (
    AckDispatch,
    Answer,
    AskHuman,
    CancelPlan,
    CancelTask,
    CompleteTurn,
    EndGrace,
    EndWait,
    ExpireDispatch,
    ExpireLease,
    FailTurn,
    NackDispatch,
    PlanCommand,
    ProbeMember,
    Replan,
    ReportStep,
    ReportUnderstanding,
    RestartTask,
    SolveTasks,
    StartTask,
)
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.events import NoticePosted, PauseRequested, StepAsked, TurnCompleted
from moot.core.interruption import STOPPED
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.task import State
from moot.core.machines.workflow import Trigger
from moot.core.markers import Markers
from moot.core.messages import post
from moot.core.plan import answers, controls, dispatching, finishing, floor, patches, planning, recovery, steering
from moot.core.plan import workflow as workflows
from moot.core.plan.events import MemberProbed, PlanStepped, RecoverySucceeded, WaitEnded
from moot.core.plan.jobs import restart_job, work_of
from moot.core.plan.state import TaskRun, Work
from moot.core.plan.status import status_notice
from moot.core.plan.tasks import InvalidPlan, read_tasks
from moot.core.state import Turn
from moot.core.team import Member
from moot.core.usage import safe_usage


def receive(draft: Draft, speaker: Member, raw: str, markers: Markers) -> None:
    """A human spoke: what it means is understood first."""
    post(draft, speaker, raw, markers, turn_id=None)
    if markers.done:
        stop(draft, "session_ended")
        draft.end("done")
        return
    if markers.next or markers.drop:
        draft.add(NoticePosted(code="no_queue_here"))
    routed = front_door.receive(draft, speaker.id, markers.clean.strip()) if markers.clean.strip() else None
    if routed:
        steering.steer(draft, *routed)
    _advance(draft)


def understand(draft: Draft, command: ReportUnderstanding) -> None:
    routed = front_door.complete(draft, command)
    if routed:
        steering.steer(draft, *routed)
    _advance(draft)


# members at work


def complete_turn(draft: Draft, turn: Turn, command: CompleteTurn) -> None:
    verdict = finishing.read_verdict(command) if turn.job == "review" else None
    if turn.job == "review" and verdict is None:
        invalid = FailTurn(turn_id=turn.turn_id, error_type="validation", message="", usage=command.usage)
        fail_turn(draft, turn, invalid)
        return
    draft.add(TurnCompleted(turn_id=turn.turn_id, member=turn.member, usage=safe_usage(command.usage)))
    episode = work_of(draft).episodes.get(turn.episode)
    if episode:
        draft.add(RecoverySucceeded(task_id=turn.task_id or None, attempt=episode.retries, job=turn.episode))
    match turn.job:
        case "plan":
            planning.receive_plan(draft, command)
        case "patch":
            patches.receive_patches(draft, command)
        case "review":
            finishing.receive_review(draft, turn, verdict or {})
        case "aggregate":
            finishing.receive_answer(draft, turn, command)
    _advance(draft)


def fail_turn(draft: Draft, turn: Turn, command: FailTurn) -> None:
    recovery.fail_job(draft, turn, command)
    _advance(draft)


def step_turn(draft: Draft, turn: Turn, step: ReportStep) -> bool:
    """A planner's step has a name of its own; True when it was logged here."""
    if turn.job != "plan":
        return False
    draft.add(
        PlanStepped(
            step=step.text,
            n=work_of(draft).plan_steps + 1,
            member=turn.member,
            turn_id=turn.turn_id,
            thought=step.thought,
            action=step.action,
            observation=step.observation,
        )
    )
    return True


def find_task(draft: Draft, dispatch_id: str, *expected: State) -> TaskRun:
    """The task that a dispatch is about; one that is over, or further on already, is stale (seed 002 §10).

    While the work is paused nobody has a task: what is only offered then is offered again when it goes on.
    """
    work = draft.state.work
    task_id = work.dispatches.get(dispatch_id) if work else None
    if work is None or task_id is None or draft.state.interrupt in STOPPED:
        raise Refused("stale_turn", detail=dispatch_id)
    run = work.tasks[task_id]
    if run.state not in expected:
        raise Refused("stale_turn", detail=dispatch_id)
    return run


def obey_worker(
    draft: Draft, command: AckDispatch | NackDispatch | StartTask | ReportStep | AskHuman | CompleteTurn | FailTurn
) -> None:
    """What a worker says about its task. Before the start it may only take it or not; after it, not any more."""
    dispatch_id = command.turn_id if hasattr(command, "turn_id") else command.dispatch_id
    run = find_task(draft, dispatch_id, _EXPECTED[type(command)])
    match command:
        case AckDispatch(place=place):
            was_open = work_of(draft).slots[run.member].is_open
            dispatching.ack(draft, run, place)
            if not was_open:
                return  # nothing else can start because of it; a breaker that it closes held up others
        case StartTask():
            dispatching.start(draft, run)
            return
        case ReportStep():
            dispatching.progress(draft, run, command)
            return
        case AskHuman():
            permissions.ask(draft, run.member, command)
            return
        case NackDispatch():
            recovery.nack(draft, run, command.reason)
        case CompleteTurn():
            dispatching.complete(draft, run, command)
        case FailTurn():
            recovery.fail_task(draft, run, command.error_type, command.message, command.retry_after_s, command.usage)
    _advance(draft)


_EXPECTED: dict[type, State] = {
    AckDispatch: State.DISPATCHING,
    NackDispatch: State.DISPATCHING,
    StartTask: State.DISPATCHED,
    ReportStep: State.RUNNING,
    AskHuman: State.RUNNING,
    CompleteTurn: State.RUNNING,
    FailTurn: State.RUNNING,
}


# time passes


def expire_task(draft: Draft, dispatch_id: str) -> None:
    """It ran for too long."""
    run = find_task(draft, dispatch_id, State.RUNNING)
    recovery.fail_task(draft, run, "timeout", "")
    _advance(draft)


def obey_timer(draft: Draft, command: ExpireDispatch | ExpireLease | EndWait | ProbeMember | EndGrace) -> None:
    work = draft.state.work
    if work is None or not work.is_active:
        raise Refused("stale_turn", detail=type(command).__name__)
    match command:
        case ExpireDispatch(dispatch_id=dispatch_id):
            run = find_task(draft, dispatch_id, State.DISPATCHING, State.DISPATCHED)
            recovery.nack(draft, run, "timeout")
        case ExpireLease(dispatch_id=None):
            dispatching.lose_leases(draft, "restarted")
        case ExpireLease(dispatch_id=str(dispatch_id)):
            run = find_task(draft, dispatch_id, State.DISPATCHED, State.RUNNING)
            dispatching.lose_lease(draft, run, "lost")
        case EndWait():
            _end_wait(draft, work, command.number)
        case ProbeMember(member=member):
            if not work.needs_probe(member):
                raise Refused("stale_turn", detail=member)
            draft.add(MemberProbed(member=member))
        case EndGrace():
            if draft.state.interrupt is not Interrupt.PAUSING:
                raise Refused("stale_turn", detail="pause")
            floor.checkpoint(draft)
    _advance(draft)


def _end_wait(draft: Draft, work: Work, number: int) -> None:
    for task_id, run in work.tasks.items():
        if run.wait and run.wait.number == number:
            draft.add(WaitEnded(task_id=task_id))
            return
    for episode in work.episodes.values():
        if episode.wait and episode.wait.number == number:
            restart_job(draft, episode.job, episode.task_id)
            return
    raise Refused("stale_turn", detail=f"wait {number}")


# people


def answer(draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
    answers.answer(draft, step, command, by)
    _advance(draft)


def expire(draft: Draft, step: StepAsked) -> None:
    if step.code == planning.CONFIRM:
        finishing.cancel_plan(draft, "timeout")
    _advance(draft)


def pause(draft: Draft, by: Member | None) -> None:
    controls.pause(draft, by)
    _advance(draft)


def resume(draft: Draft) -> None:
    controls.resume(draft)
    _advance(draft, starts_deferred=True)


def retry(draft: Draft) -> None:
    controls.retry(draft)
    _advance(draft)


def cancel(draft: Draft, by: Member | None) -> None:
    controls.cancel(draft, by)
    _advance(draft)


def stop(draft: Draft, reason: str) -> None:
    if draft.state.work and draft.state.work.is_active:
        finishing.interrupt(draft, reason)


def status(draft: Draft) -> NoticePosted:
    return status_notice(draft.state)


def change_plan(draft: Draft, command: PlanCommand, by: Member | None) -> None:
    """Commands that only this flow knows."""
    match command:
        case SolveTasks():
            _solve(draft, command, by)
        case CancelTask(task_id=task_id):
            controls.cancel_task(draft, task_id)
        case RestartTask(task_id=task_id, member=None):
            controls.restart_started_task(draft, task_id)
        case RestartTask(task_id=task_id, member=str(name)):
            other = answers.find_other(draft, task_id, name)
            controls.restart_task(draft, task_id, other, reason="reassign")
        case CancelPlan():
            controls.active_work(draft)
            finishing.cancel_plan(draft, "user_cancel")
        case Replan(feedback=feedback):
            controls.active_work(draft)
            steering.replan(draft, text.cut(text.clean(feedback), limits.HISTORY_CHARS))
    _advance(draft)


def _solve(draft: Draft, command: SolveTasks, by: Member | None) -> None:
    work = draft.state.work
    if work and work.is_active:
        raise Refused("workflow_active")
    try:
        tasks = read_tasks(command.tasks, draft.team)
    except InvalidPlan as invalid:
        raise Refused("invalid_plan", problems=[str(each) for each in invalid.problems]) from None
    question = text.clean(command.question) or "; ".join(task.title for task in tasks)
    workflows.begin(draft, question[:2_000], by.id if by else draft.team.first_human.id)
    planning.approve(draft, tasks, by.id if by else None, Trigger.PLAN_APPROVED)


def _advance(draft: Draft, *, starts_deferred: bool = False) -> None:
    """Let the work go on as far as it can without a human, then say who has the floor."""
    work = draft.state.work
    if work and work.is_active:
        controls.ask_about_dropped(draft)
        workflows.carry_on(draft)
        _work_on(draft)
    _start_deferred(draft, is_asked=starts_deferred)
    floor.settle(draft)


def _work_on(draft: Draft) -> None:
    """Offer what can start, unless a pause was asked for. Who plans at the limit of a budget begins after the pause."""
    work = work_of(draft)
    if any(budgets.is_overrun(fact) for fact in draft.facts):
        floor.checkpoint(draft)
    elif not floor.is_held(draft.state) and work.is_approved and dispatching.may_dispatch(work):
        _hand_out(draft)


def _hand_out(draft: Draft) -> None:
    """All that can start now. At the limit of a budget none of it does: what runs ends, then there is a pause."""
    offers = Draft(draft.state, draft.at, draft.chance)
    finishing.request_reviews(offers)
    dispatching.offer_tasks(offers)
    finishing.aggregate(offers)
    overrun = next((fact for fact in offers.facts if budgets.is_overrun(fact)), None)
    if overrun:
        draft.add(overrun)
        draft.add(PauseRequested(member=None))
    else:
        draft.facts += offers.facts
        draft.state = offers.state


def _start_deferred(draft: Draft, *, is_asked: bool) -> None:
    """What was put off begins when the work before it is complete; after a cancelled or paused one, when asked for."""
    state = draft.state
    if not state.door.deferred or state.work is None or state.work.is_active:
        return
    is_complete = any(fact.event == "pipeline.completed" for fact in draft.facts)
    if is_asked or (is_complete and state.interrupt is Interrupt.EXECUTION):
        first = state.door.deferred[0]
        steering.begin(draft, first.text, first.member, is_deferred=True)
