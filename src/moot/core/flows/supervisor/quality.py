"""Scores of reviews. They are hints for the supervisor and never override a valid decision."""

from collections.abc import Mapping
from typing import Any

from moot.core.flows.supervisor.conditions import SharedState, look_up, read_number
from moot.core.flows.supervisor.supervisor_settings import Quality

OVERALL = "overall"


def quality_approved(quality: Quality | None, state: SharedState) -> bool:
    """Whether every axis and the overall score reach their thresholds. A missing score does not."""
    if quality is None:
        return False
    review = look_up(state, quality.key)
    if not isinstance(review, Mapping):
        return False
    overall = _read_share(review.get(OVERALL))
    if overall is None or overall < _threshold(quality, OVERALL):
        return False
    scores = _read_scores(review)
    if any(axis not in scores for axis in quality.required_axes):
        return False
    return bool(scores) and all(score >= _threshold(quality, axis) for axis, score in scores.items())


def quality_fallback(quality: Quality | None, state: SharedState) -> str | None:
    """Return the agent for the first axis below its threshold; missing axes are skipped."""
    if quality is None:
        return None
    scores = _read_scores(look_up(state, quality.key))
    for axis, agent in quality.fallback:
        if axis in scores and scores[axis] < _threshold(quality, axis):
            return agent
    return None


def low_axes(quality: Quality, state: SharedState) -> list[str]:
    """Return the scores below their threshold for the prompt, as `readability 0.40 < 0.60`."""
    scores = _read_scores(look_up(state, quality.key))
    return [
        f"{axis} {score:.2f} < {_threshold(quality, axis):.2f}"
        for axis, score in scores.items()
        if score < _threshold(quality, axis)
    ]


def _read_scores(review: Any) -> dict[str, float]:
    scores = review.get("scores") if isinstance(review, Mapping) else None
    if not isinstance(scores, Mapping):
        return {}
    read = {str(axis): _read_share(score) for axis, score in scores.items()}
    return {axis: score for axis, score in read.items() if score is not None}


def _read_share(value: Any) -> float | None:
    """Return a score from 0 to 1; values above 1 are percentages."""
    number = read_number(value)
    return number / 100 if number is not None and number > 1 else number


def _threshold(quality: Quality, axis: str) -> float:
    threshold = quality.thresholds.get(axis, quality.threshold)
    return threshold / 100 if threshold > 1 else threshold
