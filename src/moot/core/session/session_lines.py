"""The lines of facts that every flow has: messages, notices, questions and answers, understanding and routing."""

from typing import Any

from msgspec.structs import asdict

from moot.core.fact_lines import Change, Entry, Lines, Message, Span, indent
from moot.core.session import events
from moot.core.session.desk_lines import DESK_LINES
from moot.core.session.grants import Grant, show_grant
from moot.core.session.notices import name_failure, queue_line, tell_failure
from moot.core.session.steps import option_label
from moot.core.session.team import Language, Team
from moot.core.session.tool_lines import transcribe_step
from moot.core.session.workspace_lines import WORKSPACE_LINES
from moot.core.texts import render

CHOICES_CHARS = 90  # of a line with all choices of a question; longer ones get a line each
TURN, QUESTION = Span("turn", "turn_id"), Span("step", "step_id")

SESSION_LINES = Lines(DESK_LINES, WORKSPACE_LINES)
SESSION_LINES.ignore(
    events.BudgetCounted,
    events.LanguageChanged,
    events.UnderstandingStarted,
    events.TurnStarted,
    events.TurnCompleted,
    events.TurnSpent,
    events.SessionActivated,
    events.PauseRequested,
)


@SESSION_LINES.on(events.SessionCreated)
def _create(change: Change[events.SessionCreated]) -> list[str]:
    names = ", ".join(member.display_name for member in change.fact.members)
    return [f"— {change.fact.title or change.fact.team} · {names}"]


@SESSION_LINES.message(events.MessagePosted)
def say_message(fact: events.MessagePosted) -> Message:
    said = fact.text.strip() or ("" if fact.attachments else (fact.raw or "").strip())
    return Message(fact.member, said, fact.to, fact.attachments)


@SESSION_LINES.says(events.SessionCreated, events.SessionRenamed)
def _say_title(fact: events.SessionCreated | events.SessionRenamed) -> Message:
    return Message("", fact.title)


@SESSION_LINES.says(events.StepAsked)
def _say_question(fact: events.StepAsked) -> Message:
    return Message("", fact.question)


@SESSION_LINES.says(events.TurnFailed, events.TurnCancelled)
def _say_partial(fact: events.TurnFailed | events.TurnCancelled) -> Message:
    return Message(fact.member, fact.partial)


@SESSION_LINES.text(events.MessagePosted)
def input_text(fact: events.MessagePosted, language: Language) -> str | None:
    """Return the text of a person's input on the timeline; what was said is the `content` of the frame."""
    return render("shown_input", language) if fact.is_on_timeline else None


@SESSION_LINES.on(events.TurnStepped)
def _step(change: Change[events.TurnStepped]) -> list[str]:
    fact = change.fact
    said = transcribe_step(fact, change.language, is_whole=change.is_whole)
    return indent(f"  · {change.name(fact.member)}: ", said) if said else []


@SESSION_LINES.text(events.NoticePosted)
def notice_text(fact: events.NoticePosted, language: Language) -> str:
    """Render a notice. The details of a status notice begin with the name of a state, which is translated."""
    params = asdict(fact)
    if fact.code == "status" or fact.code.endswith("_status"):  # a flow may have a text of its own
        status, *acting = fact.detail.split(" ", 1)
        params["detail"] = " ".join([render(f"status_{status}", language), *acting])
    return render(language=language, **params)


@SESSION_LINES.on(events.NoticePosted, "landmark")
def _notice(change: Change[events.NoticePosted]) -> list[str]:
    return indent("", notice_text(change.fact, change.language))


@SESSION_LINES.text(events.SessionRenamed)
def _title_text(fact: events.SessionRenamed, language: Language) -> str:
    return render("session_renamed", language, detail=fact.title)


@SESSION_LINES.on(events.SessionRenamed, "landmark")
def _rename(change: Change[events.SessionRenamed]) -> list[str]:
    return indent("", _title_text(change.fact, change.language))


@SESSION_LINES.on(events.SessionPaused)
def _pause(change: Change[events.SessionPaused]) -> list[str]:
    queue = queue_line(change.before)
    return [*([queue] if queue else []), change.say("waiting_for", who=change.name(change.fact.waiting_for))]


@SESSION_LINES.on(events.SessionCompleted)
def _complete(change: Change[events.SessionCompleted]) -> list[str]:
    return [change.say("session_over")]


