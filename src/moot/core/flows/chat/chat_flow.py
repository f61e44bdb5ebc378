"""The chat flow: members speak one at a time, and messages name who speaks next (docs/chat.md)."""

from msgspec import Struct
from msgspec.structs import replace

from moot.core import limits, text
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.fact_lines import Change, Lines
from moot.core.flows.chat import chat_slice, queue, routing
from moot.core.flows.chat.chat_events import CHAT_FACTS, QueueChanged
from moot.core.flows.chat.chat_slice import ChatSlice, Entry
from moot.core.flows.flow import Flow
from moot.core.intake import front_door
from moot.core.intake.intent import AddressingType, WorkflowStatus
from moot.core.intake.markers import Markers, Priority, Target, find_look_alike, parse
from moot.core.intake.mentions import Mentions, find_mentions, find_nearest_name
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.session import Status
from moot.core.session import budgets, deliveries, parking, steps
from moot.core.session.commands import Answer, ChangeQueue, CompleteTurn, FailTurn, ReportUnderstanding
from moot.core.session.events import (
    NoticePosted,
    PauseReason,
    PauseRequested,
    PauseTrigger,
    RoutingDecided,
    StepAsked,
    TurnCompleted,
)
from moot.core.session.notices import queue_line
from moot.core.session.session_lines import SESSION_LINES
from moot.core.session.state import NO_NOTES, Offered, State, Turn
from moot.core.session.team import Member, Team
from moot.core.session.usage import safe_usage

CHAT_LINES = Lines(SESSION_LINES)
_HELD = ("user_pause", "stopped", "budget", "hop_limit")  # a pause that only people end

# Python 3.11 looks a member of an enum up four times slower than a global.
_PAUSED, _PAUSING, _UNRESOLVED = Status.PAUSED, Interrupt.PAUSING, AddressingType.ERROR_UNRESOLVED


@CHAT_LINES.on(QueueChanged)
def _change_queue(change: Change[QueueChanged]) -> list[str]:
    """Show the queue when it has become longer and while a member has the floor, and not while it is rearranged."""
    fact, (_, waiting) = change.fact, change.before.slice.queue
    line = queue_line(change.after)
    return [line] if line and (fact.executing or queue.is_longer(fact.pending, waiting)) else []


