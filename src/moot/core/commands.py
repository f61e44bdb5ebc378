"""What a session can be asked to do; it may refuse. The time comes with the command, so that deciding needs no clock.

People and programs send the first group; workers report with the second; timers fire the third.
`by` is the human that the connection speaks for, where it is known.
"""

from typing import Literal

from msgspec import Struct

from moot.core.events import Usage
from moot.core.team import Language, Team

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


class ReportStep(Struct, frozen=True, kw_only=True, gc=False):
    turn_id: str
    thought: str | None = None
    action: str | None = None
    observation: str | None = None


class CompleteTurn(Struct, frozen=True, kw_only=True, gc=False):
    turn_id: str
    text: str
    usage: Usage = Usage()


class FailTurn(Struct, frozen=True, kw_only=True, gc=False):
    turn_id: str
    error_type: str
    message: str


class ExpireTurn(Struct, frozen=True, kw_only=True, gc=False):
    turn_id: str


class ExpireStep(Struct, frozen=True, kw_only=True, gc=False):
    step_id: str


HumanCommand = Post | Answer | End | Pause | Resume | Retry | CancelTurn | ChangeQueue | SetLanguage
WorkerCommand = ReportStep | CompleteTurn | FailTurn
TimerCommand = ExpireTurn | ExpireStep
Command = CreateSession | HumanCommand | WorkerCommand | TimerCommand
