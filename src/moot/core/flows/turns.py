"""The input of a turn. Each flow fills in its own part: an assignment, a brief."""

from collections.abc import Iterable
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from moot.core.flows.plan.assignment import Assignment
from moot.core.flows.supervisor.agent_brief import AgentBrief
from moot.core.session.attachments import Attachment, HandedFile
from moot.core.session.grants import Grant
from moot.core.session.state import NO_NOTES, Answered, Inquiry, Message, State, Turn
from moot.core.session.team import Language, Member
from moot.core.session.workspace import MAIN

Job = Literal[
    "chat",
    "plan",
    "patch",
    "solve",
    "review",
    "aggregate",
    "review_plan",
    "review_answer",
    "evaluate",
    "supervise",
    "act",
    "understand",
    "answer",
]
CONVERSATION: Final = "chat"


class TreeVisit(Struct, frozen=True, kw_only=True, gc=False):
    """The tree that a turn works in, where Moot makes trees.

    Args:
        tree: its name; empty for a folder that holds nothing.
        key: the same for a turn that runs again after a crash.
        started_at: when the turn started, and `seq` the event that says so: they are part of its commit.
        writes: the member may change files: they are recorded before and after the turn.
        moves_branch: the branch of the tree follows what is recorded.
        wants_diff: the member is shown what the tree changes.
    """

    tree: str
    key: str
    task_id: str = ""
    started_at: str = ""
    seq: int = 0
    writes: bool = False
    moves_branch: bool = False
    wants_diff: bool = False


class TurnInput(Struct, frozen=True, kw_only=True, gc=False):
    """Everything that a worker needs for one turn. `message` is the newest one with visible text."""

    session_id: str
    turn_id: str
    member: Member
    index: int
    message: Message | None
    history: tuple[Message, ...]
    team_task: str
    addressable: tuple[Member, ...]
    language: Language
    waiting: tuple[str, ...] = ()  # the members in the queue, who speak after this turn
    job: Job = CONVERSATION
    assignment: Assignment | None = None
    task_index: int = 0  # how many turns the member had before for this task
    task_turns: dict[str, int] = {}  # task id → how many it had before
    brief: AgentBrief | None = None  # in the supervisor flow
    grants: tuple[Grant, ...] = ()  # what people decided for the rest of the session about what this member may do
    unread: tuple[Message, ...] = ()  # what people wrote to the member in its last turn, before `message`
    messages: tuple[Message, ...] = ()  # what they wrote to it in this turn before this worker began
    asked: Inquiry | None = None  # in an aside: the question of a team-mate, which the turn answers
    answers: tuple[Answered, ...] = ()  # what the member asked before in this turn, and was told
    visit: TreeVisit | None = None  # where Moot makes trees
    folder: str = ""  # where the member works, if that is not the team's folder
    clone: str = ""  # the git directory of that folder
    diff: str = ""  # what is to be reviewed
    attachments: tuple[HandedFile, ...] = ()  # the files of `message` and `history`, the oldest first

    @property
    def is_conversation(self) -> bool:
        """Whether the member talks with the others, one turn after the other, rather than doing a job of its own.

        An agent may keep its conversation for the next such turn, and name who is next. Jobs stand alone: they may run
        at the same time, and their flow retries them.
        """
        return self.job == CONVERSATION

    @property
    def task_id(self) -> str:
        task = self.assignment.task if self.assignment else None
        return task.id if task else ""


def list_files(messages: Iterable[Message | None]) -> list[Attachment]:
    """Return the files of these messages, each once, the oldest first."""
    files = [file for message in messages if message and message.attachments for file in message.attachments]
    return list({file.sha256: file for file in files}.values()) if files else files


def plain_input(
    session_id: str, state: State, turn_id: str, member_id: str, index: int, turn: Turn | None = None
) -> TurnInput:
    """Return the parts of an input that every flow has. `turn` is None for an aside or a task of a plan."""
    notes, member = state.notes.get(turn_id, NO_NOTES), state.team.member(member_id)
    unread = turn.unread if turn else ()
    newest = _newest(state.history)
    if unread and (newest is None or not state.team.member(newest.member).is_human):  # what AIs said came after it
        newest, unread = unread[-1], unread[:-1]
    return TurnInput(
        session_id=session_id,
        turn_id=turn_id,
        member=member,
        index=index,
        message=newest,
        history=state.history if state.team.history else (),
        team_task=state.team_task,
        addressable=state.team.members,
        language=state.language,
        waiting=state.slice.queue[1],
        grants=state.grants.get(member_id, ()),
        answers=notes.answers,
        unread=unread,
        messages=tuple([Message(each.by, each.text) for each in notes.messages]) if notes.messages else (),
        visit=_find_visit(state, turn_id, member, turn),
    )


def _find_visit(state: State, turn_id: str, member: Member, turn: Turn | None) -> TreeVisit | None:
    """The tree of the session, an empty folder, or nothing: the folder of the team file is everybody's."""
    if not state.team.has_trees:
        return TreeVisit(tree="", key=turn_id) if state.team.workspace.type == "none" else None
    return TreeVisit(
        tree=MAIN,
        key=turn_id,
        started_at=turn.started_at if turn else "",
        seq=turn.seq if turn else 0,
        writes=member.edits,
    )


def aside_input(session_id: str, state: State, turn: Turn) -> TurnInput:
    """Return the input of an aside, in which a member answers a team-mate."""
    plain = plain_input(session_id, state, turn.turn_id, turn.member, turn.index)
    return replace(plain, job="answer", asked=state.inquiries.get(turn.question_id))


def _newest(history: tuple[Message, ...]) -> Message | None:
    """Return the newest message with visible text or a file, except what a member had not finished."""
    for message in reversed(history):
        if not message.is_partial and not message.is_blank:
            return message
    return None
