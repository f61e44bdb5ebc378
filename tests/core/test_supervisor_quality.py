"""Scores and the end of the work."""

from typing import Any

import pytest
from msgspec.structs import replace

from moot.core.flows.supervisor.ending import can_end, how_it_may_end
from moot.core.flows.supervisor.quality import quality_approved, quality_fallback, read_share
from moot.core.flows.supervisor.supervisor_settings import Quality
from tests.core.studio import APPROVED, AXES, BODY, GOOD, REJECTED, STUDIO, scores

State = dict[str, Any]
QUALITY = STUDIO.quality or Quality(key="the studio has none")

FALLBACKS = {
    "infoDensity": "research_evidence_agent",
    "textImageAlignment": "layout_planner_agent",
    "styleConsistency": "reference_intelligence_agent",
    "readability": "image_planner_agent",
    "platformFit": "writer_agent",
}


@pytest.mark.parametrize("axis", FALLBACKS)
def test_fallback_by_axis(axis: str) -> None:
    """Each low axis has its agent, and is not approved."""
    assert quality_fallback(QUALITY, scores(**{axis: 0.59})) == FALLBACKS[axis]
    assert not quality_approved(QUALITY, scores(**{axis: 0.59}))


@pytest.mark.parametrize("at", range(5))
def test_the_first_axis_in_order_counts(at: int) -> None:
    """The first axis below its threshold, in the order of the table."""
    low = scores(**dict.fromkeys(AXES[at:], 0.1))
    assert quality_fallback(QUALITY, low) == list(FALLBACKS.values())[at]


APPROVALS: dict[str, tuple[State, bool]] = {
    "good": (GOOD, True),
    "at the threshold": (scores(0.6, **dict.fromkeys(AXES, 0.6)), True),
    "percents": (scores(60, **dict.fromkeys(AXES, 60)), True),
    "low percents": (scores(60, infoDensity=59), False),
    "one means all": (scores(1, **dict.fromkeys(AXES, 1)), True),
    "a low overall": (scores(0.59), False),
    "no overall": (scores(None), False),
    "no scores": ({}, False),
    "scores of nothing": ({"qualityScores": {"scores": {}, "overall": 0.9}}, False),
    "null": ({"qualityScores": None}, False),
    "a missing axis": (scores(readability=...), False),
    "one more axis, low": (scores(humour=0.1), False),
    "one more axis, good": (scores(humour=0.9), True),
    "a note that is no score": (scores(note="fine"), True),
}


@pytest.mark.parametrize("case", APPROVALS)
def test_quality_approved(case: str) -> None:
    """Every axis and overall reach the threshold; no scores = not approved."""
    state, expected = APPROVALS[case]
    assert quality_approved(QUALITY, state) is expected


WRITTEN = {
    "0.9": 0.9,
    " 90 % ": 0.9,
    "９/10": None,
    "9/10": 0.9,
    "85／100": 0.85,
    "90": 0.9,
    "9/0": None,
    "good": None,
    "": None,
}


@pytest.mark.parametrize("written", WRITTEN)
def test_scores_written_as_text_are_read(written: str) -> None:
    """Models write scores as text, as percents and as fractions; what cannot be read is none."""
    share = read_share(written)
    assert share == (None if WRITTEN[written] is None else pytest.approx(WRITTEN[written]))


def test_scores_beside_the_overall_one_are_read() -> None:
    """A review without the level `scores` counts, if its axes are those that the team asks for."""
    flat = {"qualityScores": {**dict.fromkeys(AXES, "85%"), "overall": 0.8, "failReasons": [], "iteration": 1}}
    assert quality_approved(QUALITY, flat)
    flat["qualityScores"]["readability"] = 0.3
    assert quality_fallback(QUALITY, flat) == "image_planner_agent"


@pytest.mark.parametrize("value", [True, "good", None, float("nan"), float("inf"), [0.9], {"score": 0.9}, 10**400])
def test_what_is_no_score(value: Any) -> None:
    """Only finite numbers, and texts that say one, are scores; what is none counts as missing."""
    assert not quality_approved(QUALITY, scores(platformFit=value))
    assert quality_fallback(QUALITY, scores(platformFit=value)) is None
    assert not quality_approved(QUALITY, scores(overall=value))


def test_thresholds_by_axis() -> None:
    """Configurable per axis, in percent too, overall included."""
    strict = replace(QUALITY, thresholds={"platformFit": 90, "overall": 0.5})
    assert quality_fallback(strict, scores(platformFit=0.89)) == "writer_agent"
    assert quality_fallback(strict, scores(platformFit=0.9)) is None
    assert quality_approved(strict, scores(0.5, platformFit=0.9))


def test_a_team_without_quality() -> None:
    """No rule for scores approves nothing and hints at nobody."""
    assert not quality_approved(None, GOOD)
    assert quality_fallback(None, scores(platformFit=0)) is None
    assert quality_approved(Quality(key="qualityScores"), scores())


ENDINGS: dict[str, tuple[State, str | None]] = {
    "nothing": ({}, None),
    "a body, no review": (BODY, "complete"),
    "a blank body": ({"generatedContent": {"body": "  "}}, None),
    "a body, a null review": (BODY | {"reviewFeedback": None}, "complete"),
    "approved, good": (BODY | APPROVED | GOOD, "complete"),
    "approved, no scores": (BODY | APPROVED, None),
    "approved, low": (BODY | APPROVED | scores(readability=0.2), None),
    "rejected, good": (BODY | REJECTED | GOOD, None),
    "an empty review": (BODY | {"reviewFeedback": {}}, None),
    "a review that is a text": (BODY | {"reviewFeedback": "approved"}, None),
    "rounds used up": (BODY | REJECTED | {"iterationCount": 3, "maxIterations": 3}, "partial"),
    "rounds used up, the team's limit": (BODY | REJECTED | {"iterationCount": 3}, "partial"),
    "rounds left": (BODY | REJECTED | {"iterationCount": 2, "maxIterations": 3}, None),
    "rounds used up, nothing to show": (REJECTED | {"iterationCount": 3, "maxIterations": 3}, None),
    "rounds used up and approved": (BODY | APPROVED | GOOD | {"iterationCount": 9}, "complete"),
    "a count that is a text": (BODY | REJECTED | {"iterationCount": "9"}, None),
    "a limit that is true": (BODY | REJECTED | {"iterationCount": 2, "maxIterations": True}, None),
}


@pytest.mark.parametrize("case", ENDINGS)
def test_can_end(case: str) -> None:
    """A body and no review, or an approved one; or the rounds are used up: then it is partial."""
    state, expected = ENDINGS[case]
    assert how_it_may_end(STUDIO, state) == expected
    assert can_end(STUDIO, state) is (expected is not None)
