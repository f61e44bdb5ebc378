"""What a session can be asked to do. It may refuse.

People and programs send a `HumanCommand`, workers report with a `WorkerCommand`, timers fire a `TimerCommand`. The time
is an argument of `decide`, so that deciding needs no clock. Commands that only one flow knows are in its package.
"""

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct

from moot.core.intake.intent import IntentAnalysis
from moot.core.session.attachments import Attachment, FileRef
from moot.core.session.desk_events import How
from moot.core.session.events import Option, PauseTrigger
from moot.core.session.grants import Grant
from moot.core.session.principal import Principal
from moot.core.session.team import Language, Team
from moot.core.session.tool_use import ToolUse
from moot.core.session.usage import NO_USAGE, Usage

QueueAction = Literal["skip", "clear", "move"]


class Command(Struct, frozen=True, kw_only=True, gc=False):
    """The base of every command."""

    is_interim: ClassVar[bool] = False  # reported in the middle of a turn, by a worker that may be cancelled meanwhile


class CreateSession(Command, frozen=True, kw_only=True):
    team: Team
    title: str = ""
    session_id: str = ""


class HumanCommand(Command, frozen=True, kw_only=True):
    """Sent by a person or a program. `by` is the human that the sender speaks for, if that is known.

    `principal` is the holder of the token that the command came with. A command without one comes from this process
    itself, which may do anything.

    `event` is the name of the client frame that carries the command. Docstrings and descriptions of fields are shown in
    the documents of the protocol (`moot.protocol.command_table`).
    """

    event: ClassVar[str] = ""

    by: str | None = None
    principal: Principal | None = None


class Post(HumanCommand, frozen=True, kw_only=True):
    """What a person types: text with markers and mentions, or a slash command."""

    event: ClassVar[str] = "user.message"
    text: str
    to: Annotated[tuple[str, ...], Meta(description="ids of members who speak next, as `[NEXT:]` names them")] = ()
    inputs: Annotated[
        dict[str, Any] | None,
        Meta(description="values of keys that people give, by key: the team's `supervisor.inputs`"),
    ] = None
    step_id: Annotated[
        str | None, Meta(description="the open question that the sender looks at, if the text answers one")
    ] = None
    attachments: Annotated[
        tuple[FileRef, ...],
        Meta(description="files that were uploaded to the session before, by the hash of their content"),
    ] = ()
    files: tuple[Attachment, ...] = ()  # the attachments as they are stored; no frame can set this
    interrupt: Annotated[
        bool, Meta(description="stop the running turn of the member that it is for; its next turn begins with this")
    ] = False


class Answer(HumanCommand, frozen=True, kw_only=True):
    """The answer to an open step."""

    event: ClassVar[str] = "user.response"
    step_id: str
    confirmed: Annotated[bool | None, Meta(description="yes or no, where the step asks for that")] = None
    choice: Annotated[str | None, Meta(description="the id of the chosen option")] = None
    answer: Annotated[str | None, Meta(description="a comment, or the answer in words")] = None
    tasks: tuple[Any, ...] | None = None  # the edited plan; checked like any plan
    selected_ids: Annotated[tuple[str, ...] | None, Meta(description="the options chosen for an agent")] = None
    custom_input: Annotated[str | None, Meta(description="the answer for an agent in words")] = None
    state: Annotated[dict[str, Any] | None, Meta(description="an agent's output as it was edited")] = None


class End(HumanCommand, frozen=True, kw_only=True):
    """End the session; running turns are killed."""

    event: ClassVar[str] = "user.end"


class Pause(HumanCommand, frozen=True, kw_only=True):
    """Let what runs finish, then give the floor to people. `trigger` says which key or button was used."""

    event: ClassVar[str] = "user.pause"
    trigger: PauseTrigger = "pause_button"


class Resume(HumanCommand, frozen=True, kw_only=True):
    """Continue; after a limit was reached, with the same allowance again."""

    event: ClassVar[str] = "user.resume"


