"""What a session can be asked to do; it may refuse. The time comes with the command, so that deciding needs no clock.

People and programs send the first group; workers report with the second; timers fire the third.
`by` is the human that the connection speaks for, where it is known.
"""

from typing import Any, Literal

from msgspec import Struct

from moot.core.events import Option
from moot.core.intent import IntentAnalysis
from moot.core.team import Language, Team
from moot.core.usage import Usage

QueueAction = Literal["skip", "clear", "move"]


class CreateSession(Struct, frozen=True, kw_only=True, gc=False):
    team: Team
    title: str = ""


class Post(Struct, frozen=True, kw_only=True, gc=False):
    """Anything a person typed: a message with its markers, or a slash command."""

    text: str
    by: str | None = None


class Answer(Struct, frozen=True, kw_only=True, gc=False):
    step_id: str
    by: str | None = None
    confirmed: bool | None = None
    choice: str | None = None
    answer: str | None = None
    tasks: tuple[Any, ...] | None = None  # as they were edited; checked like any plan
    selected_ids: tuple[str, ...] | None = None
    custom_input: str | None = None
    state: dict[str, Any] | None = None  # an agent's output as it was edited


class End(Struct, frozen=True, kw_only=True, gc=False):
    by: str | None = None


class Pause(Struct, frozen=True, kw_only=True, gc=False):
    by: str | None = None


class Resume(Struct, frozen=True, kw_only=True, gc=False):
    by: str | None = None


class Retry(Struct, frozen=True, kw_only=True, gc=False):
    by: str | None = None


class CancelTurn(Struct, frozen=True, kw_only=True, gc=False):
    by: str | None = None


class ChangeQueue(Struct, frozen=True, kw_only=True, gc=False):
    """skip: the head, or `member`; clear: all; move: `member` to position `to`."""

    action: QueueAction
    by: str | None = None
    member: str | None = None
    to: int = 0


class SetLanguage(Struct, frozen=True, kw_only=True, gc=False):
    language: Language
    by: str | None = None


class Rename(Struct, frozen=True, kw_only=True, gc=False):
    """Also when the session is over: it is still in the list."""

    title: str
    by: str | None = None


class SolveTasks(Struct, frozen=True, kw_only=True, gc=False):
    """Run these tasks: no planning, no confirmation."""

    tasks: tuple[Any, ...]
    question: str = ""
    by: str | None = None


class CancelTask(Struct, frozen=True, kw_only=True, gc=False):
    task_id: str
    by: str | None = None


class RestartTask(Struct, frozen=True, kw_only=True, gc=False):
    task_id: str
    member: str | None = None  # who has it from now on
    by: str | None = None


class CancelPlan(Struct, frozen=True, kw_only=True, gc=False):
    by: str | None = None


class Replan(Struct, frozen=True, kw_only=True, gc=False):
    feedback: str = ""
    by: str | None = None


class ReportUnderstanding(Struct, frozen=True, kw_only=True, gc=False):
    """What an input means; `fallback_reason` when the rules had to answer for a model."""

    input_id: str
    analysis: IntentAnalysis
    fallback_reason: str | None = None


class AckDispatch(Struct, frozen=True, kw_only=True, gc=False):
    """`place`: in the line of tasks that wait for room; None when the task starts at once."""

    dispatch_id: str
    place: int | None = None


class NackDispatch(Struct, frozen=True, kw_only=True, gc=False):
    dispatch_id: str
    reason: str


class StartTask(Struct, frozen=True, kw_only=True, gc=False):
    dispatch_id: str


class ReportStep(Struct, frozen=True, kw_only=True, gc=False):
    turn_id: str
    thought: str | None = None
    action: str | None = None
    observation: str | None = None
    total: int | None = None  # steps of a task, where the worker knows

    @property
    def text(self) -> str:
        return self.thought or self.action or self.observation or ""


class AskHuman(Struct, frozen=True, kw_only=True, gc=False):
    """A worker needs a permission. The same `key` in the same turn is the same question: it is put once.

    The first option is what a plain yes means; `default` is the option for a no, which nobody's answer is too. `asked`
    are the steps that this worker has asked for: those of another one, before a crash, nobody waits for any more.
    """

    turn_id: str
    key: str
    question: str
    options: tuple[Option, ...] = ()
    default: str | None = None
    asked: tuple[str, ...] | None = None


class CompleteTurn(Struct, frozen=True, kw_only=True, gc=False):
    """`turn_id` may be a dispatch id. `plan`, `patches` and `review` are results of planners and reviewers that are no
    text; `state`, `tool_calls` and `ask` those of the supervisor flow. All of it is checked by who takes it."""

    turn_id: str
    text: str
    usage: Usage = Usage()
    plan: dict[str, Any] | None = None
    patches: tuple[Any, ...] | None = None
    review: dict[str, Any] | None = None
    state: dict[str, Any] | None = None
    tool_calls: tuple[Any, ...] | None = None
    ask: dict[str, Any] | None = None


class CompleteTool(Struct, frozen=True, kw_only=True, gc=False):
    """What a tool gave, or why it gave nothing."""

    call_id: str
    result: Any = None
    error: str = ""


class FailTurn(Struct, frozen=True, kw_only=True, gc=False):
    turn_id: str
    error_type: str
    message: str
    retry_after_s: float = 0.0
    usage: Usage = Usage()


class ExpireTurn(Struct, frozen=True, kw_only=True, gc=False):
    turn_id: str


class ExpireStep(Struct, frozen=True, kw_only=True, gc=False):
    step_id: str


class ExpireDispatch(Struct, frozen=True, kw_only=True, gc=False):
    """Nobody took the task in time, or nobody started it."""

    dispatch_id: str


class ExpireLease(Struct, frozen=True, kw_only=True, gc=False):
    """The worker is gone; without a dispatch id all of them are: the process that ran them has ended."""

    dispatch_id: str | None = None


class EndWait(Struct, frozen=True, kw_only=True, gc=False):
    """The delay before a retry is over; `number` tells it from another."""

    number: int


class ProbeMember(Struct, frozen=True, kw_only=True, gc=False):
    member: str


class EndGrace(Struct, frozen=True, kw_only=True, gc=False):
    """What ran when a pause was asked for had its time."""


PlanCommand = SolveTasks | CancelTask | RestartTask | CancelPlan | Replan
HumanCommand = (
    Post | Answer | End | Pause | Resume | Retry | CancelTurn | ChangeQueue | SetLanguage | Rename | PlanCommand
)
WorkerCommand = (
    ReportStep
    | AskHuman
    | CompleteTurn
    | CompleteTool
    | FailTurn
    | AckDispatch
    | NackDispatch
    | StartTask
    | ReportUnderstanding
)
TimerCommand = CompleteTool | ExpireTurn | ExpireStep | ExpireDispatch | ExpireLease | EndWait | ProbeMember | EndGrace
Command = CreateSession | HumanCommand | WorkerCommand | TimerCommand
