"""The timeline of a session: one row for each step, with its start and end.

The web page builds the same rows from the same frames (web/js/view/rows.js).
"""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from moot.core.fact_lines import Category, Entry, Outcome, RowEnd
from moot.core.facts import Fact
from moot.core.flows.registry import flow_of
from moot.core.session.state import State
from moot.core.session.team import Language

Frame = dict[str, Any]
MOST_ROWS = 1_000
MOST_CHARS = 200  # in the text of a row


class Row(Struct, frozen=True, kw_only=True, eq=False):
    """One row. `name` is the timeline's name of the event, `fact` what the row describes."""

    seq: int
    at: str
    name: str
    category: Category
    fact: Fact
    member: str = ""
    lasts: bool = False  # whether it has a duration, until another fact ends it
    ended_at: str = ""
    outcome: Outcome = ""
    title: str = ""  # of the task that it is about


class Timeline:
    """The newest rows. `version` increases with every change."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.version = 0
        self._dropped = 0
        self._titles: dict[str, str] = {}  # of tasks, by their ids, in the newest plan that has them
        self._open: dict[tuple[str, str], int] = {}  # span and id → place of the row, counted from the first row ever

    def push(self, frame: Frame, fact: Fact, state: State) -> None:
        """Add a logged frame whose fact has been folded into `state`."""
        for task in getattr(fact, "tasks", None) or ():
            self._titles[task["id"]] = task["title"]
        lines = flow_of(state).lines
        end = lines.row_ends.get(type(fact))
        if end and self._close(end, frame, fact):
            return
        kind = lines.rows.get(type(fact))
        if kind is None or not fact.is_on_timeline:
            return  # messages of AIs are shown in the conversation
        if kind.begins:
            self._open[kind.begins.key(fact)] = self._dropped + len(self.rows)
        row = Row(
            seq=frame["seq"],
            at=frame["timestamp"],
            name=frame.get("timeline") or frame["event"],
            category=kind.category,
            fact=fact,
            member=frame.get("source", {}).get("member") or getattr(fact, "member", None) or "",
            lasts=kind.begins is not None,
            outcome=kind.outcome,
            title=self._find_title(fact),
        )
        self.rows.append(row)
        if len(self.rows) > MOST_ROWS:
            del self.rows[: MOST_ROWS // 4]
            self._dropped += MOST_ROWS // 4
        self.version += 1

    def _find_title(self, fact: Fact) -> str:
        task, task_id = getattr(fact, "task", None), getattr(fact, "task_id", None)
        return str(task["title"]) if task else self._titles.get(task_id, task_id) if task_id else ""

    def _close(self, end: RowEnd, frame: Frame, fact: Fact) -> bool:
        """End the row that the fact belongs to. Return False if there is none, or it has been dropped."""
        place = self._open.pop(end.span.key(fact), None)
        if place is None or place < self._dropped:
            return False
        at = place - self._dropped
        row, outcome = self.rows[at], end.find_outcome(fact)
        self.rows[at] = replace(
            row,
            fact=fact if end.replaces else row.fact,
            category="errors" if outcome == "failed" else row.category,
            ended_at=frame["timestamp"],
            outcome=outcome,
        )
        self.version += 1
        return True


def describe(row: Row, state: State, language: Language) -> str:
    """Return the text of a row beside its name, on one line."""
    kind = flow_of(state).lines.rows[type(row.fact)]
    return " ".join(kind.describe(Entry(row.fact, state, language, row.title)).split())[:MOST_CHARS]
