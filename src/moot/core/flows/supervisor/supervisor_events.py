"""The facts of the supervisor flow."""

from typing import Any, ClassVar, Literal

from msgspec import field

from moot.core.facts import Fact
from moot.core.flows.supervisor.decision import Decision, Fault
from moot.core.flows.supervisor.deliverable import Deliverable
from moot.core.flows.supervisor.shapes import Misfit
from moot.core.flows.supervisor.state_update import Objection
from moot.core.session.events import ToolCall

# precondition: the chosen agent's precondition is missing; quality_fallback: the supervisor did not decide after a
# failed review; human: a human chose, or spoke when the job was about to end
Correction = Literal["precondition", "quality_fallback", "human"]
Outcome = Literal["complete", "partial", "cancelled"]


class SupervisionStarted(Fact, frozen=True, kw_only=True):
    """A job began, with its own shared state."""

    event: ClassVar[str] = "supervisor.started"
    goal: str
    asked_by: str
    is_deferred: bool = False  # the goal is the first of the deferred inputs
    number: int = 0  # of the job in the session, from 1
    thread_id: str = ""  # of this job; the state's `threadId`
    creative_id: str = ""  # of what the job makes; the state's `creativeId`


class InputNoted(Fact, frozen=True, kw_only=True):
    """A human said something about the running job. The supervisor gets it for its next decision."""

    event: ClassVar[str] = "supervisor.input_noted"
    author: ClassVar[str] = "member"
    member: str
    text: str


class SupervisorDecided(Fact, frozen=True, kw_only=True):
    """It was decided who acts next. `corrected_from` is the supervisor's choice, if `next` is another.

    The texts of `decision` are short, for people; `guidance` and `context` are the whole texts, if those were cut.
    """

    event: ClassVar[str] = "supervisor.decided"
    author: ClassVar[str] = "member"
    decision: Decision
    next: str
    member: str | None = None  # who decided: the supervisor or a human; None if Moot did
    turn_id: str = ""
    corrected_from: str | None = None
    correction: Correction | None = None
    repeated: int = 0  # how often in a row the same choice was corrected like this
    followed: int = 0  # how often the agent that failed reviews suggest was chosen
    guidance: str = ""
    context: str = ""


class SupervisorUndecided(Fact, frozen=True, kw_only=True):
    """The supervisor's turn had no usable decision, for the `count`th time in a row."""

    event: ClassVar[str] = "supervisor.undecided"
    author: ClassVar[str] = "member"
    turn_id: str
    member: str
    fault: Fault
    given: str
    count: int


class StateUpdated(Fact, frozen=True, kw_only=True):
    """Keys of the shared state were written: by an agent, by a human (edit, answer or input), or by Moot.

    Inputs that come while no job runs are for the next one.
    With `misfits` the agent acts again, because its output lacks them; `sent_back` says how often in a row.
    `is_after_review`: the last review is older than these changes.
    """

    event: ClassVar[str] = "supervisor.state_updated"
    author: ClassVar[str] = "member"
    changes: dict[str, Any]
    agent: str | None = None
    member: str | None = None
    turn_id: str = ""
    refused: dict[str, Objection] = field(default_factory=dict)
    misfits: tuple[Misfit, ...] = ()
    sent_back: int = 0
    is_after_review: bool = False


class ToolsCalled(Fact, frozen=True, kw_only=True):
    """An agent called tools, for the `round`th time in a row. It acts again when all have returned."""

    event: ClassVar[str] = "supervisor.tools_called"
    author: ClassVar[str] = "member"
    agent: str
    node: str
    member: str
    turn_id: str
    round: int
    calls: tuple[ToolCall, ...]


class ToolCompleted(Fact, frozen=True, kw_only=True):
    """A tool returned its result or an error."""

    event: ClassVar[str] = "supervisor.tool_completed"
    call_id: str
    result: Any = None
    error: str = ""


class Reviewed(Fact, frozen=True, kw_only=True):
    """A review ended. `iteration`: reviews so far that did not approve. `fallback`: the agent the scores suggest."""

    event: ClassVar[str] = "supervisor.reviewed"
    author: ClassVar[str] = "member"
    approved: bool
    iteration: int
    fallback: str | None = None
    agent: str = ""
    member: str | None = None


class SupervisionEnded(Fact, frozen=True, kw_only=True):
    """The job ended; the session waits for the next one. `deliverable` is its result, if it was not cancelled."""

    event: ClassVar[str] = "supervisor.ended"
    outcome: Outcome
    reason: str
    partial: bool = False
    deliverable: Deliverable | None = None


SUPERVISOR_FACTS: tuple[type[Fact], ...] = (
    SupervisionStarted,
    InputNoted,
    SupervisorDecided,
    SupervisorUndecided,
    StateUpdated,
    ToolsCalled,
    ToolCompleted,
    Reviewed,
    SupervisionEnded,
)