class Retry(HumanCommand, frozen=True, kw_only=True):
    """Repeat the turn that failed or was cancelled last."""

    event: ClassVar[str] = "user.retry"


class CancelTurn(HumanCommand, frozen=True, kw_only=True):
    """Stop what runs: the turn, or all of a plan. The next message starts anew."""

    event: ClassVar[str] = "user.cancel"


class Stop(HumanCommand, frozen=True, kw_only=True):
    """Stop what runs, at once. Nothing is given up: the queue stays, unfinished tasks start again with user.resume."""

    event: ClassVar[str] = "user.stop"


class ChangeQueue(HumanCommand, frozen=True, kw_only=True):
    """Change who speaks next. `skip` removes the head or `member`, `clear` everyone, `move` puts `member` at `to`."""

    event: ClassVar[str] = "user.queue"
    action: QueueAction
    member: str | None = None
    to: int = 0


class SetLanguage(HumanCommand, frozen=True, kw_only=True):
    """Change the language of the session. Clients type `/lang` for it: no frame of its own asks for this."""

    language: Language


class Rename(HumanCommand, frozen=True, kw_only=True):
    """Give the session another title, also after it has ended: it is still in the list."""

    event: ClassVar[str] = "user.rename"
    title: str


class WorkerCommand(Command, frozen=True, kw_only=True):
    """Reported by a worker, or on its behalf."""


class ReportUnderstanding(WorkerCommand, frozen=True, kw_only=True):
    """What an input means. `fallback_reason` is set if the rules had to answer for a model."""

    input_id: str
    analysis: IntentAnalysis
    fallback_reason: str | None = None
    usage: Usage = NO_USAGE


class OfferReport(WorkerCommand, frozen=True, kw_only=True):
    """About a task that was offered, before it starts."""

    dispatch_id: str


class AckDispatch(OfferReport, frozen=True, kw_only=True):
    """The worker takes the task. `place` is its position in the queue of tasks; None if it starts at once."""

    is_interim: ClassVar[bool] = True

    place: int | None = None


class NackDispatch(OfferReport, frozen=True, kw_only=True):
    """The worker does not take the task."""

    reason: str


class StartTask(OfferReport, frozen=True, kw_only=True):
    """The worker starts the task."""

    is_interim: ClassVar[bool] = True


class TurnReport(WorkerCommand, frozen=True, kw_only=True):
    """About a turn, or about a task that was started: then `turn_id` is the id of its dispatch."""

    turn_id: str


class ReportStep(TurnReport, frozen=True, kw_only=True):
    """What an agent thinks, does or sees during its turn."""

    is_interim: ClassVar[bool] = True

    thought: str | None = None
    action: str | None = None
    observation: str | None = None
    tool: ToolUse | None = None
    diff: str | None = None
    total: int | None = None  # number of steps of a task, if the worker knows it

    @property
    def text(self) -> str:
        return self.thought or self.action or self.observation or (self.tool.title if self.tool else "")


class AskHuman(TurnReport, frozen=True, kw_only=True):
    """A worker needs a permission. The same `key` in the same turn is the same question: it is asked once.

    The first option is what a plain yes means. `default` is chosen when a human declines or does not answer in time.
    `asked` are the steps that this worker has asked for; those of an earlier worker, before a crash, are withdrawn.
    """

    is_interim: ClassVar[bool] = True

    key: str
    question: str
    options: tuple[Option, ...] = ()
    default: str | None = None
    asked: tuple[str, ...] | None = None
    tool: ToolUse | None = None  # what the permission is for, as data
    diff: str | None = None
    grant: Grant | None = None


class DeskReport(TurnReport, frozen=True, kw_only=True):
    """What a member does with Moot's own tools in the middle of its turn."""

    is_interim: ClassVar[bool] = True


