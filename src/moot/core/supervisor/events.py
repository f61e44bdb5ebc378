"""The facts of the supervisor flow (supervisor: decision, bounds, state, humans)."""

from typing import Any, ClassVar, Literal

from msgspec import Struct

from moot.core.supervisor.decision import Decision, Fault
from moot.core.supervisor.state_update import Objection

# precondition: what the choice needs is missing; quality_fallback: the supervisor was silent after a failed review;
# human: somebody chose, or spoke when the work was about to end
Correction = Literal["precondition", "quality_fallback", "human"]
Outcome = Literal["complete", "partial", "cancelled"]


class ToolCall(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What an agent wants done between its turns. `call_id` is Moot's, `id` what the agent calls it."""

    call_id: str
    name: str
    args: dict[str, Any] = {}
    id: str = ""


class SupervisionStarted(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A job begins, with a shared state of its own."""

    event: ClassVar[str] = "supervisor.started"
    goal: str
    asked_by: str
    is_deferred: bool = False  # the first of those that were put off


class InputNoted(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What somebody said about the running job: the supervisor hears it when it decides next."""

    event: ClassVar[str] = "supervisor.input_noted"
    member: str
    text: str


class SupervisorDecided(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`next` acts now. `corrected_from` is what the supervisor chose, where that is not what happens."""

    event: ClassVar[str] = "supervisor.decided"
    decision: Decision
    next: str
    member: str | None = None  # who decided: the supervisor or a human; nobody when Moot had to
    turn_id: str = ""
    corrected_from: str | None = None
    correction: Correction | None = None


class SupervisorUndecided(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A turn of the supervisor without a usable decision, the `count`th in a row."""

    event: ClassVar[str] = "supervisor.undecided"
    turn_id: str
    member: str
    fault: Fault
    given: str
    count: int


class StateUpdated(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Keys of the shared state: written by an agent, by a human (an output edited, an answer given), or by Moot."""

    event: ClassVar[str] = "supervisor.state_updated"
    changes: dict[str, Any]
    agent: str | None = None
    member: str | None = None
    turn_id: str = ""
    refused: dict[str, Objection] = {}


class ToolsCalled(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The `round`th time in a row that the agent wants tools; it acts again when all have answered."""

    event: ClassVar[str] = "supervisor.tools_called"
    agent: str
    node: str
    member: str
    turn_id: str
    round: int
    calls: tuple[ToolCall, ...]


class ToolCompleted(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A call has its result, or its error."""

    event: ClassVar[str] = "supervisor.tool_completed"
    call_id: str
    result: Any = None
    error: str = ""


class Reviewed(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`iteration`: reviews so far that did not approve. `fallback`: whom the scores point at, a hint."""

    event: ClassVar[str] = "supervisor.reviewed"
    approved: bool
    iteration: int
    fallback: str | None = None
    agent: str = ""
    member: str | None = None


class SupervisionEnded(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The job is over; the session waits for the next one."""

    event: ClassVar[str] = "supervisor.ended"
    outcome: Outcome
    reason: str
    partial: bool = False


SupervisorFact = (
    SupervisionStarted
    | InputNoted
    | SupervisorDecided
    | SupervisorUndecided
    | StateUpdated
    | ToolsCalled
    | ToolCompleted
    | Reviewed
    | SupervisionEnded
)
