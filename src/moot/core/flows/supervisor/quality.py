"""Scores of reviews. They are hints for the supervisor and never override a valid decision."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from moot.core.flows.supervisor.conditions import SharedState, look_up, read_number
from moot.core.flows.supervisor.supervisor_settings import Quality

OVERALL = "overall"
_WRITTEN_SCORE = re.compile(r"\s*([0-9]{1,6}(?:\.[0-9]{1,9})?)\s*(?:([%％])|[/／]\s*([0-9]{1,6}))?\s*")


def quality_approved(quality: Quality | None, state: SharedState) -> bool:
    """Whether every axis and the overall score reach their thresholds. A missing score does not."""
    if quality is None:
        return False
    review = look_up(state, quality.key)
    if not isinstance(review, Mapping):
        return False
    overall = read_share(review.get(OVERALL))
    if overall is None or overall < threshold(quality, OVERALL):
        return False
    scores = _read_scores(quality, review)
    if any(axis not in scores for axis in quality.required_axes):
        return False
    return bool(scores) and all(score >= threshold(quality, axis) for axis, score in scores.items())


def quality_fallback(quality: Quality | None, state: SharedState) -> str | None:
    """Return the agent for the first axis below its threshold; missing axes are skipped."""
    if quality is None:
        return None
    scores = _read_scores(quality, look_up(state, quality.key))
    for axis, agent in quality.fallback:
        if axis in scores and scores[axis] < threshold(quality, axis):
            return agent
    return None


def low_axes(quality: Quality, state: SharedState) -> list[str]:
    """Return the scores below their threshold for the prompt, as `readability 0.40 < 0.60`."""
    scores = _read_scores(quality, look_up(state, quality.key))
    return [
        f"{axis} {score:.2f} < {threshold(quality, axis):.2f}"
        for axis, score in scores.items()
        if score < threshold(quality, axis)
    ]


def list_unreadable(quality: Quality, review: Any) -> Iterator[tuple[str, bool]]:
    """Yield the required scores that cannot be read, each with whether it is missing altogether."""
    fields = review if isinstance(review, Mapping) else {}
    written = _find_scores(quality, fields)
    for axis in quality.required_axes:
        if read_share(written.get(axis)) is None:
            yield f"scores.{axis}", written.get(axis) is None
    if read_share(fields.get(OVERALL)) is None:
        yield OVERALL, fields.get(OVERALL) is None


def _read_scores(quality: Quality, review: Any) -> dict[str, float]:
    read = {str(axis): read_share(score) for axis, score in _find_scores(quality, review).items()}
    return {axis: score for axis, score in read.items() if score is not None}


def _find_scores(quality: Quality, review: Any) -> Mapping[Any, Any]:
    """Return the scores of a review by axis. Without `scores`, the required axes may stand beside `overall`."""
    if not isinstance(review, Mapping):
        return {}
    scores = review.get("scores", {axis: review[axis] for axis in quality.required_axes if axis in review})
    return scores if isinstance(scores, Mapping) else {}


def read_share(value: Any) -> float | None:
    """Return a score from 0 to 1; values above 1 are percentages. Texts such as "0.9", "90%" and "9/10" are read."""
    number = _read_written(value) if isinstance(value, str) else read_number(value)
    return number / 100 if number is not None and number > 1 else number


def _read_written(text: str) -> float | None:
    written = _WRITTEN_SCORE.fullmatch(text)
    if written is None:
        return None
    number, best = float(written[1]), 100.0 if written[2] else float(written[3] or 1)
    return number / best if best else None


def threshold(quality: Quality, axis: str) -> float:
    """Return the least good score of an axis, from 0 to 1."""
    least = quality.thresholds.get(axis, quality.threshold)
    return least / 100 if least > 1 else least
