"""The input of a turn. Each flow fills in its own part: an assignment, a brief."""

from typing import Literal

from msgspec import Struct

from moot.core.flows.plan.assignment import Assignment
from moot.core.flows.supervisor.agent_brief import AgentBrief
from moot.core.session.state import Message, State
from moot.core.session.team import Language, Member
from moot.core.text import is_blank

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
]


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
    job: Job = "chat"
    assignment: Assignment | None = None
    task_index: int = 0  # how many turns the member had before for this task
    task_turns: dict[str, int] = {}  # task id → how many it had before
    brief: AgentBrief | None = None  # in the supervisor flow

    @property
    def task_id(self) -> str:
        task = self.assignment.task if self.assignment else None
        return task.id if task else ""


def plain_input(session_id: str, state: State, turn_id: str, member: str, index: int) -> TurnInput:
    """Return the parts of a turn's input that every flow has."""
    return TurnInput(
        session_id=session_id,
        turn_id=turn_id,
        member=state.team.member(member),
        index=index,
        message=_newest(state.history),
        history=state.history if state.team.chat.history else (),
        team_task=state.team_task,
        addressable=state.team.members,
        language=state.language,
        waiting=state.slice.queue[1],
    )


def _newest(history: tuple[Message, ...]) -> Message | None:
    """Return the newest message with visible text, except what a member had not finished."""
    for message in reversed(history):
        if not message.is_partial and not is_blank(message.text):
            return message
    return None
