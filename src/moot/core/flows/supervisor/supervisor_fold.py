"""Fold the facts of the supervisor flow into its job."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from moot.core.facts import Fold
from moot.core.flows.supervisor import supervisor_events as events
from moot.core.flows.supervisor.briefing import Taken
from moot.core.flows.supervisor.decision import Instructions, Unusable
from moot.core.flows.supervisor.deliverable import Picture
from moot.core.flows.supervisor.supervision import (
    ASSETS,
    CHOICES,
    DECISIONS,
    INPUTS,
    TOOL_CHARS,
    Choice,
    Heard,
    Review,
    Supervision,
    ToolResult,
    ToolRun,
)
from moot.core.flows.supervisor.supervisor_settings import SUPERVISOR

job_fold: Fold[Supervision] = Fold()


def start_turn(job: Supervision, node: str) -> Supervision:
    """Begin a turn. The supervisor gets what people said; also what it got before, if its last answer was unusable."""
    if node != SUPERVISOR:
        return replace(job, node=node, steps=job.steps + 1)
    given = (*job.given, *job.heard)[-INPUTS:]
    return replace(job, node=node, steps=job.steps + 1, given=given, heard=())


def complete_turn(job: Supervision, node: str) -> Supervision:
    """End a turn. Its tool results, feedback and misfits are used up, and the supervisor is next."""
    if node == SUPERVISOR:
        return replace(job, results=()) if job.results else job
    return replace(job, node=SUPERVISOR, results=(), feedback="", misfits=())


@job_fold.on(events.InputNoted)
def _note(job: Supervision, fact: events.InputNoted) -> Supervision:
    return replace(job, heard=(*job.heard, Heard(fact.member, fact.text))[-INPUTS:], followed=0)


@job_fold.on(events.SupervisorDecided)
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
        instructions=Instructions(guidance=fact.guidance, context=fact.context),
        repeated=fact.repeated,
        suggested=fact.next if fact.followed else job.suggested,
        followed=fact.followed or job.followed,
        misfits=(),
        sent_back=0,
        decisions=(*job.decisions, taken)[-DECISIONS:],
        choices=_choose(
            job,
            next=fact.next,
            member=fact.member,
            guidance=fact.decision.guidance,
            focus_areas=fact.decision.focus_areas,
            corrected_from=fact.corrected_from,
            correction=fact.correction,
        ),
        tool_round=0,
        is_fallback_used=job.is_fallback_used or fact.correction == "quality_fallback",
    )
    if fact.correction == "quality_fallback":  # the supervisor itself has not decided
        return decided
    return replace(decided, unusable=None, unusable_in_a_row=0, given=())


@job_fold.on(events.SupervisorUndecided)
def _fail_to_decide(job: Supervision, fact: events.SupervisorUndecided) -> Supervision:
    unusable = Unusable(fault=fact.fault, given=fact.given)
    choices = _choose(job, member=fact.member, fault=fact.fault, given=fact.given)
    return replace(job, node=SUPERVISOR, unusable=unusable, unusable_in_a_row=fact.count, choices=choices, tool_round=0)


def _choose(job: Supervision, **choice: Any) -> tuple[Choice, ...]:
    number = job.choices[-1].number + 1 if job.choices else 1
    return (*job.choices, Choice(number=number, **choice))[-CHOICES:]


@job_fold.on(events.StateUpdated)
def _update(job: Supervision, fact: events.StateUpdated) -> Supervision:
    """Store the changes. An agent whose output lacks something acts again."""
    writers = {**job.writers, **dict.fromkeys(fact.changes, fact.member or "")}
    updated = replace(job, state={**job.state, **fact.changes}, writers=writers)
    if fact.is_after_review:
        acted = _unique(*job.acted, fact.agent or "")
        updated = replace(updated, changed=_unique(*job.changed, *fact.changes), acted=acted)
    if fact.agent is None:
        return updated
    node = fact.agent if fact.misfits else job.node
    return replace(updated, node=node, misfits=fact.misfits, sent_back=fact.sent_back)


def _unique(*names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


@job_fold.on(events.ToolsCalled)
def _call_tools(job: Supervision, fact: events.ToolsCalled) -> Supervision:
    calls = {call.call_id: call for call in fact.calls}
    tools = tuple(
        ToolRun(call_id=call.call_id, agent=fact.agent, name=call.name, args=_write(call.args), round=fact.round)
        for call in fact.calls
    )
    return replace(
        job, node=fact.agent, tool_round=fact.round, calls=calls, tools=tools, caller=fact.member, results=()
    )


def _write(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text[:TOOL_CHARS]


@job_fold.on(events.ToolCompleted)
def _complete_tool(job: Supervision, fact: events.ToolCompleted) -> Supervision:
    result = ToolResult(call=job.calls[fact.call_id], result=fact.result, error=fact.error)
    left = {call_id: call for call_id, call in job.calls.items() if call_id != fact.call_id}
    tools = tuple(
        replace(tool, is_done=True, result="" if fact.error else _write(fact.result), error=fact.error)
        if tool.call_id == fact.call_id
        else tool
        for tool in job.tools
    )
    return replace(job, calls=left, tools=tools, results=(*job.results, result), assets=_keep_asset(job, fact.result))


def _keep_asset(job: Supervision, result: Any) -> dict[str, Picture]:
    """Keep a picture that a tool returned: `{asset_id, src, caption?, is_placeholder?}`."""
    fields = result if isinstance(result, Mapping) else {}
    asset_id, src, caption = (fields.get(name) for name in ("asset_id", "src", "caption"))
    if not (isinstance(asset_id, str) and isinstance(src, str)):
        return job.assets
    asset = Picture(
        asset_id=asset_id,
        src=src,
        caption=caption if isinstance(caption, str) else "",
        is_placeholder=fields.get("is_placeholder") is True,
    )
    return dict(list({**job.assets, asset_id: asset}.items())[-ASSETS:])


@job_fold.on(events.Reviewed)
def _review(job: Supervision, fact: events.Reviewed) -> Supervision:
    review = Review(approved=fact.approved, iteration=fact.iteration, fallback=fact.fallback)
    state = {**job.state, "iterationCount": fact.iteration}
    return replace(job, state=state, review=review, is_fallback_used=False, changed=(), acted=())


@job_fold.on(events.SupervisionEnded)
def _end(job: Supervision, fact: events.SupervisionEnded) -> Supervision:
    return replace(
        job,
        outcome=fact.outcome,
        reason=fact.reason,
        deliverable=fact.deliverable,
        calls={},
        results=(),
        heard=(),
        given=(),
    )
