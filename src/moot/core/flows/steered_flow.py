"""What the plan flow and the supervisor flow share: work is under way, and people steer it with what they say.

Such a flow has at most one piece of work at a time: a plan, a supervisor's job. Every input is understood and routed;
it begins work, changes it, waits until it is over, or is about the run itself (pause, resume, cancel, status). Every
method that changes something ends in `advance`: the work goes on as far as it can without a human, then who has the
floor is settled.
"""

from abc import abstractmethod
from typing import get_args

from moot.core import limits
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.facts import Fact
from moot.core.flows.flow import Flow
from moot.core.intake import front_door
from moot.core.intake.intent import ControlAction, RoutingDecision
from moot.core.intake.intent_routing import ASKS_BACK, FOLLOW_UP
from moot.core.intake.markers import Markers
from moot.core.machines.interrupt import STOPPED
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.session import Status
from moot.core.session import deliveries, parking, steps
from moot.core.session.commands import Answer, ReportUnderstanding
from moot.core.session.events import (
    Input,
    InputDeferred,
    NoticePosted,
    PauseReason,
    PauseRequested,
    PauseTrigger,
    SessionPaused,
    StepAsked,
)
from moot.core.session.state import Offered, State
from moot.core.session.team import Member

CONTROLS: tuple[ControlAction, ...] = get_args(ControlAction)
NEW_TASK_CHOICES = ("finish_first", "close_and_start", "drop", "abort")


