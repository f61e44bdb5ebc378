"""The plan flow: plan, confirm, solve in parallel, review, aggregate; steered while it runs (docs/plan.md)."""

from collections.abc import Callable, Collection, Iterable
from typing import Any

from msgspec.structs import replace

from moot.core import limits, text
from moot.core.draft import Draft
from moot.core.effects import Effect
from moot.core.errors import Refused
from moot.core.facts import Fact
from moot.core.flows.plan import (
    answers,
    assignment,
    controls,
    dispatching,
    finishing,
    integration,
    patches,
    plan_effects,
    plan_slice,
    planning,
    questions,
    recovery,
    steering,
    workflow,
)
from moot.core.flows.plan.jobs import REVIEWS, restart_job, work_of
from moot.core.flows.plan.plan_commands import (
    PLAN_COMMANDS,
    CancelPlan,
    CancelTask,
    EndGrace,
    EndWait,
    ProbeMember,
    Replan,
    RestartTask,
    SolveTasks,
)
from moot.core.flows.plan.plan_events import (
    PLAN_FACTS,
    MemberProbed,
    PipelineCompleted,
    PlanStepped,
    RecoverySucceeded,
    WaitEnded,
)
from moot.core.flows.plan.plan_lines import PLAN_LINES
from moot.core.flows.plan.plan_slice import PlanSlice, find_work
from moot.core.flows.plan.plan_state import TaskRun
from moot.core.flows.plan.plan_view import project_work
from moot.core.flows.plan.tasks import LEADING_ROLES, InvalidPlan, executors, read_tasks
from moot.core.flows.plan.verdicts import Verdict, read_verdict
from moot.core.flows.steered_flow import SteeredFlow
from moot.core.flows.turns import TurnInput, plain_input
from moot.core.intake.intent import CurrentTask, KnownTask, RoutingDecision, WorkflowStatus
from moot.core.machines import task
from moot.core.machines.interrupt import STOPPED
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.task import TaskState
from moot.core.machines.workflow import Trigger, WorkflowState
from moot.core.session import budgets, permissions
from moot.core.session.commands import (
    AckDispatch,
    Answer,
    AskHuman,
    Command,
    CompleteTurn,
    ExpireDispatch,
    ExpireLease,
    ExpireTurn,
    FailTurn,
    HumanCommand,
    NackDispatch,
    ReportStep,
    StartTask,
    TurnReport,
)
from moot.core.session.events import Input, NoticePosted, PauseRequested, StepAsked, TurnCompleted
from moot.core.session.state import State, Turn
from moot.core.session.team import Member
from moot.core.session.usage import safe_usage
from moot.core.session.workspace_commands import WorkspaceReport

AT_A_GATE = ("check", "merge")  # where work goes on without a human
HELD = (TaskState.DISPATCHED, TaskState.RUNNING)
_REVIEWED: dict[str, Callable[[Draft, Turn, Verdict], None]] = {
    "review": finishing.receive_review,
    "review_plan": planning.receive_review,
    "review_answer": finishing.receive_answer_review,
}


