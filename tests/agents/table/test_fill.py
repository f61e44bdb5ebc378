"""The page of the table: marks beside those of before, and what was seen where something does not work."""

import pytest

from tests.agents.real_clis import need
from tests.agents.table.checks import CHECKS
from tests.agents.table.columns import BEFORE, COLUMNS
from tests.agents.table.fill import try_all, write_page


def test_the_page_says_what_changed_and_what_does_not_work() -> None:
    """A mark that differs from the first one says so; a mark that is no W is explained."""
    marks = {"text live": ("W", ""), "429": ("P", "still\nretrying")}
    page = write_page({"codex": {"version": "1.2.3", "date": "2026-01-02", "marks": marks}})
    assert "| text live | W (was N) |" in page
    assert "| 429 | P (was W) |" in page
    assert "- codex, 429: still retrying" in page
    assert "codex 1.2.3 (2026-01-02)" in page


def test_every_first_mark_is_of_a_row_and_an_agent() -> None:
    """A row or an agent that is renamed takes its first marks along."""
    assert set(BEFORE) <= {row for check in CHECKS for row in check.rows}
    assert {name for marks in BEFORE.values() for name in marks} <= {column.name for column in COLUMNS}


@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
def test_no_program_outlives_moot(name: str) -> None:
    """`kill -9` of Moot ends the program and what it started, also what has left its session and environment."""
    need(name)
    (column,) = [each for each in COLUMNS if each.name == name]
    row = "kill -9 of Moot leaves no process"
    found = try_all(column, [row])[row]
    assert found.mark == "W", found.seen
