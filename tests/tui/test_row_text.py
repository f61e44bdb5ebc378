"""What the rows of the timeline say: words that people read, never a name out of the code."""

import json
import re

import pytest

from moot.core.team import Language
from moot.protocol.view import View, reduce
from moot.tui.row_text import describe
from moot.tui.rows import Rows
from moot.tui.words import Words
from tests.protocol.client_cases import DATA

CODE = re.compile(r"\b[a-z]+(_[a-z]+)+\b|\b[A-Z]+(_[A-Z]+)+\b|\b\w+#\d")


def tell(flow: str, language: Language) -> list[str]:
    """Every row of a golden session, with its name; but for what people wrote themselves."""
    rows, view, words = Rows(), View(), Words(language)
    for line in (DATA / "golden" / f"{flow}-v1.jsonl").read_bytes().splitlines():
        view = reduce(view, json.loads(line))
        rows.push(json.loads(line))
    return [
        f"{words(f'event.{row.name}')}: {describe(row, view, words)}" for row in rows.list if row.category != "input"
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("flow", ["chat", "plan", "supervisor"])
def test_no_row_shows_a_name_of_the_code(flow: str, language: Language) -> None:
    """UX: readable labels; raw values stand in the details."""
    told = tell(flow, language)
    assert told
    assert [each for each in told if CODE.search(each)] == []


def test_rows_say_who_and_what() -> None:
    """UX timeline: members by their names, tasks by their titles, phases and relations in words."""
    assert "Routed: → Bob → Carol → Dave" in tell("chat", "en")
    plan = tell("plan", "en")
    assert any(each.startswith("Understanding: a new task · ") for each in plan), plan
    assert any("waiting for a decision → under way" in each for each in plan), plan
