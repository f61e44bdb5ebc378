"""A job of the supervisor flow: its settings, its end, and the members who play its agents."""

from moot.core.draft import Draft
from moot.core.flows.supervisor.cast import find_leader, find_player
from moot.core.flows.supervisor.deliverable import find_deliverable
from moot.core.flows.supervisor.ending import how_it_may_end
from moot.core.flows.supervisor.supervision import REVIEW_OUTPUT, STUCK, Supervision
from moot.core.flows.supervisor.supervisor_events import Outcome, SupervisionEnded, SupervisionStarted
from moot.core.flows.supervisor.supervisor_settings import SUPERVISOR, SupervisorSettings
from moot.core.flows.supervisor.supervisor_slice import current_job, find_job
from moot.core.session import steps
from moot.core.session.events import NoticePosted, StepAsked
from moot.core.session.state import State
from moot.core.session.team import Member


def job_of(draft: Draft) -> Supervision:
    """Return the current job. Raises LookupError if there is none, which callers rule out."""
    return current_job(draft.state)


def active_job(state: State) -> Supervision | None:
    job = find_job(state)
    return job if job is not None and job.is_active else None


def settings_of(draft: Draft) -> SupervisorSettings:
    return draft.team.supervisor


def begin(draft: Draft, goal: str, member: str, *, is_deferred: bool = False) -> None:
    before = find_job(draft.state)
    number = before.number + 1 if before else 1
    name = _name_job(draft, number)
    draft.add(
        SupervisionStarted(
            goal=goal,
            asked_by=member,
            is_deferred=is_deferred,
            number=number,
            thread_id=f"job-{name}",
            creative_id=f"creative-{name}",
        )
    )


def _name_job(draft: Draft, number: int) -> str:
    """Return a name that no other job has, in no session: a copy of a session differs by the time of its own jobs."""
    moment = "".join(filter(str.isdigit, draft.at))
    return "-".join(filter(None, (draft.state.session_id, str(number), moment)))


def finish(draft: Draft, reason: str) -> None:
    """End the job: complete if all conditions hold, otherwise partial."""
    ending = how_it_may_end(settings_of(draft), job_of(draft).state)
    _end(draft, ending or "partial", reason)


def cancel(draft: Draft, reason: str) -> None:
    _end(draft, "cancelled", reason)


def _end(draft: Draft, outcome: Outcome, reason: str) -> None:
    draft.cancel_turns(reason)
    steps.supersede(draft, concerns_job)
    job = job_of(draft)
    draft.add(
        SupervisionEnded(
            outcome=outcome,
            reason=reason,
            partial=outcome == "partial",
            deliverable=None if outcome == "cancelled" else find_deliverable(settings_of(draft), job.state, job.assets),
        )
    )


def concerns_job(step: StepAsked) -> bool:
    """Whether the job waits for the answer. It does not wait for questions about inputs."""
    return step.code in (REVIEW_OUTPUT, STUCK) or bool(step.job)


def player_of(draft: Draft, node: str) -> Member:
    team, settings = draft.team, settings_of(draft)
    player = find_leader(settings, team.members) if node == SUPERVISOR else find_player(settings, node, team.members)
    if player is None:  # cannot happen: `SupervisorFlow.check` requires a member for every agent
        raise LookupError(f"nobody plays {node}")
    return player


def notice(draft: Draft, code: str, node: str = "", *, detail: str = "", limit: int = 0) -> None:
    who = player_of(draft, node).display_name if node else ""
    draft.add(NoticePosted(code=code, who=who, detail=detail, limit=limit))
