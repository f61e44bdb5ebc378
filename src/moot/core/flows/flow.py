"""The interface of a flow: everything that differs between a chat, a plan and a supervisor's job.

A flow is a package beside this file. It owns its part of the state (a `Slice`), its facts and how they fold, the
commands that only it knows, its effects, the inputs of its turns, its questions, its view and its lines. One entry in
`registry.py` registers it: the kernel, the engine, the gateway and the interfaces call a `Flow` and never test
its name.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from typing import Any, ClassVar

from moot.core.draft import Draft
from moot.core.effects import Effect
from moot.core.errors import Refused
from moot.core.fact_lines import Lines
from moot.core.facts import Fact, Fold, Follow
from moot.core.flows.turns import TurnInput, plain_input
from moot.core.intake.intent import CurrentTask, KnownTask, RoutingDecision, WorkflowStatus
from moot.core.intake.markers import Markers
from moot.core.session import typed_answers
from moot.core.session.commands import (
    Answer,
    ChangeQueue,
    Command,
    CompleteTurn,
    FailTurn,
    HumanCommand,
    ReportStep,
    ReportUnderstanding,
    TurnReport,
)
from moot.core.session.events import NoticePosted, PauseTrigger, StepAsked
from moot.core.session.session_lines import SESSION_LINES
from moot.core.session.settings import UnderstandingType
from moot.core.session.state import Offered, Slice, State, Turn
from moot.core.session.team import Member, Team


class Flow(ABC):
    """The rules of one flow. Methods that take a draft add facts to it, or raise Refused and change nothing.

    Every path through such a method ends in a running turn, in a named human who has the floor, or at the end of the
    session: a session is never stuck.
    """

    name: ClassVar[str]
    slice_type: ClassVar[type[Slice]]
    facts: ClassVar[tuple[type[Fact], ...]] = ()
    commands: ClassVar[tuple[type[HumanCommand], ...]] = ()  # that only this flow obeys
    fold: ClassVar[Fold[State]]  # the flow's own facts
    follow: ClassVar[Follow[State]]  # facts of every session that change the slice too, after the session's own fold
    lines: ClassVar[Lines] = SESSION_LINES  # its facts as text for people
    default_understanding: ClassVar[UnderstandingType] = "rules"  # of inputs, unless the team file says otherwise
    tells_tools: ClassVar[bool] = False  # whether members are told which tools they may call between turns
    leading_roles: ClassVar[frozenset[str]] = frozenset()  # roles of members that direct others
    is_steered: ClassVar[bool] = False  # whether people give goals and steer work, or else talk with the members
    has_queue: ClassVar[bool] = False  # whether members hand over to each other
    parks_for_answers: ClassVar[bool] = True  # a turn that ends while its question is open goes on with the answer

    def check(self, team: Team) -> None:
        """Raise Refused if this flow cannot run with this team."""
        return

    # what people do

    @abstractmethod
    def receive(self, draft: Draft, speaker: Member, raw: str, markers: Markers) -> None:
        """Take a message from a human."""

    def interrupt(self, draft: Draft, speaker: Member, raw: str, markers: Markers) -> None:
        """Take a message that stops its addressee's running turn; the turn then begins again with the message."""
        self.receive(draft, speaker, raw, markers)

    @abstractmethod
    def understand(self, draft: Draft, command: ReportUnderstanding) -> None:
        """Act on what an input was understood to mean."""

    @abstractmethod
    def answer(self, draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
        """Take the answer to one of the flow's own questions."""

    def takes_text(self, question: typed_answers.Asked) -> bool:
        """Whether any text that a person types answers this question of the log, or of a view."""
        return typed_answers.takes_text(question)

    @abstractmethod
    def expire(self, draft: Draft, step: StepAsked) -> None:
        """Act on a question that nobody answered in time. It is closed already."""

    @abstractmethod
    def pause(self, draft: Draft, by: Member | None, trigger: PauseTrigger = "pause_button") -> None: ...

    @abstractmethod
    def resume(self, draft: Draft) -> None: ...

    @abstractmethod
    def retry(self, draft: Draft) -> None: ...

    @abstractmethod
    def cancel(self, draft: Draft, by: Member | None) -> None: ...

    @abstractmethod
    def halt(self, draft: Draft, by: Member | None) -> None:
        """Stop what runs at once, without giving anything up, and give a human the floor."""

    @abstractmethod
    def stop(self, draft: Draft, reason: str) -> None:
        """End what runs, because the session ends."""

    @abstractmethod
    def status(self, state: State) -> NoticePosted:
        """Return a notice about how far the session is."""

    def change_queue(self, draft: Draft, command: ChangeQueue) -> None:
        raise Refused("queue_empty")

    def ask_to_clear_queue(self, draft: Draft, by: Member | None) -> None:
        raise Refused("queue_empty")

    def obey(self, draft: Draft, command: HumanCommand, by: Member | None) -> None:
        """Carry out a command that only some flows know."""
        raise Refused("not_in_this_flow", detail=command.event)

    # what members do

    @abstractmethod
    def complete_turn(self, draft: Draft, turn: Turn, command: CompleteTurn) -> None: ...

    @abstractmethod
    def fail_turn(self, draft: Draft, turn: Turn, command: FailTurn) -> None: ...

    def take_answer(self, draft: Draft, member: Member, by: Member, answer: str, turn_id: str | None) -> None:
        """Take the answer to a question whose turn has ended. It starts the next turn of the member that asked.

        Args:
            by: who answers, a human or a team-mate.
            turn_id: of the aside in which a team-mate answered.
        """
        return

    def note_delivery(self, draft: Draft, turn_id: str, message: Offered, *, is_delivered: bool) -> None:
        """Act on whether a message reached a member in its running turn, which is logged already."""
        return

    def hop_limit(self, state: State) -> int:
        """How many AI turns there may be since a human last spoke; 0 = no limit."""
        return 0

    def fall_back(self, draft: Draft, turn_id: str, command: FailTurn) -> bool:
        """Give the work of a member whose usage limit is reached to its next fallback. False if none is left."""
        return False

    def step_turn(self, draft: Draft, turn: Turn, step: ReportStep) -> bool:
        """Log a step under a name of its own. `False` leaves it to the session, as `turn.step`."""
        return False

    def obey_worker(self, draft: Draft, command: TurnReport) -> bool:
        """Take a report about something that is under way and is not one of the session's turns.

        Returns `False` if the report is about nothing of this flow.
        """
        return False

    def take_inputs(self, draft: Draft, speaker: Member, inputs: Mapping[str, Any]) -> None:
        """Take the values that a message carries. Most flows have no use for any."""
        raise Refused("no_inputs", names=tuple(inputs))

    def obey_event(self, draft: Draft, command: Command) -> None:
        """Take a report or a timer that only some flows know."""
        raise Refused("stale_turn", detail=type(command).__name__)

    # called by the shell

    def effects(self, state: State) -> Iterable[Effect]:
        """Return the effects besides those of the session's turns and questions."""
        return ()

    @abstractmethod
    def turn_timeout_s(self, state: State) -> float: ...

    def turn_input(self, session_id: str, state: State, turn_id: str) -> TurnInput:
        """Return the input of a turn. Raises KeyError if the turn does not run."""
        turn = state.turn(turn_id)
        if turn is None:
            raise KeyError(turn_id)
        return plain_input(session_id, state, turn.turn_id, turn.member, turn.index, turn)

    def max_hops(self, team: Team) -> int:
        """Return how many AI turns may follow each other; 0 if this flow does not count them."""
        return 0

    def project(self, state: State) -> dict[str, Any]:
        """Return the flow's own part of the public view, by its field of `registry.FlowParts`."""
        return {}

    def recover(self, state: State, kept: Collection[str] = ()) -> Command | None:
        """Return the command to decide first after a restart, when the workers of the last process are gone.

        `kept` are the turns that workers on other machines still play.
        """
        return None

    # context for understanding inputs

    @abstractmethod
    def workflow_status(self, state: State) -> WorkflowStatus: ...

    def current_task(self, state: State) -> CurrentTask | None:
        """Return a summary of the work that is under way."""
        return None

    def last_activity(self, _state: State) -> str:
        """Return what members did last; empty if messages say it all."""
        return ""

    def known_tasks(self, state: State) -> tuple[KnownTask, ...]:
        """Return the parts of the work that a person may refer to."""
        return ()

    def adapt_route(self, decision: RoutingDecision, _state: State) -> RoutingDecision:
        """Return the routing decision with this flow's changes."""
        return decision
