"""The lines of the supervisor flow: decisions, changes of the state, tools, reviews, the end."""

from typing import Any

import msgspec

from moot.core.fact_lines import Change, Entry, Lines, Message
from moot.core.flows.supervisor import supervisor_events as supervisor
from moot.core.flows.supervisor.cast import find_leader, find_player
from moot.core.flows.supervisor.decision import without_json
from moot.core.flows.supervisor.deliverable import find_deliverable, to_markdown, to_plain_text
from moot.core.flows.supervisor.shapes import describe_misfit
from moot.core.flows.supervisor.supervisor_settings import END, SUPERVISOR
from moot.core.flows.supervisor.supervisor_slice import find_job
from moot.core.session.events import MessagePosted
from moot.core.session.session_lines import SESSION_LINES, input_text, say_message
from moot.core.session.team import Language, Team

VALUE_CHARS = 100  # of a tool's arguments or its result

SUPERVISOR_LINES = Lines(SESSION_LINES)
SUPERVISOR_LINES.ignore(supervisor.SupervisionStarted, supervisor.InputNoted)  # the message before them says the same


@SUPERVISOR_LINES.text(MessagePosted)
def _message_text(fact: MessagePosted, language: Language) -> str | None:
    """Return the message without its decision, which has a line of its own."""
    return without_json(fact.text) if fact.has_decision else input_text(fact, language)


@SUPERVISOR_LINES.message(MessagePosted)
def _say(fact: MessagePosted) -> Message:
    return Message(fact.member, without_json(fact.text)) if fact.has_decision else say_message(fact)


@SUPERVISOR_LINES.on(supervisor.SupervisorDecided, "landmark")
def _decide(change: Change[supervisor.SupervisorDecided]) -> list[str]:
    fact = change.fact
    if fact.next == END:
        return [change.say("told_end")]
    who, guidance = _name(change.after.team, fact.next), fact.decision.guidance
    return [change.say("told_choice", who=who, detail=guidance) if guidance else f"→ {who}"]


@SUPERVISOR_LINES.on(supervisor.SupervisorUndecided)
def _fail_to_decide(change: Change[supervisor.SupervisorUndecided]) -> list[str]:
    fact = change.fact
    fault = change.say(f"fault.{fact.fault}")
    detail = f"{fault}: {fact.given}" if fact.given else fault
    return [change.say("told_undecided", who=change.name(fact.member), detail=detail, count=fact.count)]


@SUPERVISOR_LINES.on(supervisor.StateUpdated)
def _update(change: Change[supervisor.StateUpdated]) -> list[str]:
    fact = change.fact
    if fact.member is None:
        return []
    who = change.name(fact.member)
    lines = [change.say("told_state", who=who, names=tuple(fact.changes))] if fact.changes else []
    if fact.misfits:
        problems = "; ".join(describe_misfit(misfit, change.language) for misfit in fact.misfits)
        lines.append(change.say("told_sent_back", who=who, detail=problems))
    return lines


@SUPERVISOR_LINES.on(supervisor.ToolsCalled)
def _call_tools(change: Change[supervisor.ToolsCalled]) -> list[str]:
    who = change.name(change.fact.member)
    return [change.say("told_tool", who=who, detail=f"{call.name} {_write(call.args)}") for call in change.fact.calls]


@SUPERVISOR_LINES.on(supervisor.ToolCompleted)
def _complete_tool(change: Change[supervisor.ToolCompleted]) -> list[str]:
    fact = change.fact
    return [f"    ✗ {_write(fact.error)}" if fact.error else f"    ⇒ {_write(fact.result)}"]


@SUPERVISOR_LINES.on(supervisor.Reviewed, "landmark")
def _review(change: Change[supervisor.Reviewed]) -> list[str]:
    fact = change.fact
    if fact.approved:
        return [change.say("told_approved")]
    code = "told_rejected_hint" if fact.fallback else "told_rejected"
    return [change.say(code, count=fact.iteration, who=_name(change.after.team, fact.fallback or ""))]


@SUPERVISOR_LINES.text(supervisor.SupervisionEnded)
def _deliverable_text(fact: supervisor.SupervisionEnded, language: Language) -> str | None:
    return to_markdown(fact.deliverable, language) if fact.deliverable else None


@SUPERVISOR_LINES.on(supervisor.SupervisionEnded, "outcome")
def _end(change: Change[supervisor.SupervisionEnded]) -> list[str]:
    """Return the outcome, and below it the result of the work. Logs of Moot 0.1 have the result in the state only."""
    job, deliverable = find_job(change.after), change.fact.deliverable
    if deliverable is None and job is not None:
        deliverable = find_deliverable(change.after.team.supervisor, job.state, job.assets)
    result = f"\n{to_plain_text(deliverable, change.language)}\n".split("\n") if deliverable else []
    return [change.say(f"told_{change.fact.outcome}"), *(f"    {line}" if line else "" for line in result)]


@SUPERVISOR_LINES.row(supervisor.SupervisorDecided, "routing")
def _decision_row(entry: Entry[supervisor.SupervisorDecided]) -> str:
    fact, team = entry.fact, entry.state.team
    choice = entry.say("mark.decided_end") if fact.next == END else f"→ {_name(team, fact.next)}"
    if not fact.corrected_from:
        return choice
    return f"{choice} · {entry.say('job.corrected', **{'from': _name(team, fact.corrected_from)})}"


@SUPERVISOR_LINES.row(supervisor.Reviewed, "steps")
def _review_row(entry: Entry[supervisor.Reviewed]) -> str:
    return entry.say("review.passed" if entry.fact.approved else "review.sent_back")


def _name(team: Team, node: str) -> str:
    """Return the name of the member who plays an agent; of the supervisor for any other node."""
    if node == END:
        return END
    if node == SUPERVISOR or node not in team.supervisor.agents:
        player = find_leader(team.supervisor, team.members)
    else:
        player = find_player(team.supervisor, node, team.members)
    return player.display_name if player else node


def _write(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= VALUE_CHARS else f"{text[:VALUE_CHARS]}…"
