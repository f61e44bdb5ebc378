"""What a relation means for the work that is under way: how much changes, and what to do about it."""

from typing import Literal

from msgspec import Struct

from moot.core.intake.intent import Delta, Deltas, Relation, TaskRelationAssessment
from moot.runtime.understanding.rules.similarity import Overlap


class Impact(Struct, frozen=True, gc=False):
    """The usual impact of a relation. Words alone do not tell it more exactly."""

    relation: Literal["same_task_no_major_change", "same_task_minor_change", "same_task_major_change", "different_task"]
    action: Literal["continue", "minor_replan", "full_replan", "new_task"]
    scope: Delta
    constraint: Delta
    deliverable: Delta
    resource: Delta
    timeline: Delta


_IMPACTS: dict[Relation, Impact] = {
    "same_task_no_change": Impact("same_task_no_major_change", "continue", "none", "none", "none", "none", "none"),
    "same_task_minor_change": Impact(
        "same_task_minor_change", "minor_replan", "minor", "minor", "none", "none", "minor"
    ),
    "same_task_major_change": Impact(
        "same_task_major_change", "full_replan", "major", "minor", "major", "minor", "major"
    ),
    "different_task": Impact("different_task", "new_task", "major", "major", "major", "major", "major"),
}


def assess(
    relation: Relation, confidence: float, reason: str, overlap: Overlap, rule: str = ""
) -> TaskRelationAssessment | None:
    """Say what a relation means for the work.

    Args:
        rule: the reason code of the rule that found it, if a rule did.

    Returns:
        None for controls: they concern the run, not the work.
    """
    impact = _IMPACTS.get(relation)
    if impact is None:
        return None
    return TaskRelationAssessment(
        relation_type=impact.relation,
        reasoning=reason,
        confidence=confidence,
        assessment=Deltas(
            goal_similarity=_goal_similarity(relation, overlap),
            scope_delta=impact.scope,
            constraint_delta="none" if rule == "task_named" else impact.constraint,
            deliverable_delta=impact.deliverable,
            resource_impact="major" if rule == "restart" else impact.resource,
            timeline_impact=impact.timeline,
        ),
        recommended_action=impact.action,
        replan_rationale=reason if impact.action == "full_replan" else None,
        new_task_justification=reason if impact.action == "new_task" else None,
    )


def _goal_similarity(relation: Relation, overlap: Overlap) -> float:
    """Similarity of the goal after the message to the goal before it; 1.0 for an "ok", which leaves it unchanged."""
    if relation == "same_task_no_change":
        return 1.0
    if relation == "same_task_minor_change":
        return round(max(0.8, overlap.work), 2)
    return round(overlap.goal, 2)
