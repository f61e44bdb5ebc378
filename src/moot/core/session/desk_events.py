"""The facts of the middle of a turn: what a member does there with Moot's own tools, and what people tell it there.

Its questions to people are steps (`StepAsked.member`). A question to a team-mate opens an aside: a turn in which the
team-mate answers, beside the turn that waits for it.
"""

from typing import ClassVar, Literal

from moot.core.facts import Fact
from moot.core.session.attachments import Attachment
from moot.core.session.usage import NO_USAGE, Usage

# How a message reached a member whose turn runs: at once, when its agent next looks for one, or not in this turn.
# `next_turn`: the member's next turn begins with it. `routed`: it is understood and routed like any other input.
How = Literal["now", "boundary", "next_turn", "routed"]


class MemberAsked(Fact, frozen=True, kw_only=True):
    """A member asked a team-mate something in the middle of its turn."""

    event: ClassVar[str] = "member.asked"
    author: ClassVar[str] = "member"
    question_id: str
    turn_id: str
    member: str
    to: str
    question: str


class MemberAnswered(Fact, frozen=True, kw_only=True):
    """A team-mate's question was answered, or could not be (`error_type`)."""

    event: ClassVar[str] = "member.answered"
    author: ClassVar[str] = "member"
    question_id: str
    member: str  # who was asked
    to: str  # who had asked
    answer: str
    error_type: str = ""
    turn_id: str = ""  # of the aside; empty if none was begun


class AnswerAwaited(Fact, frozen=True, kw_only=True):
    """A member was told to end its turn: nobody has answered its question yet, and the answer will come later."""

    event: ClassVar[str] = "member.awaits_answer"
    author: ClassVar[str] = "member"
    question_id: str
    turn_id: str
    member: str


class HandedOver(Fact, frozen=True, kw_only=True):
    """A member named who speaks after its turn. It counts like `[NEXT:]` when the turn is completed."""

    event: ClassVar[str] = "turn.handed_over"
    author: ClassVar[str] = "member"
    turn_id: str
    member: str
    to: str
    reason: str = ""


class BlockReported(Fact, frozen=True, kw_only=True):
    """A member said that it cannot do its work. Its turn fails when it ends."""

    event: ClassVar[str] = "turn.blocked"
    author: ClassVar[str] = "member"
    turn_id: str
    member: str
    reason: str


class FileShown(Fact, frozen=True, kw_only=True):
    """A member showed people a file of its folder. `path` is relative to that folder."""

    event: ClassVar[str] = "turn.file_shown"
    author: ClassVar[str] = "member"
    turn_id: str
    member: str
    path: str
    file: Attachment
    caption: str = ""


class TurnParked(Fact, frozen=True, kw_only=True):
    """A turn waits: until a usage limit is over (`until`), or for the answer to what its member asked.

    It has not ended: the same turn goes on.
    """

    event: ClassVar[str] = "turn.parked"
    author: ClassVar[str] = "member"
    turn_id: str
    member: str
    until: str | None
    reason: str  # usage_limit, question
    message: str = ""
    usage: Usage = NO_USAGE  # of what it did so far


class TurnUnparked(Fact, frozen=True, kw_only=True):
    """A parked turn goes on: its time has come, somebody says so, or what it waited for was answered.

    `interrupted`: it was not parked; another worker begins it again with what a person said to its member.
    """

    event: ClassVar[str] = "turn.unparked"
    author: ClassVar[str] = "by"
    turn_id: str
    member: str
    reason: str  # time, hand, answer, interrupted
    by: str | None = None


class MessageOffered(Fact, frozen=True, kw_only=True):
    """A person wrote to a member whose turn runs: its agent is given the message there, if it can take one.

    `is_queued`: the message put the member into the queue, in case it cannot. `is_kept`: then the member's next turn
    begins with it.
    """

    event: ClassVar[str] = "turn.message"
    author: ClassVar[str] = "by"
    turn_id: str
    member: str
    number: int  # of the messages into this turn
    by: str
    text: str
    is_queued: bool = False
    is_kept: bool = False
    attachments: tuple[Attachment, ...] = ()


class MessageDelivered(Fact, frozen=True, kw_only=True):
    """How a message reached a member whose turn ran when it was written."""

    event: ClassVar[str] = "turn.message_delivered"
    author: ClassVar[str] = "member"
    turn_id: str
    member: str
    number: int
    how: How


DESK_FACTS: tuple[type[Fact], ...] = (
    MemberAsked,
    MemberAnswered,
    AnswerAwaited,
    HandedOver,
    BlockReported,
    FileShown,
    TurnParked,
    TurnUnparked,
    MessageOffered,
    MessageDelivered,
)
