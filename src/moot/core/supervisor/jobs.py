"""A job of the supervisor flow from its beginning to its end, and the turns of those who do it."""

from moot.core.draft import Draft
from moot.core.events import NoticePosted, StepAsked, StepClosed, TurnStarted
from moot.core.state import State
from moot.core.supervisor.cast import find_leader, find_player
from moot.core.supervisor.ending import how_it_may_end
from moot.core.supervisor.events import Outcome, SupervisionEnded, SupervisionStarted
from moot.core.supervisor.supervision import REVIEW_OUTPUT, STUCK, Supervision
from moot.core.supervisor_settings import SUPERVISOR, SupervisorSettings
from moot.core.team import Member


def job_of(draft: Draft) -> Supervision:
    job = draft.state.supervision
    assert job is not None  # noqa: S101 - who calls this has seen that there is a job
    return job


def active_job(state: State) -> Supervision | None:
    job = state.supervision
    return job if job is not None and job.is_active else None


def settings_of(draft: Draft) -> SupervisorSettings:
    return draft.team.supervisor


def begin(draft: Draft, goal: str, member: str, *, is_deferred: bool = False) -> None:
    draft.add(SupervisionStarted(goal=goal, asked_by=member, is_deferred=is_deferred))


def finish(draft: Draft, reason: str) -> None:
    """The work is done, as far as it is; what lacks something is partial."""
    ending = how_it_may_end(settings_of(draft), job_of(draft).state)
    _end(draft, ending or "partial", reason)


def cancel(draft: Draft, reason: str) -> None:
    _end(draft, "cancelled", reason)


def _end(draft: Draft, outcome: Outcome, reason: str) -> None:
    draft.cancel_turns(reason)
    for step in draft.state.open_steps.values():
        if concerns_job(step):
            draft.add(StepClosed(step_id=step.step_id, outcome="superseded"))
    draft.add(SupervisionEnded(outcome=outcome, reason=reason, partial=outcome == "partial"))


def concerns_job(step: StepAsked) -> bool:
    """Whether the job waits for the answer; a question about something a human said does not hold it up."""
    return step.code in (REVIEW_OUTPUT, STUCK) or bool(step.job)


def player_of(draft: Draft, node: str) -> Member:
    team, settings = draft.team, settings_of(draft)
    found = find_leader(settings, team.members) if node == SUPERVISOR else find_player(settings, node, team.members)
    assert found is not None  # noqa: S101 - a session is made only of a team that has everybody
    return found


def start_turn(draft: Draft, node: str, member: Member) -> None:
    state = draft.state
    draft.add(
        TurnStarted(
            turn_id=f"t{state.turn_count + 1}",
            member=member.id,
            index=state.turns_by_member.get(member.id, 0),
            hop=state.hops + 1,
            job=node,
        )
    )


def notice(draft: Draft, code: str, node: str = "", *, detail: str = "", limit: int = 0) -> None:
    who = player_of(draft, node).display_name if node else ""
    draft.add(NoticePosted(code=code, who=who, detail=detail, limit=limit))
