"""The teller, whatever the flow: every fact is told or ignored on purpose, in the reader's language."""

from pathlib import Path

import pytest

from moot.core.codec import Event, decode
from moot.core.flows.registry import FACTS, FLOWS
from moot.core.session.session_lines import SESSION_LINES
from moot.core.session.team import LANGUAGES, Language
from moot.telling.markdown import to_markdown
from moot.telling.teller import Teller
from tests.tidy.sources import PACKAGE, list_python_files

GOLDEN = Path(__file__).parents[1] / "data" / "golden"


def read(flow: str) -> list[Event]:
    return [decode(line, "") for line in (GOLDEN / f"{flow}-v1.jsonl").read_bytes().splitlines()]


def test_no_fact_is_told_and_ignored() -> None:
    """A flow tells a fact, or declares that it has no line; a flow may tell what the session ignores."""
    lines = SESSION_LINES
    assert lines.ignored & {*lines.lines, *lines.messages} == set()
    assert {kind for flow in FLOWS.values() for kind in (*flow.lines.lines, *flow.lines.messages)} < set(FACTS)


@pytest.mark.parametrize("flow", FLOWS)
def test_a_flow_tells_all_that_every_flow_has(flow: str) -> None:
    """A flow may tell a fact in its own words; it leaves out neither lines nor rows of the session."""
    session, lines = SESSION_LINES, FLOWS[flow].lines
    assert set(lines.lines) >= set(session.lines)
    assert set(lines.rows) >= set(session.rows)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_reader_chooses_the_language(language: Language) -> None:
    """Moot's own words are in the reader's language, whatever the session speaks."""
    teller = Teller(language=language)
    lines = [line for event in read("supervisor") for line in teller.lines(event.fact)]
    assert ("✓ Done" in lines) is (language == "en")
    assert ("✓ 完成" in lines) is (language == "zh")


def test_a_decision_is_told_once() -> None:
    """What a supervisor decides is told by what follows from it: no transcript shows the JSON."""
    events, teller = read("supervisor"), Teller()
    lines = [line for event in events for line in teller.lines(event.fact)]
    assert "next_agent" not in "\n".join(lines)
    assert "next_agent" not in to_markdown(events)


def test_the_teller_knows_no_flow() -> None:
    """What differs from flow to flow is asked of the registry."""
    sources = [path.read_text(encoding="utf-8") for path in list_python_files(PACKAGE / "telling")]
    assert sources
    assert not [flow for flow in FLOWS for source in sources if f"flows.{flow}" in source]
