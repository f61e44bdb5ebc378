"""How a job of the supervisor flow evolves: one function a fact. Decides nothing and cannot fail."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from moot.core.supervisor import events
from moot.core.supervisor.briefing import Taken
from moot.core.supervisor.decision import Unusable
from moot.core.supervisor.supervision import DECISIONS, INPUTS, Heard, Supervision, ToolResult
from moot.core.supervisor_settings import SUPERVISOR


def start_turn(job: Supervision, node: str) -> Supervision:
    """The supervisor is told all that people said so far; again, when its last answer was of no use."""
    if node != SUPERVISOR:
        return replace(job, node=node, steps=job.steps + 1)
    given = (*job.given, *job.heard)[-INPUTS:]
    return replace(job, node=node, steps=job.steps + 1, given=given, heard=())


def complete_turn(job: Supervision, node: str) -> Supervision:
    """What the member was given for this turn is used up; unless something else follows, the supervisor is next."""
    if node == SUPERVISOR:
        return replace(job, results=()) if job.results else job
    return replace(job, node=SUPERVISOR, results=(), feedback="")


def _note(job: Supervision, fact: events.InputNoted) -> Supervision:
    return replace(job, heard=(*job.heard, Heard(fact.member, fact.text))[-INPUTS:])


def _decide(job: Supervision, fact: events.SupervisorDecided) -> Supervision:
    is_corrected = fact.next != fact.decision.next_agent
    taken = Taken(
        next_agent=fact.decision.next_agent,
        guidance=fact.decision.guidance,
        corrected_to=fact.next if is_corrected else "",
    )
    decided = replace(
        job,
        node=fact.next,
        decision=fact.decision,
        decisions=(*job.decisions, taken)[-DECISIONS:],
        tool_round=0,
        is_fallback_used=job.is_fallback_used or fact.correction == "quality_fallback",
    )
    if fact.correction == "quality_fallback":  # the supervisor is still silent
        return decided
    return replace(decided, unusable=None, unusable_in_a_row=0, given=())


def _fail_to_decide(job: Supervision, fact: events.SupervisorUndecided) -> Supervision:
    unusable = Unusable(fault=fact.fault, given=fact.given)
    return replace(job, node=SUPERVISOR, unusable=unusable, unusable_in_a_row=fact.count, tool_round=0)


def _update(job: Supervision, fact: events.StateUpdated) -> Supervision:
    return replace(job, state={**job.state, **fact.changes})


def _call_tools(job: Supervision, fact: events.ToolsCalled) -> Supervision:
    calls = {call.call_id: call for call in fact.calls}
    return replace(job, node=fact.agent, tool_round=fact.round, calls=calls, caller=fact.member, results=())


def _complete_tool(job: Supervision, fact: events.ToolCompleted) -> Supervision:
    result = ToolResult(call=job.calls[fact.call_id], result=fact.result, error=fact.error)
    left = {call_id: call for call_id, call in job.calls.items() if call_id != fact.call_id}
    return replace(job, calls=left, results=(*job.results, result))


def _review(job: Supervision, fact: events.Reviewed) -> Supervision:
    return replace(job, state={**job.state, "iterationCount": fact.iteration}, is_fallback_used=False)


def _end(job: Supervision, fact: events.SupervisionEnded) -> Supervision:
    return replace(job, outcome=fact.outcome, calls={}, results=(), heard=(), given=())


FOLD: dict[type, Callable[[Supervision, Any], Supervision]] = {
    events.InputNoted: _note,
    events.SupervisorDecided: _decide,
    events.SupervisorUndecided: _fail_to_decide,
    events.StateUpdated: _update,
    events.ToolsCalled: _call_tools,
    events.ToolCompleted: _complete_tool,
    events.Reviewed: _review,
    events.SupervisionEnded: _end,
}
