"""What a reading means for the work that is under way: the six deltas and what to do (seed 002 §8.4)."""

from typing import Literal

from msgspec import Struct

from moot.core.intent import Delta, Deltas, Relation, TaskRelationAssessment
from moot.runtime.understanding.rules.relation import Reading
from moot.runtime.understanding.rules.similarity import Nearness


class Weight(Struct, frozen=True, gc=False):
    """What a relation costs, as far as words alone can tell."""

    relation: Literal["same_task_no_major_change", "same_task_minor_change", "same_task_major_change", "different_task"]
    action: Literal["continue", "minor_replan", "full_replan", "new_task"]
    scope: Delta
    constraint: Delta
    deliverable: Delta
    resource: Delta
    timeline: Delta


_WEIGHTS: dict[Relation, Weight] = {
    "same_task_no_change": Weight("same_task_no_major_change", "continue", "none", "none", "none", "none", "none"),
    "same_task_minor_change": Weight(
        "same_task_minor_change", "minor_replan", "minor", "minor", "none", "none", "minor"
    ),
    "same_task_major_change": Weight(
        "same_task_major_change", "full_replan", "major", "minor", "major", "minor", "major"
    ),
    "different_task": Weight("different_task", "new_task", "major", "major", "major", "major", "major"),
}


def assess(reading: Reading, reason: str, near: Nearness) -> TaskRelationAssessment | None:
    """None for control, which is about the run and not about the work."""
    weight = _WEIGHTS.get(reading.relation)
    if weight is None:
        return None
    return TaskRelationAssessment(
        relation_type=weight.relation,
        reasoning=reason,
        confidence=reading.confidence,
        assessment=Deltas(
            goal_similarity=_similarity(reading, near),
            scope_delta=weight.scope,
            constraint_delta="none" if reading.reason == "task_named" else weight.constraint,
            deliverable_delta=weight.deliverable,
            resource_impact="major" if reading.reason == "restart" else weight.resource,
            timeline_impact=weight.timeline,
        ),
        recommended_action=weight.action,
        replan_rationale=reason if weight.action == "full_replan" else None,
        new_task_justification=reason if weight.action == "new_task" else None,
    )


def _similarity(reading: Reading, near: Nearness) -> float:
    """Of the goal after the input to the goal before it: who only says "ok" leaves it as it is."""
    if reading.relation == "same_task_no_change":
        return 1.0
    if reading.relation == "same_task_minor_change":
        return round(max(0.8, near.work), 2)
    return round(near.goal, 2)
