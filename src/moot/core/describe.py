"""What stands between an event's timestamp and its metadata: step_id, source, timeline, content.

Who did it (`source`) and which of the timeline's names it has belong to each kind of fact; the codec looks them up.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from moot.core.events import (
    MessagePosted,
    PauseRequested,
    RoutingDecided,
    SessionRenamed,
    StepAsked,
    StepClosed,
    TeamTaskSet,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
    TurnStepped,
    UnderstandingCompleted,
    UnderstandingStarted,
)
from moot.core.plan import events as plan
from moot.core.supervisor import events as supervisor
from moot.core.team import Flow, Kind, Team

_encode = msgspec.json.Encoder().encode


class Source(Struct, frozen=True, omit_defaults=True):
    loop_id: str
    role: str
    member: str | None = None


_ENGINE = b',"source":' + _encode(Source("moot-orchestrator", "orchestrator"))


def _source(team: Team, member_id: str | None) -> bytes:
    """Who did it, as a part of the envelope: a member, or Moot itself."""
    if member_id is None:
        return _ENGINE
    member = team.member(member_id)
    return _member_source(team.flow, member.kind, member_id, member.role)


_LEADING = ("planner", "reviewer", "aggregator", "supervisor")  # roles that say what others do


@lru_cache(maxsize=4096)
def _member_source(flow: Flow, kind: Kind, member_id: str, role: str) -> bytes:
    if kind is Kind.HUMAN:
        source = Source("moot-orchestrator", "user", member_id)
    else:
        leads = flow is not Flow.CHAT and role in _LEADING
        source = Source("moot-orchestrator" if leads else "moot-executor", role or "executor", member_id)
    return b',"source":' + _encode(source)


def describe_own(team: Team, fact: Any) -> bytes:  # noqa: ARG001 - one signature for all
    return _ENGINE


def _describe_members(team: Team, fact: Any) -> bytes:
    return _source(team, fact.member)


def _describe_message(team: Team, fact: MessagePosted) -> bytes:
    timeline = b',"timeline":"user_input_received"' if fact.turn_id is None else b""
    return b'%b%b,"content":%b' % (_source(team, fact.member), timeline, _encode(fact.text))


def _engine(timeline: str) -> Callable[[Team, Any], bytes]:
    """Moot itself, under a name of the timeline."""
    said = _ENGINE + f',"timeline":"{timeline}"'.encode()
    return lambda _team, _fact: said


def _member(timeline: str) -> Callable[[Team, Any], bytes]:
    """The fact's member, under a name of the timeline."""
    said = f',"timeline":"{timeline}"'.encode()
    return lambda team, fact: _source(team, fact.member or None) + said


def _describe_answer_text(team: Team, fact: plan.FinalAnswered) -> bytes:
    return b'%b,"content":%b' % (_source(team, fact.member), _encode(fact.text))


def _describe_deferred(team: Team, fact: plan.InputDeferred | plan.ChangeRequested) -> bytes:
    return _source(team, fact.member)


def _describe_question(team: Team, fact: StepAsked) -> bytes:  # noqa: ARG001
    return b',"step_id":%b%b,"timeline":"user_confirmation_required"' % (_encode(fact.step_id), _ENGINE)


def _describe_answer(team: Team, fact: StepClosed) -> bytes:
    return b',"step_id":%b%b' % (_encode(fact.step_id), _source(team, fact.by))


# What stands between timestamp and metadata: step_id, source, timeline, content. Looked up, not matched: it is hot.
DESCRIBE: dict[type, Callable[[Team, Any], bytes]] = {
    MessagePosted: _describe_message,
    UnderstandingStarted: _engine("semantic_understanding_started"),
    UnderstandingCompleted: _engine("semantic_understanding_completed"),
    RoutingDecided: _engine("routing_decision_made"),
    StepAsked: _describe_question,
    StepClosed: _describe_answer,
    TurnStarted: _describe_members,
    TurnStepped: _describe_members,
    TurnCompleted: _describe_members,
    TurnFailed: _describe_members,
    TurnCancelled: _describe_members,
    TeamTaskSet: _describe_members,
    PauseRequested: _describe_members,
    SessionRenamed: _describe_members,
    plan.WorkflowChanged: _engine("phase_transition"),
    plan.PlanStarted: _describe_members,
    plan.PlanStepped: _describe_members,
    plan.PlanCompleted: _describe_members,
    plan.AggregateStarted: _describe_members,
    plan.InputDeferred: _describe_deferred,
    plan.ChangeRequested: _describe_deferred,
    plan.DispatchRequested: _engine("task_dispatch_requested"),
    plan.DispatchAcked: _member("task_dispatch_ack"),
    plan.DispatchNacked: _member("task_dispatch_nack"),
    plan.SolverStarted: _member("task_execution_started"),
    plan.SolverProgressed: _member("agent_step_completed"),
    plan.SolverCompleted: _member("task_execution_result"),
    plan.TaskFailed: _member("task_execution_result"),
    plan.TaskReviewed: _member("task_review_result"),
    plan.AggregateCompleted: _describe_members,
    plan.FinalAnswered: _describe_answer_text,
    supervisor.InputNoted: _describe_members,
    supervisor.SupervisorDecided: _describe_members,
    supervisor.SupervisorUndecided: _describe_members,
    supervisor.StateUpdated: _describe_members,
    supervisor.ToolsCalled: _describe_members,
    supervisor.Reviewed: _describe_members,
}


def encode_content(fact: Any) -> bytes | None:
    """What the frame shows in `content` though it is stored in the metadata alone."""
    if isinstance(fact, plan.PlanCompleted):
        return _encode({"tasks": fact.tasks, "plan_summary": fact.plan_summary})
    if isinstance(fact, StepAsked) and fact.tasks is not None:
        return _encode({"tasks": fact.tasks, "plan_summary": fact.plan_summary or ""})
    return None