class PlanFlow(SteeredFlow):
    name = "plan"
    slice_type = PlanSlice
    facts = PLAN_FACTS
    commands = PLAN_COMMANDS
    fold = plan_slice.fold
    follow = plan_slice.follow
    lines = PLAN_LINES
    leading_roles = frozenset(LEADING_ROLES)

    # steering

    def begin(self, draft: Draft, goal: str, member: str, *, is_deferred: bool = False) -> None:
        workflow.begin(draft, goal, member, is_deferred=is_deferred)
        planning.start_planning(draft)

    def follow_up(self, draft: Draft, input_: Input) -> None:
        work = find_work(draft.state)
        if work is not None and work.status is WorkflowState.COMPLETED:
            steering.follow_up(draft, input_)
        else:
            self.begin(draft, input_.text, input_.member)

    def answer_back(self, draft: Draft, input_: Input) -> None:
        work = find_work(draft.state)
        if work is not None and work.status is WorkflowState.COMPLETED and executors(draft.team):
            steering.answer_back(draft, input_)
        else:
            self.follow_up(draft, input_)

    def abandon(self, draft: Draft, reason: str) -> None:
        finishing.interrupt(draft, reason)

    def completes(self, fact: Fact) -> bool:
        return isinstance(fact, PipelineCompleted)

    def steer_work(self, draft: Draft, input_: Input, decision: RoutingDecision) -> None:
        steering.steer_work(draft, input_, decision)

    def choices_when_unsure(self, state: State) -> tuple[str, ...]:
        return steering.choices_when_unsure(state)

    def choices_for_new_task(self, state: State) -> tuple[str, ...]:
        return steering.choices_for_new_task(state)

    def carry_out(self, draft: Draft, input_: Input, choice: str) -> None:
        steering.carry_out(draft, input_, choice)

    def answer_question(self, draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
        answers.answer_question(draft, step, command, by)

    def expire(self, draft: Draft, step: StepAsked) -> None:
        if step.code == questions.CONFIRM:
            finishing.cancel_plan(draft, "timeout")
        self.advance(draft)

    def retry(self, draft: Draft) -> None:
        controls.retry(draft)
        self.advance(draft)

    def status(self, state: State) -> NoticePosted:
        work = find_work(state)
        if work is None:
            return NoticePosted(code="no_work")
        runs = work.tasks.values()
        names = tuple(run.task.title for run in runs if run.is_under_way) or ("-",)
        done, status = sum(run.is_finished for run in runs), self.workflow_status(state)
        return NoticePosted(code="plan_status", detail=status, count=done, limit=len(work.tasks), names=names)

    def obey(self, draft: Draft, command: HumanCommand, by: Member | None) -> None:
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
            case _:
                super().obey(draft, command, by)
        self.advance(draft)

    # members at work

    def complete_turn(self, draft: Draft, turn: Turn, command: CompleteTurn) -> None:
        verdict = read_verdict(command) if turn.job in REVIEWS else None
        if turn.job in REVIEWS and verdict is None:
            invalid = FailTurn(turn_id=turn.turn_id, error_type="validation", message="", usage=command.usage)
            self.fail_turn(draft, turn, invalid)
            return
        draft.add(TurnCompleted(turn_id=turn.turn_id, member=turn.member, usage=safe_usage(command.usage)))
        episode = work_of(draft).episodes.get(turn.episode)
        if episode:
            draft.add(RecoverySucceeded(task_id=turn.task_id or None, attempt=episode.retries, job=turn.episode))
        if verdict:
            _REVIEWED[turn.job](draft, turn, verdict)
        match turn.job:
            case "plan":
                planning.receive_plan(draft, command)
            case "patch":
                patches.receive_patches(draft, command)
            case "aggregate":
                finishing.receive_answer(draft, turn, command)
            case "evaluate":
                steering.receive_evaluation(draft, turn, command)
            case _:
                pass  # a review, whose verdict is taken above
        self.advance(draft)

    def fail_turn(self, draft: Draft, turn: Turn, command: FailTurn) -> None:
        recovery.fail_job(draft, turn, command)
        self.advance(draft)

    def fall_back(self, draft: Draft, turn_id: str, command: FailTurn) -> bool:
        turn = draft.state.turn(turn_id)
        if turn:
            is_given = recovery.fall_back_from_job(draft, turn, command)
        else:
            is_given = recovery.fall_back_from_task(draft, _find_task(draft, turn_id, TaskState.RUNNING), command)
        if is_given:
            self.advance(draft)
        return is_given

    def step_turn(self, draft: Draft, turn: Turn, step: ReportStep) -> bool:
        """A planner's step has a name of its own."""
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
                tool=step.tool,
                diff=step.diff,
            )
        )
        return True

    def obey_worker(self, draft: Draft, command: TurnReport) -> bool:
        """Take what a worker says about its task."""
        if not draft.state.slice.is_under_way(command.turn_id):
            return False
        run = _find_task(draft, command.turn_id, TaskState.RUNNING)
        match command:
            case ReportStep():
                dispatching.progress(draft, run, command)
            case AskHuman():
                permissions.ask(draft, run.member, command)
            case CompleteTurn():
                dispatching.complete(draft, run, command)
                self.advance(draft)
            case FailTurn():
                recovery.fail_task(
                    draft, run, command.error_type, command.message, command.retry_after_s, command.usage
                )
                self.advance(draft)
            case _:
                raise TypeError(f"no worker reports {type(command).__name__}")
        return True

    def obey_event(self, draft: Draft, command: Command) -> None:
        match command:
            case AckDispatch(dispatch_id=dispatch_id, place=place):
                run = _find_task(draft, dispatch_id, TaskState.DISPATCHING)
                was_open = work_of(draft).slots[run.member].is_open
                dispatching.ack(draft, run, place)
                if not was_open:
                    return  # nothing else can start because of it; a breaker that it closes held up others
            case StartTask(dispatch_id=dispatch_id):
                dispatching.start(draft, _find_task(draft, dispatch_id, TaskState.DISPATCHED))
                return
            case NackDispatch(dispatch_id=dispatch_id, reason=reason):
                recovery.nack(draft, _find_task(draft, dispatch_id, TaskState.DISPATCHING), reason)
            case ExpireTurn(turn_id=dispatch_id):
                recovery.fail_task(draft, _find_task(draft, dispatch_id, TaskState.RUNNING), "timeout", "")
            case WorkspaceReport():
                if not draft.state.slice.is_active:
                    raise Refused("stale_turn", detail=type(command).__name__)
                integration.obey(draft, command)
            case _:
                self._pass_time(draft, command)
        self.advance(draft)

    def _pass_time(self, draft: Draft, command: Command) -> None:
        if not draft.state.slice.is_active:
            raise Refused("stale_turn", detail=type(command).__name__)
        match command:
            case ExpireDispatch(dispatch_id=dispatch_id):
                run = _find_task(draft, dispatch_id, TaskState.DISPATCHING, TaskState.DISPATCHED)
                recovery.nack(draft, run, "timeout")
            case ExpireLease(dispatch_id=None, kept=kept):
                dispatching.lose_leases(draft, "restarted", kept)
            case ExpireLease(dispatch_id=str(dispatch_id)):
                dispatching.lose_lease(draft, _find_task(draft, dispatch_id, *HELD), "lost")
            case EndWait(number=number):
                _end_wait(draft, number)
            case ProbeMember(member=member):
                if not work_of(draft).needs_probe(member):
                    raise Refused("stale_turn", detail=member)
                draft.add(MemberProbed(member=member))
            case EndGrace():
                if draft.state.interrupt is not Interrupt.PAUSING:
                    raise Refused("stale_turn", detail="pause")
                self.checkpoint(draft)
            case _:
                super().obey_event(draft, command)

    # how the work goes on

    def work_on(self, draft: Draft) -> None:
        controls.ask_about_dropped(draft)
        workflow.carry_on(draft)
        work = work_of(draft)
        if any(budgets.is_overrun(fact) for fact in draft.facts):
            self.checkpoint(draft)
        elif draft.state.interrupt is Interrupt.EXECUTION and work.is_approved and dispatching.may_dispatch(work):
            _hand_out(draft)

    def has_active_workers(self, state: State) -> bool:
        work = find_work(state)
        return work is not None and any(work.tasks[task_id].state in HELD for task_id in work.dispatches.values())

    def is_waiting(self, state: State) -> bool:
        work = state.part(PlanSlice).current
        if state.interrupt not in (Interrupt.EXECUTION, Interrupt.MINOR_REPLAN):
            return False
        if state.door.inputs or any(episode.wait for episode in work.episodes.values()):
            return True
        if state.interrupt is not Interrupt.EXECUTION:
            return False  # the tasks wait for a change of the plan
        runs = work.tasks.values()
        if work.dispatches or any(run.wait or (run.gate in AT_A_GATE and not run.is_over) for run in runs):
            return True
        return dispatching.may_dispatch(work) and any(run.state is TaskState.READY and not run.is_over for run in runs)

    def stop_workers(self, draft: Draft) -> None:
        dispatching.lose_leases(draft, dispatching.PAUSED)
        workflow.save_snapshot(draft, "pause")

    # what the shell asks

    def effects(self, state: State) -> Iterable[Effect]:
        return plan_effects.list_effects(state)

    def project(self, state: State) -> dict[str, Any]:
        return {"work": project_work(state)}

    def turn_timeout_s(self, state: State) -> float:
        return state.team.plan.turn_timeout_s

    def turn_input(self, session_id: str, state: State, turn_id: str) -> TurnInput:
        work, turn = state.part(PlanSlice).current, state.turn(turn_id)
        if turn is None:
            run = work.tasks[work.dispatches[turn_id]]
            plain = plain_input(session_id, state, turn_id, run.member, run.index)
            return replace(
                plain,
                job="solve",
                assignment=assignment.assign_task(work, run),
                task_index=run.task_index,
                task_turns=run.earlier,
                visit=integration.visit_tree(run) if state.team.has_trees else plain.visit,
            )
        plain = plain_input(session_id, state, turn_id, turn.member, turn.index, turn)
        return replace(
            plain,
            job=turn.job,
            assignment=assignment.assign_job(work, turn, state.language),
            task_index=turn.task_index,
            task_turns=turn.earlier,
            visit=integration.visit_for_job(state, work, turn) if state.team.has_trees else plain.visit,
        )

    def recover(self, state: State, kept: Collection[str] = ()) -> Command | None:
        """Expire the leases of tasks whose workers ended with their process, so that they are offered again."""
        work = find_work(state)
        is_held = work is not None and any(
            work.tasks[task_id].state is not TaskState.DISPATCHING
            and dispatch_id not in state.parked
            and dispatch_id not in kept
            for dispatch_id, task_id in work.dispatches.items()
        )
        return ExpireLease(kept=tuple(kept)) if is_held else None

    # what understanding is told

    def workflow_status(self, state: State) -> WorkflowStatus:
        return plan_slice.workflow_status(state)

    def adapt_route(self, decision: RoutingDecision, state: State) -> RoutingDecision:
        return steering.adapt_route(decision, state)

    def current_task(self, state: State) -> CurrentTask | None:
        work = find_work(state)
        if work is None or not (work.is_active or work.status is WorkflowState.COMPLETED):
            return None
        runs = work.tasks.values()
        done = sum(run.is_finished for run in runs)
        return CurrentTask(
            goal=work.question,
            progress=done / len(runs) if runs else 0.0,
            completed_tasks=done,
            failed_tasks=sum(run.state is TaskState.EXECUTION_FAILED for run in runs),
            blocked_tasks=sum(run.state is TaskState.BLOCKED for run in runs),
        )

    def last_activity(self, state: State) -> str:
        """Return the newest steps of the running tasks, else the planner's newest step."""
        work = find_work(state)
        if work is None or not work.is_active:
            return ""
        running = [run for run in work.tasks.values() if run.is_under_way and run.step]
        return "; ".join(f"{run.task.title}: {run.step}" for run in running) or work.plan_step

    def known_tasks(self, state: State) -> tuple[KnownTask, ...]:
        work = find_work(state)
        if work is None or not work.is_active:
            return ()
        tasks = [run.task for run in work.tasks.values()] or list(work.proposed)
        return tuple(
            KnownTask(id=task.id, title=task.title, status=work.tasks[task.id].state if task.id in work.tasks else "")
            for task in tasks
        )


