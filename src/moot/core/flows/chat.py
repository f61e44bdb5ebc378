"""The chat flow (spec/2, seeds 000 and 001): members speak one at a time, messages name who speaks next.

Every path ends in a running turn, in a named human, or at the end of the session.
"""

from math import isfinite

from msgspec.structs import replace

from moot.core import routing, text
from moot.core.commands import CompleteTurn, FailTurn
from moot.core.draft import Draft
from moot.core.events import (
    MessagePosted,
    NoticePosted,
    RoutingDecided,
    SessionActivated,
    TeamTaskSet,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
)
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.session import Status
from moot.core.markers import Markers, parse
from moot.core.routing import ActionType
from moot.core.state import State, Turn
from moot.core.team import Member


def receive(draft: Draft, speaker: Member, raw: str, markers: Markers) -> None:
    """A human spoke: the message joins the history; an AI that is acting goes on acting."""
    post(draft, speaker, raw, markers, turn_id=None)
    if markers.done:
        draft.end("done")  # beats [NEXT:] in the same message
    else:
        route(draft, speaker, markers)


def complete_turn(draft: Draft, turn: Turn, command: CompleteTurn) -> None:
    """An AI finished: only now are its markers read. [DONE] and [FROM:] of an AI mean nothing."""
    speaker = draft.team.member(turn.member)
    raw = text.cut(text.clean(command.text))
    markers = parse(raw)
    usage = command.usage
    if not isfinite(usage.cost_usd):  # JSON has no NaN: logged, it could not be read again
        usage = replace(usage, cost_usd=0.0)
    draft.add(TurnCompleted(turn_id=turn.turn_id, member=turn.member, usage=usage))
    if not text.is_blank(markers.clean):
        post(draft, speaker, raw, markers, turn_id=turn.turn_id)
    route(draft, speaker, markers)


def fail_turn(draft: Draft, turn: Turn, command: FailTurn) -> None:
    """Seed 001 §7: say so, keep the queue, wait for the first human."""
    detail = text.cut(text.clean(command.message), 2_000)
    draft.add(
        TurnFailed(turn_id=turn.turn_id, member=turn.member, error_type=text.clean(command.error_type), message=detail)
    )
    draft.set_queue(None, draft.state.queue)
    who = draft.team.member(turn.member).display_name
    if command.error_type == "timeout":
        minutes = round(draft.team.chat.turn_timeout_s / 60, 2)
        draft.add(NoticePosted(code="agent_timeout", who=who, minutes=minutes))
        draft.pause(draft.team.first_human, "agent_timeout")
    else:
        draft.add(NoticePosted(code="agent_error", who=who, detail=detail))
        draft.pause(draft.team.first_human, "agent_error")


def post(draft: Draft, speaker: Member, raw: str, markers: Markers, turn_id: str | None) -> None:
    said = markers.clean
    draft.add(MessagePosted(member=speaker.id, text=said, raw=None if raw == said else raw, turn_id=turn_id))
    if markers.team_task:
        draft.add(TeamTaskSet(member=speaker.id, team_task=markers.team_task))


def route(draft: Draft, speaker: Member, markers: Markers) -> None:
    """Seed 001 §3: [DROP:] first, then explicit NEXT, then the queue, then the first human."""
    team, running = draft.team, bool(draft.state.running)
    queue, unknown = routing.take_out(draft.state.queue, markers.drop, team)
    decision = routing.decide(markers.next, queue, team)
    draft.add(
        RoutingDecided(
            confidence=1.0,
            action=decision.action,
            queue_updates=tuple([entry.member for entry in decision.queue_updates]),
            skipped=decision.skipped,
        )
    )
    draft.set_queue(draft.state.executing if running else None, decision.queue)
    action = decision.action
    lost = action.type is ActionType.ERROR_UNRESOLVED  # §3.2 row 5: pause, keep the queue
    skipped = unknown if lost else unknown + decision.skipped
    if skipped:  # §3.3: never silently
        draft.add(NoticePosted(code="names_skipped", names=skipped))
    if lost:
        draft.add(NoticePosted(code="unresolved", names=action.addressees, available=action.available_members))
    if running:
        return
    if lost:
        draft.pause(speaker if speaker.is_human else team.first_human, "unresolved")
    else:
        give_floor(draft)


def give_floor(draft: Draft) -> None:
    """Seed 001 §4.2: take the head of the queue; an AI acts, a human is waited for; nobody: the first human."""
    queue = draft.state.queue
    if not queue:
        draft.pause(draft.team.first_human, "fallback")
        return
    head = draft.team.member(queue[0].member)
    if head.is_human:
        draft.set_queue(None, queue[1:])
        draft.pause(head, "addressed")
    elif start_turn(draft, head):
        draft.set_queue(head.id, queue[1:])


def start_turn(draft: Draft, member: Member, retry_of: str | None = None) -> bool:
    """Dispatch a turn, unless a pause was asked for or a limit is reached: then the floor goes to a human."""
    state = draft.state
    if state.interrupt is Interrupt.PAUSING:
        by = state.pause_requested_by
        draft.pause(draft.team.member(by) if by else draft.team.first_human, "user_pause")
        return False
    max_hops = draft.team.chat.max_hops
    if max_hops and state.hops >= max_hops:
        draft.add(NoticePosted(code="hop_limit", limit=max_hops))
        draft.pause(draft.team.first_human, "hop_limit")
        return False
    used_up = _used_up(state)
    if used_up and state.pause_reason != "budget":  # going on after that pause grants as much again
        draft.add(NoticePosted(code="budget", detail=used_up))
        draft.pause(draft.team.first_human, "budget")
        return False
    if state.status is Status.PAUSED:
        draft.add(SessionActivated())
    draft.add(
        TurnStarted(
            turn_id=f"t{state.turn_count + 1}",
            member=member.id,
            index=state.turns_by_member.get(member.id, 0),
            hop=draft.state.hops + 1,
            retry_of=retry_of,
        )
    )
    return True


def _used_up(state: State) -> str:
    """Which limit of the budget is reached, as text; empty when none is."""
    budget, spent = state.team.budget, state.spent
    if budget.max_turns and spent.turns >= budget.max_turns:
        return f"{spent.turns}/{budget.max_turns} turns"
    if budget.max_tokens and spent.tokens >= budget.max_tokens:
        return f"{spent.tokens}/{budget.max_tokens} tokens"
    if budget.max_cost_usd and spent.cost_usd >= budget.max_cost_usd:
        return f"{spent.cost_usd:.2f}/{budget.max_cost_usd:.2f} USD"
    return ""


def retry_turn(draft: Draft, turn: Turn) -> None:
    """The failed member acts again, ahead of the queue."""
    if start_turn(draft, draft.team.member(turn.member), retry_of=turn.turn_id):
        draft.set_queue(turn.member, draft.state.queue)
