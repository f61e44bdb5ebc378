"""The facts that a command adds, collected together with the state that follows from them."""

from collections.abc import Mapping
from typing import Literal

from moot.core import limits, text
from moot.core.errors import Refused
from moot.core.evolve import folds_of
from moot.core.facts import LOG_VERSION, Fact
from moot.core.intake.markers import Markers, parse
from moot.core.session.attachments import Attachment
from moot.core.session.commands import TOO_MANY_QUESTIONS, FailTurn
from moot.core.session.desk_events import MemberAnswered
from moot.core.session.events import (
    MessagePosted,
    NoticePosted,
    PauseReason,
    SessionActivated,
    SessionCompleted,
    SessionPaused,
    SessionRenamed,
    StepClosed,
    TeamTaskSet,
    TurnCancelled,
    TurnFailed,
    TurnStarted,
)
from moot.core.session.state import Inquiry, State, Turn
from moot.core.session.team import Member
from moot.core.session.usage import safe_usage

NOTHING_WRITTEN: Mapping[str, str] = {}


class Draft:
    """Collects facts and evolves its own copy of the state with each, so that later choices see earlier ones.

    `at` is the time, `chance` a number from 0 to 1 for jitter, `written` what running turns have written so far, by
    their ids, `seq` the last event before this draft. They are passed in, so that deciding is deterministic.
    `attachments` are the files that came with the message that is being decided on.

    `log_version` is what every server on the log can read. Facts of newer kinds are left out, as if they had not
    happened; a decision that gives a kind a new meaning compares with it.
    """

    __slots__ = (
        "_folds",
        "at",
        "attachments",
        "chance",
        "facts",
        "has_left_out",
        "log_version",
        "seq",
        "state",
        "team",
        "written",
    )

    def __init__(
        self,
        state: State,
        at: str = "",
        chance: float = 1.0,
        written: Mapping[str, str] = NOTHING_WRITTEN,
        seq: int = 0,
        log_version: int = LOG_VERSION,
    ) -> None:
        self.state = state
        self.team = state.team
        self.at = at
        self.chance = chance
        self.written = written
        self.seq = seq
        self.log_version = log_version
        self.has_left_out = False
        self.facts: list[Fact] = []
        self.attachments: tuple[Attachment, ...] = ()
        self._folds = folds_of(state)

    @property
    def next_seq(self) -> int:
        """The seq that the next fact will have, for teams whose commits name it; 0 for others."""
        return self.seq + len(self.facts) + 1 if self.team.has_trees else 0

    def add(self, fact: Fact) -> None:
        if fact.since > self.log_version:
            self.has_left_out = True
            return
        self.state = state = self._folds[type(fact)](self.state, fact)
        self.facts.append(fact)
        if state.open_steps or state.inquiries:
            self._withdraw()

    def _withdraw(self) -> None:
        """Close questions whose turn has ended in any way; a completed turn keeps those that its member asked."""
        for step in self.state.open_steps.values():
            if step.turn_id and not self.state.is_under_way(step.turn_id):
                self.add(StepClosed(step_id=step.step_id, outcome="superseded"))  # calls this method again
                return
        for inquiry in self.state.inquiries.values():
            if inquiry.turn_id and not self.state.is_under_way(inquiry.turn_id):
                self.drop_inquiry(inquiry, "withdrawn")
                return

    def drop_inquiry(self, inquiry: Inquiry, reason: str) -> None:
        """Close a question to a team-mate without an answer, and stop the aside in which it is being answered."""
        self.add(
            MemberAnswered(
                question_id=inquiry.question_id, member=inquiry.to, to=inquiry.member, answer="", error_type=reason
            )
        )
        for turn in self.state.asides:
            if turn.question_id == inquiry.question_id:
                self.cancel_turn(turn, reason)

    def post(self, speaker: Member, raw: str, markers: Markers, turn_id: str | None, to: tuple[str, ...] = ()) -> None:
        """Post a message. `raw` is the message as written, `markers` what was read from it, `to` its addressees."""
        clean = markers.clean
        self.add(
            MessagePosted(
                member=speaker.id,
                text=clean,
                raw=None if raw == clean else raw,
                turn_id=turn_id,
                to=to,
                attachments=self.attachments,
            )
        )
        if markers.team_task:
            self.add(TeamTaskSet(member=speaker.id, team_task=markers.team_task))

    def rename(self, title: str, by: Member | None) -> None:
        """Change the title, if it differs. Raises Refused if the new one is not one line of plain text."""
        title = _check_title(title.strip())
        if title != self.state.title:
            self.add(SessionRenamed(title=title, member=by.id if by else None))

    def pause(self, waiting_for: Member, reason: PauseReason) -> None:
        self.add(SessionPaused(waiting_for=waiting_for.id, reason=reason))

    def activate(self) -> None:
        """Give an AI the floor."""
        is_said = any(isinstance(fact, MessagePosted) and fact.turn_id is None for fact in self.facts)
        self.add(SessionActivated(is_routed=not is_said))

    def start_turn(
        self,
        member: Member,
        *,
        job: str = "",
        task_id: str = "",
        task_index: int = 0,
        retry_of: str | None = None,
        question_id: str = "",
        stands_in_for: str = "",
    ) -> None:
        """Give a member a turn; with a `question_id` it is an aside, in which the member answers a team-mate."""
        state = self.state
        self.add(
            TurnStarted(
                turn_id=f"t{state.turn_count + 1}",
                member=member.id,
                index=state.turns_by_member.get(member.id, 0),
                hop=state.hops + 1,
                retry_of=retry_of,
                job=job,
                task_id=task_id,
                task_index=task_index,
                started_at=self.at,
                question_id=question_id,
                stands_in_for=stands_in_for,
                seq=self.next_seq,
            )
        )

    def fail_turn(self, turn: Turn, failure: FailTurn) -> None:
        self.add(
            TurnFailed(
                turn_id=turn.turn_id,
                member=turn.member,
                error_type=text.clean(failure.error_type),
                message=_shorten(failure.message),
                usage=safe_usage(failure.usage),
                partial=self._read_partial(turn) or _shorten(failure.said),
            )
        )

    def post_failure(self, turn: Turn, failure: FailTurn, timeout_s: float) -> Literal["agent_timeout", "agent_error"]:
        """Post the notice about a failed turn that nobody retries, and return the reason for the pause that follows."""
        who = self.team.member(turn.member).display_name
        if failure.error_type == "timeout":
            self.add(NoticePosted(code="agent_timeout", who=who, minutes=round(timeout_s / 60, 2)))
            return "agent_timeout"
        if failure.error_type == TOO_MANY_QUESTIONS:
            self.add(NoticePosted(code="agent_asks_too_much", who=who))
        else:
            self.add(NoticePosted(code="agent_error", who=who, detail=_shorten(failure.message)))
        return "agent_error"

    def cancel_turn(self, turn: Turn, reason: str) -> None:
        partial = self._read_partial(turn)
        self.add(TurnCancelled(turn_id=turn.turn_id, member=turn.member, reason=reason, partial=partial))

    def _read_partial(self, turn: Turn) -> str:
        """Return what a turn that does not end has written, without markers: it routes nobody."""
        partial = text.clean(self.written.get(turn.turn_id, ""))[: limits.PARTIAL_CHARS]
        return parse(partial).clean if partial else ""

    def cancel_turns(self, reason: str) -> None:
        for turn in self.state.running:
            self.cancel_turn(turn, reason)

    def end(self, reason: str) -> None:
        """End the session: running turns are cancelled and questions withdrawn."""
        self.cancel_turns("session_ended")
        for inquiry in tuple(self.state.inquiries.values()):
            if inquiry.question_id in self.state.inquiries:
                self.drop_inquiry(inquiry, "withdrawn")
        for step_id in self.state.open_steps:
            self.add(StepClosed(step_id=step_id, outcome="cancelled"))
        self.add(SessionCompleted(reason=reason))


def _shorten(message: str) -> str:
    return text.cut(text.clean(message), limits.DETAIL_CHARS)


def _check_title(title: str) -> str:
    if text.is_blank(title):
        raise Refused("title_empty")
    if len(title) > limits.TITLE_CHARS:
        raise Refused("title_too_long", length=len(title), limit=limits.TITLE_CHARS)
    if text.clean(title) != title or "\n" in title or "\t" in title:
        raise Refused("title_not_plain")
    return title