@SESSION_LINES.on(events.TeamTaskSet)
def _set_goal(change: Change[events.TeamTaskSet]) -> list[str]:
    return [f"🎯 {change.fact.team_task}"]


@SESSION_LINES.on(events.TurnFailed)
def _fail(change: Change[events.TurnFailed]) -> list[str]:
    """Return what the member had written; the notice or question that follows says why the turn failed."""
    return _tell_partial(change, change.fact.member, change.fact.partial)


@SESSION_LINES.on(events.TurnCancelled)
def _cancel(change: Change[events.TurnCancelled]) -> list[str]:
    fact = change.fact
    stopped = [change.say("turn_stopped", who=change.name(fact.member))] if fact.reason == "stopped" else []
    return [*_tell_partial(change, fact.member, fact.partial), *stopped]


def _tell_partial(change: Change[Any], member: str, partial: str) -> list[str]:
    return indent("", change.say("turn_unfinished", who=change.name(member), detail=partial)) if partial else []


@SESSION_LINES.text(events.TurnFailed)
def _failure_text(fact: events.TurnFailed, language: Language) -> str:
    return tell_failure(fact.error_type, fact.message, language)


# questions


@SESSION_LINES.text(events.StepAsked)
def question_text(fact: events.StepAsked, language: Language) -> str | None:
    """Return the question, in the reader's language if Moot asks; None if it has no text."""
    if fact.kind == "tool":
        return render("ask_permission", language, who=fact.who, detail=fact.question)
    if fact.is_for_member:
        return render("ask_question", language, who=fact.who, detail=fact.question)
    if not fact.code:
        return fact.question or None
    return render(
        fact.code,
        language,
        who=fact.who,
        detail=tell_failure(fact.error_type, fact.detail, language),
        error_type=name_failure(fact.error_type, language),
        names=fact.names,
        count=len(fact.tasks or ()),
    )


@SESSION_LINES.on(events.StepAsked, "landmark")
def _ask(change: Change[events.StepAsked]) -> list[str]:
    return tell_question(change.fact, change.after.team, change.language)


def tell_question(step: events.StepAsked, team: Team, language: Language) -> list[str]:
    """Return a question and below it what can be chosen, numbered: a number answers it."""
    labels = [option_label(step.code, option, team.members, language) for option in step.options]
    choices = [f"{number} {' '.join(label.split())}" for number, label in enumerate(labels, 1)]
    in_one_line = f"  {' · '.join(choices)}"
    below = [in_one_line] if len(in_one_line) <= CHOICES_CHARS else [f"  {choice}" for choice in choices]
    return [*indent("? ", question_text(step, language) or step.step_id), *(below if choices else [])]


@SESSION_LINES.on(events.StepClosed, "landmark")
def tell_answer(change: Change[events.StepClosed]) -> list[str]:
    """Return the line of an answer or expiry. A withdrawn question has none: the fact that replaced it has one."""
    fact = change.fact
    step = change.before.open_steps.get(fact.step_id)
    if fact.outcome == "expired":
        return [change.say("nobody_answered")]
    if fact.outcome != "answered" or step is None:
        return []
    chosen = [option for option in step.options if option.id == fact.choice]
    label = option_label(step.code, chosen[0], change.after.team.members, change.language) if chosen else None
    parts = [part for part in (label, fact.answer) if part]
    return indent("", change.say("answered", who=change.name(fact.by), detail=" · ".join(parts))) if parts else []


@SESSION_LINES.on(events.PermissionGranted, "landmark")
def _grant(change: Change[events.PermissionGranted]) -> list[str]:
    fact = change.fact
    what = show_grant(Grant(tool=fact.tool, pattern=fact.pattern))
    code = "permission_granted" if fact.allowed else "permission_refused"
    return indent("", change.say(code, who=change.name(fact.member), detail=what))


@SESSION_LINES.on(events.PermissionRevoked, "landmark")
def _revoke(change: Change[events.PermissionRevoked]) -> list[str]:
    fact = change.fact
    what = show_grant(Grant(tool=fact.tool, pattern=fact.pattern))
    return indent("", change.say("permission_revoked", who=change.name(fact.member), detail=what))


# understanding and routing inputs


@SESSION_LINES.text(events.UnderstandingStarted)
def _understanding_text(_: events.UnderstandingStarted, language: Language) -> str:
    return render("shown_understanding", language)


