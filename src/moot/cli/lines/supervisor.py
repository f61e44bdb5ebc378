"""The supervisor flow as lines: who was chosen and why, what was written, which tools ran, how the review went."""

from collections.abc import Callable
from typing import Any

import msgspec

from moot.cli.lines.session import SESSION_LINES
from moot.cli.lines.telling import Telling, indent
from moot.core.events import MessagePosted
from moot.core.supervisor import events
from moot.core.supervisor.cast import find_leader, find_player
from moot.core.supervisor.conditions import look_up
from moot.core.supervisor.decision import without_decision
from moot.core.supervisor_settings import END, SUPERVISOR

VALUE_CHARS = 100


def _say(tell: Telling, fact: MessagePosted) -> list[str]:
    """Of the supervisor only what it thinks: its decision is told as what comes of it."""
    job = tell.after.supervision
    leader = find_leader(tell.after.team.supervisor, tell.after.team.members) if job else None
    if leader is None or fact.member != leader.id or fact.turn_id is None:
        return SESSION_LINES[MessagePosted](tell, fact)
    thought = without_decision(fact.text)
    return indent(f"{tell.name(fact.member)}: ", thought) if thought else []


def _name(tell: Telling, node: str) -> str:
    team = tell.after.team
    if node == SUPERVISOR or node not in team.supervisor.agents:
        player = find_leader(team.supervisor, team.members)
    else:
        player = find_player(team.supervisor, node, team.members)
    return player.display_name if player else node


def _decide(tell: Telling, fact: events.SupervisorDecided) -> list[str]:
    if fact.next == END:
        return [tell.say("told_end")]
    who, guidance = _name(tell, fact.next), fact.decision.guidance
    return [tell.say("told_choice", who=who, detail=guidance) if guidance else f"→ {who}"]


def _fail_to_decide(tell: Telling, fact: events.SupervisorUndecided) -> list[str]:
    detail = f"{fact.fault}: {fact.given}" if fact.given else fact.fault
    return [tell.say("told_undecided", who=tell.name(fact.member), detail=detail, count=fact.count)]


def _update(tell: Telling, fact: events.StateUpdated) -> list[str]:
    if fact.member is None or not fact.changes:
        return []
    return [tell.say("told_state", who=tell.name(fact.member), names=tuple(fact.changes))]


def _call_tools(tell: Telling, fact: events.ToolsCalled) -> list[str]:
    who = tell.name(fact.member)
    return [tell.say("told_tool", who=who, detail=f"{call.name} {_write(call.args)}") for call in fact.calls]


def _complete_tool(tell: Telling, fact: events.ToolCompleted) -> list[str]:  # noqa: ARG001 - one signature for all
    return [f"    ✗ {_write(fact.error)}" if fact.error else f"    ⇒ {_write(fact.result)}"]


def _write(value: Any) -> str:
    written = msgspec.json.encode(value).decode()
    return written if len(written) <= VALUE_CHARS else f"{written[:VALUE_CHARS]}…"


def _review(tell: Telling, fact: events.Reviewed) -> list[str]:
    if fact.approved:
        return [tell.say("told_approved")]
    code = "told_rejected_hint" if fact.fallback else "told_rejected"
    return [tell.say(code, count=fact.iteration, who=_name(tell, fact.fallback or ""))]


def _end(tell: Telling, fact: events.SupervisionEnded) -> list[str]:
    """With what the end asks for: that is what the work was about."""
    job = tell.after.supervision
    values = [look_up(job.state, each.key) for each in tell.after.team.supervisor.end.requires] if job else []
    shown = [line for value in values if isinstance(value, str) for line in f"\n{value.strip()}\n".split("\n")]
    return [tell.say(f"told_{fact.outcome}"), *(f"    {line}" if line else "" for line in shown)]


SUPERVISOR_LINES: dict[type, Callable[[Telling, Any], list[str]]] = {
    MessagePosted: _say,
    events.SupervisorDecided: _decide,
    events.SupervisorUndecided: _fail_to_decide,
    events.StateUpdated: _update,
    events.ToolsCalled: _call_tools,
    events.ToolCompleted: _complete_tool,
    events.Reviewed: _review,
    events.SupervisionEnded: _end,
}
