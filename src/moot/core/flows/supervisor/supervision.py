"""The state of a job of the supervisor flow: whose turn it is, the shared state, the decisions."""

from typing import Any

from msgspec import Struct

from moot.core.flows.supervisor.briefing import Taken
from moot.core.flows.supervisor.decision import Decision, Instructions, Unusable
from moot.core.flows.supervisor.deliverable import Deliverable, Picture
from moot.core.flows.supervisor.shapes import Misfit
from moot.core.flows.supervisor.supervisor_events import Outcome
from moot.core.flows.supervisor.supervisor_settings import SUPERVISOR
from moot.core.session.events import ToolCall

DECISIONS = 20  # the newest, for the prompt
CHOICES = 50  # the newest, for screens
TOOL_CHARS = 2_000  # of a tool's arguments and its result, for screens
REVIEW_OUTPUT, STUCK = "review_output", "supervisor_stuck"  # codes of questions about the job
ASSETS = 40  # pictures of a job, the newest
INPUTS = 20  # of people, the newest, until the supervisor has decided on them


class Heard(Struct, frozen=True, array_like=True, gc=False):
    """Something a human said about the job."""

    member: str
    text: str


class ToolResult(Struct, frozen=True, kw_only=True, gc=False):
    """The result of a tool, or its error."""

    call: ToolCall
    result: Any = None
    error: str = ""


class Choice(Struct, frozen=True, kw_only=True, gc=False):
    """A decision, or a turn of the supervisor without one (`fault`). `number` counts them from the job's beginning."""

    number: int
    next: str = ""
    member: str | None = None
    guidance: str = ""
    focus_areas: tuple[str, ...] = ()
    corrected_from: str | None = None
    correction: str | None = None
    fault: str = ""
    given: str = ""


class ToolRun(Struct, frozen=True, kw_only=True, gc=False):
    """A tool that was called in the newest round; without `is_done` it runs. Arguments and result are JSON, cut."""

    call_id: str
    agent: str
    name: str
    args: str = ""
    round: int = 1
    is_done: bool = False
    result: str = ""
    error: str = ""


class Review(Struct, frozen=True, kw_only=True, gc=False):
    approved: bool
    iteration: int
    fallback: str | None = None


class Supervision(Struct, frozen=True, kw_only=True, gc=False):
    """A job. `node` is the supervisor or agent that acts, or acts next."""

    goal: str
    asked_by: str
    number: int = 0  # of this job in the session, from 1; 0 in logs of Moot 0.1
    outcome: Outcome | None = None
    node: str = SUPERVISOR
    state: dict[str, Any] = {}
    decision: Decision | None = None  # the newest valid one, for the chosen agent
    instructions: Instructions = Instructions()  # its whole texts, where `decision` has shortened ones
    repeated: int = 0  # how often in a row the same choice was corrected
    suggested: str = ""  # the agent that failed reviews suggested when it was last chosen
    followed: int = 0  # how often it was chosen because of them
    decisions: tuple[Taken, ...] = ()
    unusable: Unusable | None = None
    unusable_in_a_row: int = 0
    is_fallback_used: bool = False  # since the last review
    steps: int = 0  # AI turns since the job began, or since a human resumed it when it was stuck
    tool_round: int = 0
    calls: dict[str, ToolCall] = {}  # under way, by call id
    caller: str = ""  # the member who called them
    results: tuple[ToolResult, ...] = ()  # for the node's next turn
    answers: dict[str, Any] = {}  # what people answered, by the question's key
    feedback: str = ""  # of the human who rejected the node's output
    misfits: tuple[Misfit, ...] = ()  # what the node's last output lacked
    sent_back: int = 0  # how often in a row its output lacked something
    changed: tuple[str, ...] = ()  # keys that were written since the last review
    acted: tuple[str, ...] = ()  # agents that wrote them
    assets: dict[str, Picture] = {}  # pictures that tools made, by id
    heard: tuple[Heard, ...] = ()  # since the supervisor's turn began
    given: tuple[Heard, ...] = ()  # passed to the supervisor, which has not decided since
    # only for screens
    choices: tuple[Choice, ...] = ()
    writers: dict[str, str] = {}  # key of the shared state → the member who wrote it last
    tools: tuple[ToolRun, ...] = ()
    review: Review | None = None  # the newest
    reason: str = ""  # why the job ended
    deliverable: Deliverable | None = None  # its result

    @property
    def is_active(self) -> bool:
        return self.outcome is None

    @property
    def corrected_from(self) -> str:
        """The agent that the newest decision chose, if another one acts because a precondition is missing."""
        newest = self.choices[-1] if self.choices else None
        return (newest.corrected_from or "") if newest and newest.correction == "precondition" else ""

    @property
    def is_chosen_by_scores(self) -> bool:
        """Whether the newest choice is that of the scores."""
        return bool(self.choices) and self.choices[-1].correction == "quality_fallback"
