"""The chat flow (spec/2, seeds 000 and 001): members speak one at a time, messages name who speaks next.

Every path ends in a running turn, in a named human, or at the end of the session.
"""

from moot.core import budgets, controls, failures, front_door, routing, steps, text
from moot.core.commands import Answer, CompleteTurn, FailTurn, ReportStep, ReportUnderstanding
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.events import (
    NoticePosted,
    PauseRequested,
    RoutingDecided,
    SessionActivated,
    StepAsked,
    TurnCompleted,
    TurnStarted,
)
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.session import Status
from moot.core.markers import Markers, parse
from moot.core.messages import post
from moot.core.routing import ActionType
from moot.core.state import Turn
from moot.core.team import Member
from moot.core.usage import safe_usage


def receive(draft: Draft, speaker: Member, raw: str, markers: Markers) -> None:
    """A human spoke: the message joins the history; an AI that is acting goes on acting."""
    post(draft, speaker, raw, markers, turn_id=None)
    if markers.done:
        draft.end("done")  # beats [NEXT:] in the same message
    elif draft.team.understanding == "explicit" or markers.next or markers.drop or text.is_blank(markers.clean):
        route(draft, speaker, markers)
    else:
        front_door.receive(draft, speaker.id, markers.clean)


def complete_turn(draft: Draft, turn: Turn, command: CompleteTurn) -> None:
    """An AI finished: only now are its markers read. [DONE] and [FROM:] of an AI mean nothing."""
    speaker = draft.team.member(turn.member)
    raw = text.cut(text.clean(command.text))
    markers = parse(raw)
    draft.add(TurnCompleted(turn_id=turn.turn_id, member=turn.member, usage=safe_usage(command.usage)))
    if not text.is_blank(markers.clean):
        post(draft, speaker, raw, markers, turn_id=turn.turn_id)
    route(draft, speaker, markers)


def fail_turn(draft: Draft, turn: Turn, command: FailTurn) -> None:
    """Seed 001 §7: say so, keep the queue, wait for the first human."""
    failures.log_failure(draft, turn, command)
    draft.set_queue(None, draft.state.queue)
    reason = failures.tell_failure(draft, turn, command, draft.team.chat.turn_timeout_s)
    draft.pause(draft.team.first_human, reason)


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
    overrun = budgets.find_overrun(state, member)
    if overrun:
        draft.add(overrun)
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


def retry_turn(draft: Draft, turn: Turn) -> None:
    """The failed member acts again, ahead of the queue."""
    if start_turn(draft, draft.team.member(turn.member), retry_of=turn.turn_id):
        draft.set_queue(turn.member, draft.state.queue)


def pause(draft: Draft, by: Member | None) -> None:
    """A running turn finishes, then the queue waits; with nothing running it waits at once."""
    state = draft.state
    if state.interrupt is Interrupt.EXECUTION:
        draft.add(PauseRequested(member=by.id if by else None))
    if not state.running:
        draft.pause(by or controls.floor_holder(state), "user_pause")


def resume(draft: Draft) -> None:
    state = draft.state
    if state.running and state.interrupt is not Interrupt.PAUSING:
        raise Refused("still_running", who=state.team.member(state.running[0].member).display_name)
    if not state.running and not state.queue:
        raise Refused("nothing_to_resume")
    draft.add(SessionActivated())
    if not state.running:
        give_floor(draft)


def retry(draft: Draft) -> None:
    """Repeat the turn that failed or was cancelled last."""
    state = draft.state
    if state.running:
        raise Refused("still_running", who=state.team.member(state.running[0].member).display_name)
    if state.failed is None:
        raise Refused("nothing_to_retry")
    draft.add(SessionActivated())
    retry_turn(draft, state.failed)


def cancel(draft: Draft, by: Member | None) -> None:
    """Kill what runs; the queue is kept and the floor goes to the human who asked."""
    state = draft.state
    if not state.running:
        raise Refused("nothing_running")
    draft.cancel_turns("user_cancel")
    draft.set_queue(None, state.queue)
    draft.pause(by or state.team.first_human, "user_pause")


def stop(draft: Draft, reason: str) -> None:
    draft.cancel_turns(reason)


def status(draft: Draft) -> NoticePosted:
    """Answered from the state, without a model."""
    state = draft.state
    team, executing = state.team, state.executing
    acting = f" ({team.member(executing).display_name} ⏳)" if executing else ""
    waiting_for = team.member(state.waiting_for).display_name if state.waiting_for else "-"
    return NoticePosted(code="status", detail=f"{state.status}{acting}", who=waiting_for, limit=state.hops)


def step_turn(draft: Draft, turn: Turn, step: ReportStep) -> bool:  # noqa: ARG001 - steps have no other name here
    return False


def answer(draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
    steps.answer(draft, step, command, by)


def expire(draft: Draft, step: StepAsked) -> None:
    """Nothing follows from it."""


def understand(draft: Draft, command: ReportUnderstanding) -> None:
    """A message without markers, understood: about the run itself, or routed like any other."""
    routed = front_door.complete(draft, command)
    if routed is None:
        return
    said, decision = routed
    speaker = draft.team.member(said.member)
    try:
        match decision.payload.control_action if decision.route == "control_action" else None:
            case "pause":
                pause(draft, speaker)
            case "resume":
                resume(draft)
            case "cancel":
                cancel(draft, speaker)
            case "status_query":
                draft.add(status(draft))
            case None:
                route(draft, speaker, parse(said.text))
    except Refused as refusal:  # nobody waits for an answer to this
        draft.add(NoticePosted(code=refusal.code, who=str(refusal.params.get("who", ""))))
