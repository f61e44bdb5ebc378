"""When a job of the supervisor flow may end (docs/supervisor.md)."""

from typing import Literal

from moot.core.flows.supervisor.conditions import SharedState, holds, look_up, read_number
from moot.core.flows.supervisor.quality import quality_approved
from moot.core.flows.supervisor.supervisor_settings import Condition, SupervisorSettings

Ending = Literal["complete", "partial"]


def can_end(settings: SupervisorSettings, state: SharedState) -> bool:
    return how_it_may_end(settings, state) is not None


def how_it_may_end(settings: SupervisorSettings, state: SharedState) -> Ending | None:
    """Return how the job may end now, or None if it may not.

    It is complete if every required key is there and the review, if any, approved; partial if every key is there but
    the rounds of review are used up.
    """
    if missing_for_end(settings, state):
        return None
    if not review_exists(settings, state) or review_approved(settings, state):
        return "complete"
    return "partial" if is_out_of_rounds(settings, state) else None


def missing_for_end(settings: SupervisorSettings, state: SharedState) -> list[Condition]:
    return [condition for condition in settings.end.requires if not holds(condition, state)]


def is_reviewer(settings: SupervisorSettings, agent: str) -> bool:
    """Whether the agent writes the review that the end depends on."""
    review = settings.end.review
    return review is not None and review.approved.partition(".")[0] in settings.agents[agent].writes


def review_exists(settings: SupervisorSettings, state: SharedState) -> bool:
    review = settings.end.review
    return review is not None and look_up(state, _parent(review.approved)) is not None


def review_approved(settings: SupervisorSettings, state: SharedState) -> bool:
    """Whether the review approved, with the quality if the team asks for it.

    Without a rule for reviews: whether all required keys are there.
    """
    review = settings.end.review
    if review is None:
        return not missing_for_end(settings, state)
    if look_up(state, review.approved) is not True:
        return False
    return not review.quality or quality_approved(settings.quality, state)


def is_out_of_rounds(settings: SupervisorSettings, state: SharedState) -> bool:
    """Whether iterationCount ≥ maxIterations. The state's limit takes precedence over the team's."""
    count = read_number(look_up(state, "iterationCount")) or 0
    limit = read_number(look_up(state, "maxIterations"))
    return count >= (settings.max_iterations if limit is None else limit)


def _parent(key: str) -> str:
    """Return the parent key: `reviewFeedback.approved` → `reviewFeedback`."""
    return key.rpartition(".")[0] or key