class AskPeople(DeskReport, frozen=True, kw_only=True):
    """A member asks people. The same `key` in the same turn is the same question: it is asked once.

    `to` is the name of a human; None asks whoever answers. `asked`: as in `AskHuman`.
    """

    key: str
    question: str
    options: tuple[Option, ...] = ()
    to: str | None = None
    asked: tuple[str, ...] | None = None


class AskMember(DeskReport, frozen=True, kw_only=True):
    """A member asks a team-mate, by its name. A human is asked as by `AskPeople`."""

    key: str
    to: str
    question: str
    asked: tuple[str, ...] | None = None


class AwaitAnswer(DeskReport, frozen=True, kw_only=True):
    """The member waits no longer in this turn. `question_id` is that of a step or of a question to a team-mate."""

    question_id: str


class HandOver(DeskReport, frozen=True, kw_only=True):
    """A member names who speaks after its turn."""

    to: str
    reason: str = ""


class ReportBlocked(DeskReport, frozen=True, kw_only=True):
    """A member cannot do its work."""

    reason: str


class ShowFile(DeskReport, frozen=True, kw_only=True):
    """A member shows a file of its folder, which is stored already."""

    path: str
    file: Attachment
    caption: str = ""


class ReportDelivery(TurnReport, frozen=True, kw_only=True):
    """Whether the agent takes a message into its turn, and when."""

    is_interim: ClassVar[bool] = True

    number: int
    how: How


class CompleteTurn(TurnReport, frozen=True, kw_only=True):
    """The end of a turn. Planners and reviewers may return `plan`, `patches`, `review` or `evaluation` instead of text;
    members of the supervisor flow `state`, `tool_calls` and `ask`. These fields are untrusted: their reader validates
    them."""

    text: str
    usage: Usage = Usage()
    plan: dict[str, Any] | None = None
    patches: tuple[Any, ...] | None = None
    review: dict[str, Any] | None = None
    evaluation: dict[str, Any] | None = None
    state: dict[str, Any] | None = None
    tool_calls: tuple[Any, ...] | None = None
    ask: dict[str, Any] | None = None


TOO_MANY_QUESTIONS = "too_many_questions"  # the error type of a turn that asks for more than `limits.PERMISSIONS`


class FailTurn(TurnReport, frozen=True, kw_only=True):
    """A turn failed. `error_type` says whether to retry it; `usage` is what it cost."""

    error_type: str
    message: str
    retry_after_s: float = 0.0
    usage: Usage = Usage()
    said: str = ""  # what the member wrote, if it was not streamed


class ReportSpending(WorkerCommand, frozen=True, kw_only=True):
    """What a turn had cost when it was stopped. The session may have ended meanwhile."""

    is_interim: ClassVar[bool] = True

    turn_id: str
    member: str
    usage: Usage


class CompleteTool(WorkerCommand, frozen=True, kw_only=True):
    """The result of a tool, or why there is none."""

    call_id: str
    result: Any = None
    error: str = ""


class TimerCommand(Command, frozen=True, kw_only=True):
    """Sent when a deadline has passed."""


class ExpireTurn(TimerCommand, frozen=True, kw_only=True):
    """A turn took too long."""

    turn_id: str


class WakeTurn(TimerCommand, frozen=True, kw_only=True):
    """The time until which a turn was parked has come."""

    turn_id: str


class ExpireStep(TimerCommand, frozen=True, kw_only=True):
    """A question was not answered in time."""

    step_id: str


class ExpireDispatch(TimerCommand, frozen=True, kw_only=True):
    """A task that was offered was not taken or not started in time."""

    dispatch_id: str


class ExpireLease(TimerCommand, frozen=True, kw_only=True):
    """The worker of a dispatch is gone; without an id all workers are, because their process has ended.

    `kept` are the dispatches whose workers live on elsewhere.
    """

    dispatch_id: str | None = None
    kept: tuple[str, ...] = ()