class SteeredFlow(Flow):
    """The base of flows with at most one piece of work at a time.

    Subclasses implement the abstract methods and may override those of the second group.
    """

    is_steered = True

    # what a subclass must implement

    @abstractmethod
    def begin(self, draft: Draft, goal: str, member: str, *, is_deferred: bool = False) -> None:
        """Begin work on a goal. `is_deferred`: it is the first of those that were put off."""

    @abstractmethod
    def abandon(self, draft: Draft, reason: str) -> None:
        """Stop the work that is under way, for good."""

    @abstractmethod
    def work_on(self, draft: Draft) -> None:
        """Let the work that is under way go on as far as it can without a human."""

    @abstractmethod
    def completes(self, fact: Fact) -> bool:
        """Whether this fact says that the work ended without being cancelled."""

    @abstractmethod
    def steer_work(self, draft: Draft, input_: Input, decision: RoutingDecision) -> None:
        """Carry out an input that is about the work under way."""

    @abstractmethod
    def choices_when_unsure(self, state: State) -> tuple[str, ...]:
        """What a human may choose for an input about the work under way that was not understood."""

    @abstractmethod
    def carry_out(self, draft: Draft, input_: Input, choice: str) -> None:
        """Do what a human chose for an input about the work under way."""

    @abstractmethod
    def answer_question(self, draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
        """Take the answer to a question that is not about an input."""

    # what a subclass may override

    def follow_up(self, draft: Draft, input_: Input) -> None:
        """Begin work that continues the last one, which is complete."""
        self.begin(draft, input_.text, input_.member)

    def answer_back(self, draft: Draft, input_: Input) -> None:
        """Have a question about the last work answered, which is complete."""
        self.follow_up(draft, input_)

    def choices_for_new_task(self, _state: State) -> tuple[str, ...]:
        """What a human may choose for an input that looks like another task."""
        return NEW_TASK_CHOICES

    def has_active_workers(self, state: State) -> bool:
        """Whether workers other than the session's turns are running."""
        return False

    def is_waiting(self, state: State) -> bool:
        """Whether the work will go on without a human, though nothing runs right now."""
        return bool(state.door.inputs) and state.interrupt in (Interrupt.EXECUTION, Interrupt.MINOR_REPLAN)

    def resume_stuck(self, draft: Draft) -> bool:
        """Resume work that is stuck. Returns whether it was."""
        return False

    def stop_workers(self, draft: Draft) -> None:
        """Stop the workers for a pause. Their work starts again when it is resumed."""

    # what people say

    def receive(self, draft: Draft, speaker: Member, raw: str, markers: Markers) -> None:
        draft.post(speaker, raw, markers, turn_id=None)
        if markers.done:
            self.stop(draft, "session_ended")
            draft.end("done")
            return
        if self._bring(draft, speaker, markers):
            return
        is_marked = (
            markers.clean.strip() != raw.strip()
        )  # unlike comments on lines, which are addressed without markers
        if is_marked and (markers.next or markers.drop):
            draft.add(NoticePosted(code="no_queue_here"))
        text = markers.clean.strip() or ", ".join(file.name for file in draft.attachments)
        routed = front_door.receive(draft, speaker.id, text) if text else None
        if routed:
            self._steer(draft, *routed)
        self.advance(draft)

    def _bring(self, draft: Draft, speaker: Member, markers: Markers) -> tuple[str, ...]:
        """Bring a message that names members at work to them. Returns the turns and tasks that it is brought into.

        Such a message needs no understanding: it says itself whom it is for.
        """
        if draft.attachments or draft.state.interrupt is not Interrupt.EXECUTION:
            return ()
        named = {member.id for target in markers.next if (member := draft.team.find(target.name))}
        return deliveries.offer(draft, speaker, markers.clean.replace(markers.signature, "", 1), named)

    def interrupt(self, draft: Draft, speaker: Member, raw: str, markers: Markers) -> None:
        """Stop the members at work that a message names; their turns go on at once, with the message."""
        draft.post(speaker, raw, markers, turn_id=None)
        interrupted = self._bring(draft, speaker, markers)
        for turn_id in interrupted:
            parking.interrupt(draft, turn_id, speaker)
        if interrupted:
            return
        routed = front_door.receive(draft, speaker.id, markers.clean.strip())
        if routed:
            self._steer(draft, *routed)
        self.advance(draft)

    def note_delivery(self, draft: Draft, turn_id: str, message: Offered, *, is_delivered: bool) -> None:
        """Understand and route a message that did not reach the member at work, like any other."""
        if is_delivered:
            return
        try:
            routed = front_door.receive(draft, message.by, message.text)
        except Refused as refusal:  # too much waits; the message stays in the history
            draft.add(NoticePosted(code=refusal.code, limit=limits.INPUTS))
            return
        if routed:
            self._steer(draft, *routed)
        self.advance(draft)

    def understand(self, draft: Draft, command: ReportUnderstanding) -> None:
        routed = front_door.complete(draft, command, self)
        if routed:
            self._steer(draft, *routed)
        self.advance(draft)

    def _steer(self, draft: Draft, input_: Input, decision: RoutingDecision) -> None:
        is_active = draft.state.slice.is_active
        match decision.route:
            case "control_action":
                self._control(draft, decision.payload.control_action or "status_query", input_.member)
            case "wait_user_decision":
                guess = decision.payload.control_action
                choices = self.choices_when_unsure(draft.state) if is_active else ("close_and_start", "drop")
                steps.ask_about_input(draft, "ask_unsure", _with_guess(guess, choices), input_)
            case _ if not is_active and decision.message_code == FOLLOW_UP:
                self.follow_up(draft, input_)
            case _ if not is_active and decision.message_code == ASKS_BACK:
                self.answer_back(draft, input_)
            case _ if not is_active:
                self.begin(draft, input_.text, input_.member)
            case "new_task":
                steps.ask_about_input(draft, "ask_new_task", self.choices_for_new_task(draft.state), input_)
            case _:
                self.steer_work(draft, input_, decision)

    def _control(self, draft: Draft, action: ControlAction, by: str) -> None:
        """Carry out a control instruction. A refusal becomes a notice, because no command waits for it."""
        member = draft.team.member(by)
        try:
            match action:
                case "pause":
                    self._pause(draft, member)
                case "resume":
                    self._resume(draft)
                case "cancel":
                    self._cancel(draft)
                case "status_query":
                    draft.add(self.status(draft.state))
        except Refused as refusal:
            draft.add(NoticePosted(code=refusal.code, detail=str(refusal.params.get("detail", ""))))

    def _choose(self, draft: Draft, input_: Input, choice: str) -> None:
        """Do what a human chose for an input. If the work has ended meanwhile, the input becomes a new goal."""
        if choice in CONTROLS:
            self._control(draft, choice, input_.member)
        elif choice == "drop":
            draft.add(NoticePosted(code="input_dropped", detail=input_.text[: steps.DETAIL_CHARS]))
        elif choice == "continue" or (choice == "abort" and not draft.state.slice.is_active):
            pass  # the work goes on unchanged, or ended meanwhile
        elif choice == "abort":
            self.abandon(draft, "user_abort")
        elif not draft.state.slice.is_active and choice in ("replan", "minor_replan"):
            self.follow_up(draft, input_)
        elif not draft.state.slice.is_active:
            self.begin(draft, input_.text, input_.member)
        elif choice == "finish_first":
            self._defer(draft, input_)
        elif choice == "close_and_start":
            self.abandon(draft, "closed_for_new_task")
            self.begin(draft, input_.text, input_.member)
        else:
            self.carry_out(draft, input_, choice)

    def _defer(self, draft: Draft, input_: Input) -> None:
        if len(draft.state.door.deferred) >= limits.DEFERRED:
            raise Refused("too_many_inputs", limit=limits.DEFERRED)
        draft.add(InputDeferred(text=input_.text, member=input_.member))

    # what people answer and ask for

    def answer(self, draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
        """Take an answer. The question stays open if the answer is refused."""
        if step.input is None:
            self.answer_question(draft, step, command, by)
        elif step.kind == "ask_user":
            steps.close(draft, step, command, by, None, steps.clean_answer(command))
            front_door.clarify(draft, step.input, command)
        else:
            choice = steps.read_choice(step, command)
            steps.close(draft, step, command, by, choice, steps.clean_answer(command))
            self._choose(draft, step.input, choice)
        self.advance(draft)

    def pause(self, draft: Draft, by: Member | None, trigger: PauseTrigger = "pause_button") -> None:
        self._pause(draft, by, trigger)
        self.advance(draft)

    def _pause(self, draft: Draft, by: Member | None, trigger: PauseTrigger = "pause_button") -> None:
        state = draft.state
        if not state.slice.is_active:
            if state.door.inputs:
                raise Refused("still_understanding")
            draft.pause(by or draft.team.first_human, "user_pause")
        elif state.interrupt is Interrupt.EXECUTION:
            draft.add(PauseRequested(member=by.id if by else None, trigger=trigger))
        elif state.interrupt is Interrupt.MINOR_REPLAN:
            raise Refused("plan_changes")

    def resume(self, draft: Draft) -> None:
        self._resume(draft)
        self.advance(draft, starts_deferred=True)

    def _resume(self, draft: Draft) -> None:
        state = draft.state
        if state.interrupt is Interrupt.PAUSING or state.interrupt in STOPPED:
            draft.activate()
        elif not self.resume_stuck(draft) and (not state.door.deferred or state.slice.is_active):
            raise Refused("nothing_to_resume")

    def cancel(self, draft: Draft, by: Member | None) -> None:
        self._cancel(draft)
        self.advance(draft)

    def _cancel(self, draft: Draft) -> None:
        if not draft.state.slice.is_active:
            raise Refused("nothing_running")
        self.abandon(draft, "user_cancel")

    def halt(self, draft: Draft, by: Member | None) -> None:
        """Pause the work without the time that a pause leaves to what runs. Unfinished tasks start again on resume."""
        state = draft.state
        if not state.slice.is_active or state.interrupt in STOPPED:
            raise Refused("nothing_running")
        if state.interrupt is Interrupt.EXECUTION:
            draft.add(PauseRequested(member=by.id if by else None))
        elif state.interrupt is not Interrupt.PAUSING:
            raise Refused("plan_changes")
        self.stop_workers(draft)
        draft.pause(by or self._find_pauser(draft.state), "stopped")

    def stop(self, draft: Draft, reason: str) -> None:
        if draft.state.slice.is_active:
            self.abandon(draft, reason)

    # who has the floor

    def advance(self, draft: Draft, *, starts_deferred: bool = False) -> None:
        """Let the work go on as far as it can without a human, then settle who has the floor."""
        if draft.state.slice.is_active:
            self.work_on(draft)
        self._start_deferred(draft, is_asked=starts_deferred)
        self._settle(draft)

    def _start_deferred(self, draft: Draft, *, is_asked: bool) -> None:
        """Begin the first deferred input if the work before it is complete, or if a human asks for it."""
        state = draft.state
        if not state.door.deferred or state.slice.is_active or state.interrupt is not Interrupt.EXECUTION:
            return
        if is_asked or any(self.completes(fact) for fact in draft.facts):
            first = state.door.deferred[0]
            self.begin(draft, first.text, first.member, is_deferred=True)
            self.work_on(draft)

    def _settle(self, draft: Draft) -> None:
        """Settle who has the floor: members at work, or a named human."""
        if not draft.facts:
            return  # nothing has changed
        state = draft.state
        if state.interrupt is Interrupt.PAUSING and not self.is_running(state):
            self.checkpoint(draft)
        elif self.is_busy(state):
            if state.status is Status.PAUSED and state.interrupt not in STOPPED:
                draft.activate()
        elif state.status is Status.ACTIVE or not isinstance(draft.facts[-1], SessionPaused):
            draft.pause(*self.find_holder(state))

    def is_running(self, state: State) -> bool:
        """Whether a turn or another worker runs right now."""
        return state.interrupt not in STOPPED and (bool(state.running) or self.has_active_workers(state))

    def is_busy(self, state: State) -> bool:
        """Whether the session goes on without a human: a turn, an offer, a delay, an input being understood."""
        if self.is_running(state):
            return True
        return self.is_waiting(state) if state.slice.is_active else bool(state.door.inputs)

    def checkpoint(self, draft: Draft) -> None:
        """Pause the work, now that nothing runs any more."""
        state = draft.state
        reason: PauseReason = "budget" if state.pause_requested_by is None and state.is_over_budget else "user_pause"
        if state.slice.is_active:
            self.stop_workers(draft)
        draft.pause(self._find_pauser(state), reason)

    def find_holder(self, state: State) -> tuple[Member, PauseReason]:
        """Return the human who gets the floor when nothing runs any more, and the reason."""
        if state.interrupt in STOPPED:
            return self._find_pauser(state), state.pause_reason or "user_pause"
        step = next(iter(state.open_steps.values()), None)
        if step:
            return state.team.member(step.asked_by) if step.asked_by else self._find_owner(state), "step"
        return self._find_owner(state), "finished"

    def _find_pauser(self, state: State) -> Member:
        by = state.pause_requested_by
        return state.team.member(by) if by else state.team.first_human

    def _find_owner(self, state: State) -> Member:
        asked_by = state.slice.asked_by
        return state.team.member(asked_by) if asked_by else state.team.first_human


def _with_guess(guess: ControlAction | None, choices: tuple[str, ...]) -> tuple[str, ...]:
    """The choices for an input that was not understood, the likeliest first. To cancel and to abort are the same."""
    return (guess, *(choice for choice in choices if (guess, choice) != ("cancel", "abort"))) if guess else choices
