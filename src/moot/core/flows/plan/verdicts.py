"""Verdicts of reviewers, as they return or write them."""

from msgspec import Struct

from moot.core import limits, text
from moot.core.json_text import find_object
from moot.core.session.commands import CompleteTurn


class Verdict(Struct, frozen=True):
    """Whether something passed, and what to change if it did not."""

    passed: bool
    feedback: str


def read_verdict(command: CompleteTurn) -> Verdict | None:
    """Return the verdict of a reviewer's turn: `{"pass": …, "feedback": …}`; None if it gave none."""
    raw = command.review or find_object(command.text, "pass")
    if raw is None or not isinstance(raw.get("pass"), bool):
        return None
    return Verdict(raw["pass"], text.cut(text.clean(str(raw.get("feedback") or "")), limits.DETAIL_CHARS))
