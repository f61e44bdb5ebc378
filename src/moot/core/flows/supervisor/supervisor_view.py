"""The supervisor flow's part of the public view of a session."""

from typing import Any

from msgspec import Struct

from moot.core.flows.supervisor.deliverable import Deliverable
from moot.core.flows.supervisor.supervision import Choice, Review, ToolRun
from moot.core.flows.supervisor.supervisor_settings import SUPERVISOR
from moot.core.flows.supervisor.supervisor_slice import find_job
from moot.core.session.state import State


class Job(Struct, frozen=True, kw_only=True):
    """One job from its goal to its end. `state` is what the agents share; `writers` says who wrote a key last."""

    goal: str = ""
    asked_by: str = ""
    acting: str = SUPERVISOR  # the supervisor or an agent: whose turn it is
    steps: int = 0  # turns since the job began, or since a human let it go on
    choices: tuple[Choice, ...] = ()
    unusable_in_a_row: int = 0
    state: dict[str, Any] = {}
    writers: dict[str, str] = {}
    tools: tuple[ToolRun, ...] = ()
    review: Review | None = None
    outcome: str = ""
    reason: str = ""
    deliverable: Deliverable | None = None  # the result of a job that ended

    @property
    def is_active(self) -> bool:
        return not self.outcome


def project_job(state: State) -> Job | None:
    """Return the view of a session's job; None if there was none yet."""
    job = find_job(state)
    if job is None:
        return None
    return Job(
        goal=job.goal,
        asked_by=job.asked_by,
        acting=job.node,
        steps=job.steps,
        choices=job.choices,
        unusable_in_a_row=job.unusable_in_a_row,
        state=job.state,
        writers=job.writers,
        tools=job.tools,
        review=job.review,
        outcome=job.outcome or "",
        reason=job.reason,
        deliverable=job.deliverable,
    )
