"""The lines of what members do with Moot's own tools: questions among them, hand-overs, files, parked turns."""

from moot.core.fact_lines import Change, Lines, Message, indent
from moot.core.session import desk_events as events
from moot.core.session.attachments import tell_size
from moot.core.session.notices import tell_failure
from moot.core.session.team import Language
from moot.core.texts import render

DESK_LINES = Lines()
DESK_LINES.ignore(events.AnswerAwaited, events.MessageOffered)


@DESK_LINES.says(events.MemberAsked)
def _say_question(fact: events.MemberAsked) -> Message:
    return Message(fact.member, fact.question)


@DESK_LINES.says(events.MemberAnswered)
def _say_answer(fact: events.MemberAnswered) -> Message:
    return Message(fact.member, fact.answer)


@DESK_LINES.says(events.FileShown)
def _say_file(fact: events.FileShown) -> Message:
    return Message(fact.member, f"{fact.path}\n{fact.caption}".strip())


@DESK_LINES.text(events.MemberAsked)
def _question_text(fact: events.MemberAsked, _: Language) -> str:
    """Return the question alone. The frame says who asks whom, here and below."""
    return fact.question


@DESK_LINES.text(events.MemberAnswered)
def _answer_text(fact: events.MemberAnswered, language: Language) -> str | None:
    if fact.error_type == "withdrawn":
        return None
    return tell_failure(fact.error_type, "", language) if fact.error_type else fact.answer


@DESK_LINES.text(events.HandedOver)
def _hand_over_text(fact: events.HandedOver, language: Language) -> str:
    return render("shown_handed_over", language, detail=fact.reason or "-")


@DESK_LINES.text(events.BlockReported)
def _block_text(fact: events.BlockReported, language: Language) -> str:
    return render("shown_blocked", language, detail=fact.reason)


@DESK_LINES.text(events.FileShown)
def _file_text(fact: events.FileShown, language: Language) -> str:
    return render("shown_file", language, detail=" · ".join(part for part in (fact.path, fact.caption) if part))


@DESK_LINES.on(events.MemberAsked, "landmark")
def _ask(change: Change[events.MemberAsked]) -> list[str]:
    fact = change.fact
    asked = change.say(
        "member_asked", who=change.name(fact.member), names=(change.name(fact.to),), detail=fact.question
    )
    return indent("", asked)


@DESK_LINES.on(events.MemberAnswered, "landmark")
def _answer(change: Change[events.MemberAnswered]) -> list[str]:
    """Return the answer. One that starts a turn is a message as well, and is told there."""
    fact = change.fact
    who, names = change.name(fact.member), (change.name(fact.to),)
    if fact.error_type == "withdrawn":
        return []
    if fact.error_type:
        reason = tell_failure(fact.error_type, "", change.language)
        return [change.say("member_did_not_answer", who=who, names=names, detail=reason)]
    inquiry = change.before.inquiries.get(fact.question_id)
    is_message = inquiry is None or not inquiry.turn_id
    return [] if is_message else indent("", change.say("member_answered", who=who, names=names, detail=fact.answer))


@DESK_LINES.on(events.HandedOver)
def _hand_over(change: Change[events.HandedOver]) -> list[str]:
    fact = change.fact
    who, names = change.name(fact.member), (change.name(fact.to),)
    return indent("", change.say("handed_over", who=who, names=names, detail=fact.reason or "-"))


@DESK_LINES.on(events.BlockReported)
def _block(change: Change[events.BlockReported]) -> list[str]:
    return indent("", change.say("block_reported", who=change.name(change.fact.member), detail=change.fact.reason))


@DESK_LINES.on(events.FileShown, "landmark")
def _show_file(change: Change[events.FileShown]) -> list[str]:
    fact = change.fact
    about = f"{fact.path} ({fact.file.media_type}, {tell_size(fact.file.size)})"
    shown = change.say("file_shown", who=change.name(fact.member), detail=about)
    return [*indent("", shown), *indent("  ", fact.caption)] if fact.caption else indent("", shown)


@DESK_LINES.text(events.MessageDelivered)
def delivery_text(fact: events.MessageDelivered, language: Language) -> str:
    """Return how a message reached the member, without its name."""
    return render(f"delivered_{fact.how}", language)


@DESK_LINES.on(events.MessageDelivered, "landmark")
def _deliver(change: Change[events.MessageDelivered]) -> list[str]:
    return [change.say(f"message_{change.fact.how}", who=change.name(change.fact.member))]


@DESK_LINES.text(events.TurnParked)
def park_text(fact: events.TurnParked, language: Language) -> str:
    """Return why a turn waits, and until when."""
    if fact.until is None:
        return render("turn_awaits_answer", language)
    return render("turn_parked", language, at=fact.until, detail=fact.message)


@DESK_LINES.on(events.TurnParked, "landmark")
def _park(change: Change[events.TurnParked]) -> list[str]:
    return indent(f"⏸ {change.name(change.fact.member)}: ", park_text(change.fact, change.language))


@DESK_LINES.on(events.TurnUnparked, "landmark")
def _unpark(change: Change[events.TurnUnparked]) -> list[str]:
    code = "turn_interrupted" if change.fact.reason == "interrupted" else "turn_goes_on"
    return [change.say(code, who=change.name(change.fact.member))]


DESK_LINES.shown_row(events.TurnParked, "errors", "failed")
