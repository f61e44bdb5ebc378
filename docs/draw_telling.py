"""`make docs`: writes the page's table of how events are told, from the lines of the flows.

The page builds the same rows as `telling/timeline.py`, and shows in the conversation what has a text of its own.
"""

import json
from pathlib import Path
from typing import Any, get_args

from moot.core.fact_lines import ANSWERED, RowEnd, RowKind, Weight
from moot.core.facts import Fact
from moot.core.flows.registry import FACTS, FLOWS, has_text

FILE = Path(__file__).parents[1] / "web" / "js" / "view" / "telling.generated.js"
TEXT = """\
// Made by `make docs` from the lines of the flows (core/fact_lines.py). Edit those, not this file.

/** The rows of the timeline, by event. @type {{Record<string, RowKind>}} */
export const ROWS = {rows};

/** The events that end a row. @type {{Record<string, RowEnd>}} */
export const ENDS = {ends};

/** Outcomes of events that a row names differently. @type {{Record<string, string>}} */
export const OUTCOMES = {outcomes};

/** How much events with a text weigh in the conversation: step, landmark, outcome. @type {{Record<string, string>}} */
export const WEIGHTS = {weights};
"""


def draw() -> str:
    """Return the text of the file."""
    rows: dict[str, Any] = {}
    ends: dict[str, Any] = {}
    weights: dict[str, str] = {}
    for fact in sorted(FACTS, key=lambda fact: fact.event):
        for flow in FLOWS.values():
            if kind := flow.lines.rows.get(fact):
                _put(rows, fact, _write_row(fact, kind))
            if end := flow.lines.row_ends.get(fact):
                _put(ends, fact, _write_end(end))
        if has_text(fact):
            told = {flow.lines.weights.get(fact, "step") for flow in FLOWS.values()}
            weights[fact.event] = max(told, key=get_args(Weight).index)
    return TEXT.format(rows=_write(rows), ends=_write(ends), outcomes=json.dumps(ANSWERED), weights=_write(weights))


def _put(table: dict[str, Any], fact: type[Fact], entry: dict[str, Any]) -> None:
    """Add an entry. Raises ValueError if two flows want different ones: a frame does not say which flow it is from."""
    if table.setdefault(fact.event, entry) != entry:
        raise ValueError(f"flows differ in the row of {fact.event}")


def _write_row(fact: type[Fact], kind: RowKind) -> dict[str, Any]:
    return {
        "category": kind.category,
        **({"outcome": kind.outcome} if kind.outcome else {}),
        **({"begins": [kind.begins.name, kind.begins.field]} if kind.begins else {}),
        **({"isShown": True} if kind.is_shown else {}),
        **({"timeline": fact.timeline} if fact.timeline else {}),
    }


def _write_end(end: RowEnd) -> dict[str, Any]:
    return {
        "span": [end.span.name, end.span.field],
        **({"outcome": end.outcome} if end.outcome else {}),
        **({"replaces": True} if end.replaces else {}),
    }


def _write(table: dict[str, Any]) -> str:
    return "{\n" + "".join(f"  {json.dumps(event)}: {json.dumps(entry)},\n" for event, entry in table.items()) + "}"


if __name__ == "__main__":
    FILE.write_text(draw(), encoding="utf-8")