def _find_task(draft: Draft, dispatch_id: str, *expected: TaskState) -> TaskRun:
    """The task of a dispatch. Raises Refused if it is over, or in another state than expected.

    While the work is paused nobody has a task: open offers are made again when the work goes on.
    """
    work = find_work(draft.state)
    task_id = work.dispatches.get(dispatch_id) if work else None
    if work is None or task_id is None or draft.state.interrupt in STOPPED:
        raise Refused("stale_turn", detail=dispatch_id)
    run = work.tasks[task_id]
    if run.state not in expected:
        raise Refused("stale_turn", detail=dispatch_id)
    return run


def _end_wait(draft: Draft, number: int) -> None:
    work = work_of(draft)
    for task_id, run in work.tasks.items():
        if run.wait and run.wait.number == number:
            draft.add(WaitEnded(task_id=task_id, state=task.retry(run.state)))
            return
    for episode in work.episodes.values():
        if episode.wait and episode.wait.number == number:
            restart_job(draft, episode.job, episode.task_id)
            return
    raise Refused("stale_turn", detail=f"wait {number}")


def _solve(draft: Draft, command: SolveTasks, by: Member | None) -> None:
    if draft.state.slice.is_active:
        raise Refused("workflow_active")
    try:
        tasks = read_tasks(command.tasks, draft.team)
    except InvalidPlan as invalid:
        raise Refused("invalid_plan", problems=invalid.tell(draft.state.language)) from None
    question = text.clean(command.question) or "; ".join(task.title for task in tasks)
    workflow.begin(draft, question[:2_000], by.id if by else draft.team.first_human.id)
    planning.approve(draft, tasks, by.id if by else None, Trigger.PLAN_APPROVED)


def _hand_out(draft: Draft) -> None:
    """Offer everything that can start now. If that would exceed a budget, nothing starts and a pause is requested.

    The offers are made on a draft of their own, because only making them shows whether the budget allows them.
    """
    seq = draft.seq + len(draft.facts)
    offers = Draft(draft.state, draft.at, draft.chance, seq=seq, log_version=draft.log_version)
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
