"""The content studio, and states of its work."""

from typing import Any

from moot.config.loading import load_team
from moot.core.flows.supervisor.supervisor_settings import SupervisorSettings

STUDIO: SupervisorSettings = load_team("content-studio-demo").supervisor
AXES = ("infoDensity", "textImageAlignment", "styleConsistency", "readability", "platformFit")
BODY: dict[str, Any] = {"generatedContent": {"title": "t", "body": "words", "tags": []}}
APPROVED: dict[str, Any] = {"reviewFeedback": {"approved": True, "suggestions": []}}
REJECTED: dict[str, Any] = {"reviewFeedback": {"approved": False, "suggestions": ["shorter"]}}


def scores(overall: Any = 0.8, **axes: Any) -> dict[str, Any]:
    """Good scores on every axis but those given; an axis given as ... is left out."""
    given = {axis: axes.get(axis, 0.8) for axis in AXES} | axes
    kept = {axis: score for axis, score in given.items() if score is not ...}
    return {"qualityScores": {"scores": kept, "overall": overall, "failReasons": []}}


GOOD = scores()