@SESSION_LINES.text(events.UnderstandingCompleted)
def _understood_text(fact: events.UnderstandingCompleted, language: Language) -> str:
    return _tell_relation(fact, language, is_new=fact.analysis.assessment is None)


def _tell_relation(fact: events.UnderstandingCompleted, language: Language, *, is_new: bool) -> str:
    """Return what was understood; a task that is given while no work is under way is new, not another one."""
    relation = fact.analysis.task_relation
    code = "relation_new" if is_new and relation.type == "different_task" else f"relation_{relation.type}"
    percent = round(100 * relation.confidence)
    return render("understood", language, relation=render(code, language), percent=percent, reason=relation.reasoning)


@SESSION_LINES.on(events.UnderstandingCompleted)
def _understand(change: Change[events.UnderstandingCompleted]) -> list[str]:
    return [_tell_relation(change.fact, change.language, is_new=not change.before.slice.is_active)]


@SESSION_LINES.text(events.RoutingDecided)
def route_text(fact: events.RoutingDecided, language: Language) -> str | None:
    """Return the text of a route in the reader's language; a model's own question is not translated."""
    return render(fact.message_code, language) if fact.message_code else fact.user_message or None


@SESSION_LINES.on(events.RoutingDecided)
def _route(change: Change[events.RoutingDecided]) -> list[str]:
    """Return the line of a route, unless a question about it follows."""
    text = route_text(change.fact, change.language)
    if change.fact.route is None or change.fact.user_confirmation_required or not text:
        return []
    return [f"→ {text}"]


@SESSION_LINES.on(events.InputDeferred)
def _defer(change: Change[events.InputDeferred]) -> list[str]:
    return indent("", change.say("put_off", detail=change.fact.text))


# the timeline


@SESSION_LINES.row(events.MessagePosted, "input")
def _input_row(entry: Entry[events.MessagePosted]) -> str:
    return say_message(entry.fact).text


@SESSION_LINES.row(events.UnderstandingStarted, "semantic", begins=Span("understanding", "input.input_id"))
def _understanding_row(_entry: Entry[events.UnderstandingStarted]) -> str:
    return ""


@SESSION_LINES.row(events.UnderstandingCompleted, "semantic")
def _understood_row(entry: Entry[events.UnderstandingCompleted]) -> str:
    relation = entry.fact.analysis.task_relation
    return f"{entry.term('relation', relation.type)} · {relation.confidence:.0%}"


SESSION_LINES.ends(events.UnderstandingCompleted, Span("understanding", "input_id"), replaces=True)


@SESSION_LINES.row(events.RoutingDecided, "routing")
def _route_row(entry: Entry[events.RoutingDecided]) -> str:
    """Return the route; in chat the action and the members it names."""
    fact, action = entry.fact, entry.fact.action
    if fact.route:
        return entry.term("route", fact.route)
    if action is None:
        return ""
    members = fact.queue_updates or action.addressees or ((action.member,) if action.member else ())
    return f"{entry.term('action', action.type)} {' → '.join(entry.name(member) for member in members)}"


@SESSION_LINES.row(events.StepAsked, "steps", begins=QUESTION)
def _question_row(entry: Entry[events.StepAsked]) -> str:
    return question_text(entry.fact, entry.language) or entry.fact.kind


SESSION_LINES.ends(events.StepClosed, QUESTION, None)


@SESSION_LINES.row(events.TurnStarted, "steps", begins=TURN)
def _turn_row(_entry: Entry[events.TurnStarted]) -> str:
    return ""


SESSION_LINES.ends(events.TurnCompleted, TURN)


@SESSION_LINES.row(events.TurnFailed, "errors", "failed")
def _failure_row(entry: Entry[events.TurnFailed]) -> str:
    parts = (entry.term("error", entry.fact.error_type), entry.fact.message)
    return ": ".join(part for part in parts if part)


SESSION_LINES.ends(events.TurnFailed, TURN, "failed")


@SESSION_LINES.row(events.TurnCancelled, "errors", "failed")
def _cancel_row(entry: Entry[events.TurnCancelled]) -> str:
    return entry.term("outcome", entry.fact.reason)


SESSION_LINES.ends(events.TurnCancelled, TURN, "cancelled")


@SESSION_LINES.row(events.SessionCompleted, "flow")
def _end_row(entry: Entry[events.SessionCompleted]) -> str:
    return entry.term("outcome", entry.fact.reason)
