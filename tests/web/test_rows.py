"""The timeline of the page has the rows of the teller: the same events, outcomes and words."""

import json
import subprocess
from typing import Any

import msgspec
import pytest

from moot.core.codec import decode
from moot.core.flows.registry import show
from moot.core.session.team import LANGUAGES, Language
from moot.core.view import project
from moot.protocol.merge import to_document
from moot.telling.teller import Teller
from moot.telling.timeline import Timeline, describe
from tests.protocol.client_cases import DATA
from tests.web.node import NODE, ROOT, needs_node

GOLDEN = sorted(path.stem for path in (DATA / "golden").glob("*.jsonl"))


def read(name: str, language: Language) -> tuple[list[list[Any]], dict[str, Any]]:
    """Return the rows of a golden log in Python, and what the page is given of it."""
    timeline, teller, frames = Timeline(), Teller(), []
    for line in (DATA / "golden" / f"{name}.jsonl").read_bytes().splitlines():
        fact = decode(line, "").fact
        frame = json.loads(line) | {"show_content": show(fact, language)}
        frames.append(frame)
        timeline.push(frame, fact, teller.tell(fact).state)
    state = teller.state
    assert state
    rows = [
        [row.seq, row.name, row.category, row.outcome, row.ended_at, describe(row, state, language)]
        for row in timeline.rows
    ]
    texts = json.loads((ROOT / "src" / "moot" / "texts" / f"{language}.json").read_bytes())
    words = {code.removeprefix("ui."): text for code, text in texts.items()}
    view = msgspec.json.decode(msgspec.json.encode(to_document(project(state, language))))
    return rows, {"frames": frames, "view": view, "words": words, "language": language}


@needs_node
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", GOLDEN)
def test_the_page_tells_the_rows_of_the_teller(name: str, language: Language) -> None:
    """Each golden session has the same rows in the terminal and on the page, in every language."""
    rows, given = read(name, language)
    command = [NODE or "", str(ROOT / "tests" / "web" / "js" / "tell_rows.mjs")]
    done = subprocess.run(
        command, input=json.dumps(given) + "\n", capture_output=True, text=True, timeout=60, check=True
    )
    assert len(rows) > 10
    assert json.loads(done.stdout) == rows
