"""`moot route chat`: what the chat flow would do with a message."""

from typing import Any

from msgspec import Struct

from moot.config.loading import load_team
from moot.core import limits, text
from moot.core.decide import is_empty
from moot.core.draft import Draft
from moot.core.errors import MootError, Refused
from moot.core.flows.chat import chat_flow as chat
from moot.core.flows.chat import routing
from moot.core.flows.chat.chat_slice import ChatSlice, Entry
from moot.core.flows.registry import FLOWS, show
from moot.core.intake.intent import Addressing, AddressingType
from moot.core.intake.markers import Markers, parse
from moot.core.intake.mentions import Mentions, find_mentions
from moot.core.intake.senders import find_sender
from moot.core.session.commands import Post
from moot.core.session.events import NoticePosted
from moot.core.session.notices import explain
from moot.core.session.state import State, StateOf


class Question(Struct, frozen=True, kw_only=True):
    """`team` is a path, the name of a built-in team, or a team file as an object."""

    team: str | dict[str, Any]
    text: str
    queue: tuple[str, ...] = ()
    speaker: str | None = None


def route(question: Question) -> dict[str, Any]:
    """Return what the chat flow would do with this message."""
    team = load_team(question.team).team()
    strangers = [member_id for member_id in question.queue if all(member.id != member_id for member in team.members)]
    if strangers:
        raise MootError(f"queue holds no member ids: {', '.join(strangers)}")
    queue = tuple(Entry(member_id) for member_id in question.queue)
    markers = parse(text.clean(question.text))
    waiting = ChatSlice(entries=queue)
    draft = Draft(StateOf(team=team, title="", language=team.language, slice=waiting))
    author = team.find(question.speaker) if question.speaker else None
    notices: list[dict[str, Any]] = []

    def refuse(refusal: Refused) -> None:
        names = [refusal.params["who"]] if "who" in refusal.params else []
        notices.append({"code": refusal.code, "text": explain(refusal, team.language), "names": names})

    speaker = author or team.first_human
    if author is None or author.is_human:
        try:
            speaker = find_sender(draft.state, Post(text=question.text, by=question.speaker), markers.sender)
        except Refused as refusal:
            refuse(refusal)
        if is_empty(markers):
            refuse(Refused("empty_message"))
    kept, _ = routing.take_out(queue, markers.drop, team)
    mentions = find_mentions(markers.clean.replace(markers.signature, "", 1), team)
    named = routing.find_targets(speaker, markers, mentions, team)
    targets = named or routing.find_default(speaker, kept, team)
    names = [target.name for target in targets[: limits.NEXT_TARGETS]]
    resolution = routing.resolve_addressees(names, team, speaker)
    if markers.done and speaker.is_human:
        FLOWS["chat"].stop(draft, "session_ended")
        draft.end("done")
        decision = routing.RoutingDecision(action=Addressing(type=AddressingType.WAIT_FOR_HUMAN))
    else:
        chat.notice_slips(draft, markers, mentions if speaker.is_human else Mentions())
        chat.route(draft, speaker, markers, targets)
        decision = routing.decide(targets, kept, team, speaker)
    notices += [
        {"code": fact.code, "text": show(fact, team.language), "names": fact.names}
        for fact in draft.facts
        if isinstance(fact, NoticePosted)
    ]
    via = "next" if markers.next else "mention" if named else "default" if targets else "queue" if kept else "fallback"
    return _answer(markers, mentions, resolution, decision, draft.state, notices, via)


def _answer(
    markers: Markers,
    mentions: Mentions,
    resolution: routing.Resolution,
    decision: routing.RoutingDecision,
    after: State,
    notices: list[dict[str, Any]],
    via: str,
) -> dict[str, Any]:
    """Return the answer; every field is always present."""
    action = decision.action
    return {
        "markers": {
            "next": [target.name for target in markers.next],
            "priorities": [target.priority for target in markers.next],
            "done": markers.done,
            "from": markers.sender,
            "team_task": markers.team_task,
            "drop": markers.drop,
            "mentions": mentions.names,
        },
        "clean": markers.clean,
        "resolved": [member.id for member in resolution.resolved],
        "unresolved": resolution.unresolved,
        "action": {
            "type": action.type,
            "member": action.member,
            "addressees": action.addressees,
            "available_members": action.available_members,
        },
        "queue_updates": [entry.member for entry in decision.queue_updates],
        "queue": [entry.member for entry in decision.queue],
        "status": after.status,
        "waiting_for": after.waiting_for,
        "notices": notices,
        "via": via,
    }