class ChatFlow(Flow):
    name = "chat"
    default_understanding = "explicit"  # markers are enough
    slice_type = ChatSlice
    facts = CHAT_FACTS
    fold = chat_slice.fold
    follow = chat_slice.follow
    lines = CHAT_LINES
    has_queue = True
    parks_for_answers = False  # the answer is a message, and the member's next turn

    def receive(self, draft: Draft, speaker: Member, raw: str, markers: Markers) -> None:
        """Take a human's message into the history. An AI that is acting goes on acting."""
        mentions = find_mentions(markers.clean.replace(markers.signature, "", 1), draft.team)
        targets = routing.find_targets(speaker, markers, mentions, draft.team)
        is_routed = targets or markers.drop or text.is_blank(markers.clean) or draft.team.understanding == "explicit"
        if is_routed and not targets and not markers.done:
            entries, _ = routing.take_out(draft.state.part(ChatSlice).entries, markers.drop, draft.team)
            targets = routing.find_default(speaker, entries, draft.team)
        draft.post(speaker, raw, markers, turn_id=None, to=_name_addressees(targets, speaker, draft.team))
        if markers.done:  # beats [NEXT:] in the same message
            self.stop(draft, "session_ended")
            draft.end("done")
            return
        notice_slips(draft, markers, mentions)
        if is_routed:
            route(draft, speaker, markers, targets)
        else:
            front_door.receive(draft, speaker.id, markers.clean)

    def interrupt(self, draft: Draft, speaker: Member, raw: str, markers: Markers) -> None:
        """Cancel the running turn and start its member's next one, ahead of the queue, with the message.

        A message that names somebody else interrupts nobody.
        """
        turn = next(iter(draft.state.running), None)
        mentions = find_mentions(markers.clean.replace(markers.signature, "", 1), draft.team)
        named = routing.find_targets(speaker, markers, mentions, draft.team)
        if turn is None or (named and turn.member not in _name_addressees(named, speaker, draft.team)):
            if turn:
                who = draft.team.member(turn.member).display_name
                draft.add(NoticePosted(code="not_interrupted", who=who))
            self.receive(draft, speaker, raw, markers)
            return
        others = tuple(
            target
            for target in named
            if (member := routing.find_addressee(target.name, draft.team, speaker)) is None or member.id != turn.member
        )
        draft.cancel_turn(turn, "interrupted")
        first = Target(turn.member, Priority.P1)
        self.receive(draft, speaker, raw, replace(markers, next=(first, *others)))

    def note_delivery(self, draft: Draft, turn_id: str, message: Offered, *, is_delivered: bool) -> None:
        """Take the member out of the queue again once it has everything that put it there."""
        messages, chat = draft.state.notes.get(turn_id, NO_NOTES).messages, draft.state.part(ChatSlice)
        is_done = all(each.is_delivered for each in messages) and any(each.is_queued for each in messages)
        places = [at for at, entry in enumerate(chat.entries) if entry.member == message.to]
        if is_delivered and is_done and places:
            entries = (*chat.entries[: places[-1]], *chat.entries[places[-1] + 1 :])
            queue.set_queue(draft, chat.executing, entries)

    def understand(self, draft: Draft, command: ReportUnderstanding) -> None:
        """Act on a message without markers: it controls the session (pause, cancel …), or is routed like any other."""
        routed = front_door.complete(draft, command, self)
        if routed is None:
            return
        input_, decision = routed
        speaker = draft.team.member(input_.member)
        try:
            match decision.payload.control_action if decision.route == "control_action" else None:
                case "pause":
                    self.pause(draft, speaker)
                case "resume":
                    self.resume(draft)
                case "cancel":
                    self.cancel(draft, speaker)
                case "status_query":
                    draft.add(self.status(draft.state))
                case None:
                    markers = parse(input_.text)
                    entries = draft.state.part(ChatSlice).entries
                    route(draft, speaker, markers, routing.find_default(speaker, entries, draft.team))
        except Refused as refusal:  # a notice, because no command waits for the refusal
            draft.add(NoticePosted(code=refusal.code, who=str(refusal.params.get("who", ""))))

    def complete_turn(self, draft: Draft, turn: Turn, command: CompleteTurn) -> None:
        """Post what an AI wrote and route it. [DONE] and [FROM:] of an AI are ignored."""
        speaker = draft.team.member(turn.member)
        raw = text.cut(text.clean(command.text))
        markers = parse(raw)
        handed = draft.state.notes.get(turn.turn_id, NO_NOTES).next
        draft.add(TurnCompleted(turn_id=turn.turn_id, member=turn.member, usage=safe_usage(command.usage)))
        mentions = find_mentions(markers.clean, draft.team)
        targets = _add_handed(routing.find_targets(speaker, markers, mentions, draft.team), handed, speaker, draft.team)
        if not text.is_blank(markers.clean):
            to = _name_addressees(targets, speaker, draft.team)
            draft.post(speaker, raw, markers, turn_id=turn.turn_id, to=to)
        notice_slips(draft, markers, Mentions())
        route(draft, speaker, markers, targets)

    def turn_timeout_s(self, state: State) -> float:
        return state.team.chat.turn_timeout_s

    def max_hops(self, team: Team) -> int:
        return team.chat.max_hops

    def fail_turn(self, draft: Draft, turn: Turn, command: FailTurn) -> None:
        """Post a notice, keep the queue, and wait for the first human."""
        draft.fail_turn(turn, command)
        queue.set_queue(draft, None, draft.state.part(ChatSlice).entries)
        reason = draft.post_failure(turn, command, draft.team.chat.turn_timeout_s)
        draft.pause(draft.team.first_human, reason)

    def take_answer(self, draft: Draft, member: Member, by: Member, answer: str, turn_id: str | None) -> None:
        """Post the answer as a message to the member that asked, and give it the floor when it is free.

        A team-mate's answer waits in the queue if people have stopped the session.
        """
        targets = (Target(member.id),)
        draft.post(by, answer, Markers(clean=answer), turn_id=turn_id, to=(member.id,))
        if not by.is_human and draft.state.status is Status.PAUSED and draft.state.pause_reason in _HELD:
            entries = draft.state.part(ChatSlice).entries
            queue.set_queue(draft, None, routing.decide(targets, entries, draft.team, by).queue)
        else:
            route(draft, by, Markers(clean=answer), targets)

    def hop_limit(self, state: State) -> int:
        return state.team.chat.max_hops

    def fall_back(self, draft: Draft, turn_id: str, command: FailTurn) -> bool:
        """End the turn and start that of the next fallback, ahead of the queue."""
        replaced = parking.replace_member(draft, turn_id, command)
        if replaced is None:
            return False
        turn, other, stands_in_for = replaced
        waiting = draft.state.part(ChatSlice).entries
        start_turn(draft, other, waiting, kept=waiting, retry_of=turn.turn_id, stands_in_for=stands_in_for)
        return True

    def pause(self, draft: Draft, by: Member | None, trigger: PauseTrigger = "pause_button") -> None:
        """Stop the queue after the running turn, or at once if nothing runs."""
        state = draft.state
        if state.interrupt is Interrupt.EXECUTION:
            draft.add(PauseRequested(member=by.id if by else None, trigger=trigger))
        if not state.running:
            draft.pause(by or state.floor_holder, "user_pause")

    def resume(self, draft: Draft) -> None:
        state = draft.state
        if state.running and state.interrupt is not Interrupt.PAUSING:
            raise Refused("still_running", who=state.team.member(state.running[0].member).display_name)
        if not state.running and not state.part(ChatSlice).entries:
            raise Refused("nothing_to_resume")
        draft.activate()
        if not state.running:
            give_floor(draft, state.part(ChatSlice).entries)

    def retry(self, draft: Draft) -> None:
        """Repeat the turn that failed or was cancelled last, ahead of the queue."""
        state = draft.state
        if state.running:
            raise Refused("still_running", who=state.team.member(state.running[0].member).display_name)
        turn = state.failed
        if turn is None:
            raise Refused("nothing_to_retry")
        draft.activate()
        entries = state.part(ChatSlice).entries
        start_turn(draft, draft.team.member(turn.member), entries, kept=entries, retry_of=turn.turn_id)

    def cancel(self, draft: Draft, by: Member | None) -> None:
        """Cancel what runs. The queue is kept and the floor goes to the human who asked."""
        state = draft.state
        if not state.running:
            raise Refused("nothing_running")
        draft.cancel_turns("user_cancel")
        queue.set_queue(draft, None, state.part(ChatSlice).entries)
        draft.pause(by or state.team.first_human, "user_pause")

    def halt(self, draft: Draft, by: Member | None) -> None:
        """Cancel the running turn. The queue is kept; the next message or /resume goes on with it."""
        state = draft.state
        if not state.running:
            raise Refused("nothing_running")
        draft.cancel_turns("stopped")
        queue.set_queue(draft, None, state.part(ChatSlice).entries)
        draft.pause(by or state.team.first_human, "stopped")

    def stop(self, draft: Draft, reason: str) -> None:
        draft.cancel_turns(reason)
        queue.set_queue(draft, None, ())

    def status(self, state: State) -> NoticePosted:
        team, (executing, _) = state.team, state.slice.queue
        acting = f" ({team.member(executing).display_name} ⏳)" if executing else ""
        waiting_for = team.member(state.waiting_for).display_name if state.waiting_for else "-"
        return NoticePosted(code="status", detail=f"{state.status}{acting}", who=waiting_for, limit=state.hops)

    def workflow_status(self, state: State) -> WorkflowStatus:
        if state.interrupt is not Interrupt.EXECUTION:
            return "paused"
        return "execution" if state.running or state.part(ChatSlice).entries else "idle"

    def change_queue(self, draft: Draft, command: ChangeQueue) -> None:
        queue.change(draft, command)

    def ask_to_clear_queue(self, draft: Draft, by: Member | None) -> None:
        queue.ask_to_clear(draft, by)

    def answer(self, draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
        if step.code == queue.CLEAR:
            queue.answer_clear(draft, step, command, by)
        else:
            steps.answer(draft, step, command, by)

    def expire(self, draft: Draft, step: StepAsked) -> None:
        """Do nothing: the question is closed already."""


def _name_addressees(targets: tuple[Target, ...], speaker: Member, team: Team) -> tuple[str, ...]:
    """Return the ids of the members that these names mean, each once."""
    ids: dict[str, None] = {}  # in order
    for target in targets[: limits.NEXT_TARGETS]:
        member = routing.find_addressee(target.name, team, speaker)
        if member:
            ids[member.id] = None
    return tuple(ids)


def _add_handed(
    targets: tuple[Target, ...], handed: tuple[str, ...], speaker: Member, team: Team
) -> tuple[Target, ...]:
    """Return the targets of a message and the members that its author handed over to by the tool, each once."""
    if not handed:
        return targets
    named = {member.id for target in targets if (member := routing.find_addressee(target.name, team, speaker))}
    return (*targets, *[Target(member_id) for member_id in dict.fromkeys(handed) if member_id not in named])


def notice_slips(draft: Draft, markers: Markers, mentions: Mentions) -> None:
    """Post a notice about what was probably meant to name somebody and does not."""
    if not markers.next and (right_form := find_look_alike(markers.clean, draft.team.find)):
        draft.add(NoticePosted(code="look_alike_marker", detail=right_form))
    if mentions.stranger:
        code = "mention_unknown" if mentions.nearest else "mention_of_nobody"
        available = tuple(member.display_name for member in draft.team.members)
        draft.add(NoticePosted(code=code, detail=mentions.stranger, who=mentions.nearest, available=available))


def route(draft: Draft, speaker: Member, markers: Markers, targets: tuple[Target, ...]) -> None:
    """Route a message to its targets: [DROP:] first, then the targets, then the queue, then the first human."""
    team, is_running = draft.team, bool(draft.state.running)
    chat = draft.state.part(ChatSlice)
    entries, unknown = routing.take_out(chat.entries, markers.drop, team)
    decision = routing.decide(targets, entries, team, speaker)
    draft.add(
        RoutingDecided(
            confidence=1.0,
            action=decision.action,
            queue_updates=tuple([entry.member for entry in decision.queue_updates]),
            skipped=decision.skipped,
        )
    )
    action = decision.action
    is_unresolved = action.type is _UNRESOLVED  # pause and keep the queue
    if is_running or is_unresolved or queue.is_longer(decision.queue, chat.entries):
        queue.set_queue(draft, chat.executing if is_running else None, decision.queue)
    # else the queue is logged once, with who has the floor
    skipped = unknown if is_unresolved else unknown + decision.skipped
    if skipped:
        draft.add(NoticePosted(code="names_skipped", names=skipped))
    if is_unresolved:
        draft.add(NoticePosted(code="unresolved", names=action.addressees, available=action.available_members))
        for name in action.addressees:
            if nearest := find_nearest_name(name, team):
                draft.add(NoticePosted(code="next_unknown", detail=name, who=nearest))
    if is_running:
        if speaker.is_human:
            _bring(draft, speaker, markers, targets, decision.queue_updates)
        return
    if speaker.is_human and not targets and not decision.queue and team.ais and not text.is_blank(markers.clean):
        names = tuple([member.display_name for member in team.ais])
        draft.add(NoticePosted(code="nobody_addressed", names=names))
    if is_unresolved:
        draft.pause(speaker if speaker.is_human else team.first_human, "unresolved")
    else:
        give_floor(draft, decision.queue)


def _bring(
    draft: Draft, speaker: Member, markers: Markers, targets: tuple[Target, ...], queued: tuple[Entry, ...]
) -> None:
    """Bring a message to the member whose turn runs, if it is for it."""
    members = _name_addressees(targets, speaker, draft.team)
    said = markers.clean.replace(markers.signature, "", 1)
    deliveries.offer(draft, speaker, said, members, queued=[entry.member for entry in queued], is_kept=True)


def give_floor(draft: Draft, entries: tuple[Entry, ...]) -> None:
    """Give the floor to the head of the queue, or to the first human if the queue is empty."""
    if not entries:
        queue.set_queue(draft, None, ())
        draft.pause(draft.team.first_human, "fallback")
        return
    head = draft.team.member(entries[0].member)
    if head.is_human:
        queue.set_queue(draft, None, entries[1:])
        draft.pause(head, "addressed")
    else:
        start_turn(draft, head, entries[1:], kept=entries)


def start_turn(
    draft: Draft,
    member: Member,
    waiting: tuple[Entry, ...],
    *,
    kept: tuple[Entry, ...],
    retry_of: str | None = None,
    stands_in_for: str = "",
) -> None:
    """Start a turn of a member; `waiting` is the queue behind it.

    If a pause is requested or a limit reached, give a human the floor instead; `kept` is the queue then.
    """
    state = draft.state
    held = _find_hold(state, member)
    if held:
        queue.set_queue(draft, None, kept)
        if held.notice:
            draft.add(held.notice)
        draft.pause(held.waiting_for, held.reason)
        return
    if state.status is _PAUSED:
        draft.activate()
    draft.start_turn(member, retry_of=retry_of, stands_in_for=stands_in_for)
    queue.log_queue(draft, member.id, waiting)


class _Hold(Struct, frozen=True):
    """Why a member is not given a turn, and the human who is given the floor instead."""

    waiting_for: Member
    reason: PauseReason
    notice: NoticePosted | None = None


def _find_hold(state: State, member: Member) -> _Hold | None:
    team = state.team
    if state.interrupt is _PAUSING:
        by = state.pause_requested_by
        return _Hold(team.member(by) if by else team.first_human, "user_pause")
    max_hops = team.chat.max_hops
    if max_hops and state.hops >= max_hops:
        return _Hold(team.first_human, "hop_limit", NoticePosted(code="hop_limit", limit=max_hops))
    overrun = budgets.find_overrun(state, member)
    return _Hold(team.first_human, "budget", overrun) if overrun else None
