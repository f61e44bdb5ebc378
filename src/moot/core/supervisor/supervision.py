"""What a job of the supervisor flow is: whose turn it is, what they share, what was decided."""

from typing import Any

from msgspec import Struct

from moot.core.supervisor.briefing import Taken
from moot.core.supervisor.decision import Decision, Unusable
from moot.core.supervisor.events import Outcome, ToolCall
from moot.core.supervisor_settings import SUPERVISOR

DECISIONS = 20  # the newest, for the prompt
REVIEW_OUTPUT, STUCK = "review_output", "supervisor_stuck"  # codes of questions about the job
INPUTS = 20  # of people, the newest, until the supervisor has decided on them


class Heard(Struct, frozen=True, array_like=True, gc=False):
    """Something a human said about the job."""

    member: str
    text: str


class ToolResult(Struct, frozen=True, kw_only=True, gc=False):
    """What a tool gave, or why it did not."""

    call: ToolCall
    result: Any = None
    error: str = ""


class Supervision(Struct, frozen=True, kw_only=True, gc=False):
    """`node` is whose turn it is: it acts, or it is the next to act."""

    goal: str
    asked_by: str
    outcome: Outcome | None = None
    node: str = SUPERVISOR
    state: dict[str, Any] = {}
    decision: Decision | None = None  # the newest that counts: what the chosen agent is told
    decisions: tuple[Taken, ...] = ()
    unusable: Unusable | None = None
    unusable_in_a_row: int = 0
    is_fallback_used: bool = False  # since the last review
    steps: int = 0  # turns of any AI since a human last let a job that was stuck go on
    tool_round: int = 0
    calls: dict[str, ToolCall] = {}  # under way, by call id
    caller: str = ""  # the member whose tools they are
    results: tuple[ToolResult, ...] = ()  # for the node's next turn
    answers: dict[str, Any] = {}  # what people answered, by the question's key
    feedback: str = ""  # of the human who rejected the node's output
    heard: tuple[Heard, ...] = ()  # since the supervisor's turn began
    given: tuple[Heard, ...] = ()  # what the supervisor was told and has not decided on yet

    @property
    def is_active(self) -> bool:
        return self.outcome is None
