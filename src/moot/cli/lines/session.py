"""What every flow has, as lines: who speaks, the queue, notices, whose floor it is."""

from collections.abc import Callable
from typing import Any

from moot.cli.lines.telling import Telling, indent
from moot.core import events
from moot.core.notices import show
from moot.core.plan.events import FinalAnswered
from moot.core.queue_line import queue_line


def _create(tell: Telling, fact: events.SessionCreated) -> list[str]:  # noqa: ARG001 - one signature for all
    names = ", ".join(member.display_name for member in fact.members)
    return [f"— {fact.title or fact.team} · {names}"]


def _say(tell: Telling, fact: events.MessagePosted) -> list[str]:
    return indent(f"{tell.name(fact.member)}: ", fact.text.strip() or (fact.raw or "").strip())


def _answer(tell: Telling, fact: FinalAnswered) -> list[str]:
    return indent(f"{tell.name(fact.member)}: ", fact.text.strip())


def _change_queue(tell: Telling, fact: events.QueueChanged) -> list[str]:
    """Only when somebody acts or the queue waits: not on its way there."""
    before, after = queue_line(tell.before), queue_line(tell.after)
    return [after] if after and after != before and fact.executing else []


def _step(tell: Telling, fact: events.TurnStepped) -> list[str]:
    return indent(f"  · {tell.name(fact.member)}: ", fact.thought or fact.action or fact.observation or "")


def _notice(tell: Telling, fact: events.NoticePosted | events.SessionRenamed) -> list[str]:
    return indent("", show(fact, tell.after.language) or fact.event)


def _pause(tell: Telling, fact: events.SessionPaused) -> list[str]:
    queue = queue_line(tell.before)
    return [*([queue] if queue else []), tell.say("waiting_for", who=tell.name(fact.waiting_for))]


def _complete(tell: Telling, fact: events.SessionCompleted) -> list[str]:  # noqa: ARG001
    return [tell.say("session_over")]


def _set_goal(tell: Telling, fact: events.TeamTaskSet) -> list[str]:  # noqa: ARG001
    return [f"🎯 {fact.team_task}"]


SESSION_LINES: dict[type, Callable[[Telling, Any], list[str]]] = {
    events.SessionCreated: _create,
    events.MessagePosted: _say,
    FinalAnswered: _answer,
    events.QueueChanged: _change_queue,
    events.TurnStepped: _step,
    events.NoticePosted: _notice,
    events.SessionPaused: _pause,
    events.SessionCompleted: _complete,
    events.TeamTaskSet: _set_goal,
    events.SessionRenamed: _notice,
}
