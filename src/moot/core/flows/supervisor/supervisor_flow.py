"""The supervisor flow: a supervisor chooses which agent acts, over and over (docs/supervisor.md)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from moot.core import text
from moot.core.draft import Draft
from moot.core.effects import Deadline, Effect, RunTool
from moot.core.errors import Refused
from moot.core.facts import Fact
from moot.core.flows.steered_flow import NEW_TASK_CHOICES, SteeredFlow
from moot.core.flows.supervisor import acting, agent_brief, answers, deciding, jobs, questions, supervisor_slice, tools
from moot.core.flows.supervisor.cast import list_missing
from moot.core.flows.supervisor.decision import without_json
from moot.core.flows.supervisor.state_update import check_inputs
from moot.core.flows.supervisor.supervision import REVIEW_OUTPUT, STUCK
from moot.core.flows.supervisor.supervisor_events import (
    SUPERVISOR_FACTS,
    InputNoted,
    StateUpdated,
    SupervisionEnded,
)
from moot.core.flows.supervisor.supervisor_lines import SUPERVISOR_LINES
from moot.core.flows.supervisor.supervisor_settings import SUPERVISOR
from moot.core.flows.supervisor.supervisor_slice import SupervisorSlice, current_job, find_job
from moot.core.flows.supervisor.supervisor_view import project_job
from moot.core.flows.turns import TurnInput
from moot.core.intake.intent import CurrentTask, RoutingDecision, WorkflowStatus
from moot.core.intake.intent_routing import tell_route
from moot.core.machines.interrupt import STOPPED
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.session import Status
from moot.core.session import budgets, parking
from moot.core.session.commands import Answer, Command, CompleteTool, CompleteTurn, FailTurn
from moot.core.session.events import (
    Input,
    MessagePosted,
    NoticePosted,
    PauseReason,
    PauseRequested,
    StepAsked,
    StepClosed,
    TurnCompleted,
)
from moot.core.session.state import State, Turn
from moot.core.session.team import Member, Team
from moot.core.session.typed_answers import Asked
from moot.core.session.usage import safe_usage

# Only these faults are reasons of a pause. For others the open question has the cause (`error_type`).
_FAULTS: dict[str, PauseReason] = {"agent_error": "agent_error", "agent_timeout": "agent_timeout"}
_ABOUT_THE_JOB = ("continue_execution", "minor_replan", "full_replan")


class SupervisorFlow(SteeredFlow):
    name = "supervisor"
    slice_type = SupervisorSlice
    facts = SUPERVISOR_FACTS
    fold = supervisor_slice.fold
    follow = supervisor_slice.follow
    lines = SUPERVISOR_LINES
    tells_tools = True
    leading_roles = frozenset({"planner", "reviewer", "aggregator", "supervisor"})

    def check(self, team: Team) -> None:
        missing = list_missing(team.supervisor, team.members)
        if missing:
            raise Refused("nobody_plays", names=tuple(missing))

    # steering

    def begin(self, draft: Draft, goal: str, member: str, *, is_deferred: bool = False) -> None:
        jobs.begin(draft, goal, member, is_deferred=is_deferred)

    def abandon(self, draft: Draft, reason: str) -> None:
        jobs.cancel(draft, reason)

    def completes(self, fact: Fact) -> bool:
        return isinstance(fact, SupervisionEnded) and fact.outcome != "cancelled"

    def steer_work(self, draft: Draft, input_: Input, decision: RoutingDecision) -> None:
        _tell(draft, input_.text, input_.member)

    def choices_when_unsure(self, state: State) -> tuple[str, ...]:
        return ("tell_supervisor", *NEW_TASK_CHOICES)

    def carry_out(self, draft: Draft, input_: Input, choice: str) -> None:
        _tell(draft, input_.text, input_.member)

    def take_inputs(self, draft: Draft, speaker: Member, inputs: Mapping[str, Any]) -> None:
        draft.add(StateUpdated(changes=check_inputs(draft.team.supervisor, inputs), member=speaker.id))

    def takes_text(self, question: Asked) -> bool:
        """Text about an output that is to be checked says why it is rejected; to a stuck job it is advice."""
        return question.code in (REVIEW_OUTPUT, STUCK) or super().takes_text(question)

    def answer_question(self, draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
        answers.answer_question(draft, step, command, by)

    def expire(self, draft: Draft, step: StepAsked) -> None:
        self.advance(draft)

    def resume_stuck(self, draft: Draft) -> bool:
        stuck = questions.find_stuck(draft.state)
        if stuck is None:
            return False
        draft.add(StepClosed(step_id=stuck.step_id, outcome="answered", choice="retry"))
        return True

    def retry(self, draft: Draft) -> None:
        if not self.resume_stuck(draft):
            raise Refused("nothing_to_retry")
        self.advance(draft)

    def status(self, state: State) -> NoticePosted:
        job = jobs.active_job(state)
        if job is None:
            return NoticePosted(code="no_work")
        who = jobs.player_of(Draft(state), job.node).display_name
        limit = state.team.supervisor.max_steps
        return NoticePosted(code="supervisor_status", detail=state.status, who=who, count=job.steps, limit=limit)

    def adapt_route(self, decision: RoutingDecision, state: State) -> RoutingDecision:
        """Pass inputs about the job on to the supervisor without asking for a confirmation."""
        if decision.route not in _ABOUT_THE_JOB:
            return decision
        return tell_route(decision, "route_to_supervisor", state.language)

    # members at work

    def complete_turn(self, draft: Draft, turn: Turn, command: CompleteTurn) -> None:
        message = text.cut(text.clean(command.text))
        draft.add(TurnCompleted(turn_id=turn.turn_id, member=turn.member, usage=safe_usage(command.usage)))
        if not text.is_blank(message):
            has_decision = without_json(message) != message
            posted = MessagePosted(member=turn.member, text=message, turn_id=turn.turn_id, has_decision=has_decision)
            draft.add(posted)
        if turn.job == SUPERVISOR:
            deciding.complete(draft, turn, message, command)
        else:
            acting.complete(draft, turn, message, command)
        self.advance(draft)

    def fail_turn(self, draft: Draft, turn: Turn, command: FailTurn) -> None:
        """Post a notice and ask whether the same agent acts again, another one acts, or the job ends."""
        draft.fail_turn(turn, command)
        reason = draft.post_failure(turn, command, draft.team.supervisor.turn_timeout_s)
        questions.ask_stuck(draft, reason)
        self.advance(draft)

    def fall_back(self, draft: Draft, turn_id: str, command: FailTurn) -> bool:
        """End the turn and let the next fallback play the same agent."""
        replaced = parking.replace_member(draft, turn_id, command)
        if replaced is None:
            return False
        turn, other, stands_in_for = replaced
        draft.start_turn(other, job=turn.job, retry_of=turn.turn_id, stands_in_for=stands_in_for)
        return True

    def obey_event(self, draft: Draft, command: Command) -> None:
        if not isinstance(command, CompleteTool):
            super().obey_event(draft, command)
            return
        tools.complete_tool(draft, command)
        self.advance(draft)

    # how the job goes on

    def work_on(self, draft: Draft) -> None:
        """Start the next turn, unless a turn or tool runs, a question is open or a limit is reached."""
        state = draft.state
        job = jobs.active_job(state)
        if job is None or state.running or job.calls or state.interrupt is not Interrupt.EXECUTION:
            return
        if any(jobs.concerns_job(step) for step in state.open_steps.values()):
            return
        limit = state.team.supervisor.max_steps
        player = jobs.player_of(draft, job.node)
        overrun = budgets.find_overrun(state, player)
        if overrun:
            draft.add(overrun)
            draft.add(PauseRequested(member=None))
        elif limit and job.steps >= limit:
            jobs.notice(draft, "step_limit", limit=limit)
            questions.ask_stuck(draft, "step_limit")
        else:
            if state.status is Status.PAUSED:
                draft.activate()
            draft.start_turn(player, job=job.node)

    def has_active_workers(self, state: State) -> bool:
        job = jobs.active_job(state)
        return job is not None and bool(job.calls)

    def find_holder(self, state: State) -> tuple[Member, PauseReason]:
        stuck = questions.find_stuck(state)
        if stuck and state.interrupt not in STOPPED:
            return state.team.first_human, _FAULTS.get(stuck.error_type, "step")
        return super().find_holder(state)

    # called by the shell

    def effects(self, state: State) -> Iterable[Effect]:
        job = find_job(state)
        return _run_tools(state) if job is not None and job.calls else ()

    def project(self, state: State) -> dict[str, Any]:
        return {"supervision": project_job(state)}

    def turn_timeout_s(self, state: State) -> float:
        return state.team.supervisor.turn_timeout_s

    def turn_input(self, session_id: str, state: State, turn_id: str) -> TurnInput:
        plain = super().turn_input(session_id, state, turn_id)
        turn = state.turn(turn_id)
        job = current_job(state)
        node = turn.job if turn else job.node
        return replace(
            plain,
            job="supervise" if node == SUPERVISOR else "act",
            brief=agent_brief.brief(job, state.team.supervisor, node, state.language, state.history),
        )

    # context for understanding inputs

    def workflow_status(self, state: State) -> WorkflowStatus:
        job = find_job(state)
        if job is None:
            return "paused" if state.interrupt is not Interrupt.EXECUTION else "execution" if state.running else "idle"
        if not job.is_active:
            return "completed"
        return "execution" if state.interrupt is Interrupt.EXECUTION else "paused"

    def current_task(self, state: State) -> CurrentTask | None:
        job = jobs.active_job(state)
        return CurrentTask(goal=job.goal) if job else None


def _tell(draft: Draft, message: str, member: str) -> None:
    """Pass a message on to the supervisor for its next decision. A stuck job goes on."""
    draft.add(InputNoted(member=member, text=message))
    for step in draft.state.open_steps.values():
        if step.code == STUCK:
            draft.add(StepClosed(step_id=step.step_id, outcome="superseded", by=member))


def _run_tools(state: State) -> Iterator[Effect]:
    job = current_job(state)
    for call in job.calls.values():
        yield RunTool(call, job.caller)
        late = CompleteTool(call_id=call.call_id, error="the tool took too long")
        yield Deadline(f"deadline:{call.call_id}", state.team.supervisor.turn_timeout_s, late)
