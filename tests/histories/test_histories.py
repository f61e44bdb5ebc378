"""Histories of earlier versions decode, verify and fold to what they meant when they were written."""

import json
from pathlib import Path

import pytest

from moot.core.flows.registry import FLOWS
from tests.histories.corpus import FOLDER, INDEX, check, describe, read

HISTORIES = sorted(FOLDER.glob("*/*.jsonl"))


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_history_means_what_it_meant(path: Path) -> None:
    """The chain verifies; status, floor, counts and open questions are those that its version saw."""
    events = read(path)
    meant = json.loads((path.parent / INDEX).read_text(encoding="utf-8"))[path.name]
    assert describe(events) == meant
    check(events)


def test_there_are_histories_of_every_flow() -> None:
    """A flow without a history is not protected."""
    flows = {path.stem.rpartition("-")[0] for path in HISTORIES}
    assert flows == set(FLOWS)
    assert len(HISTORIES) >= 3 * len(FLOWS)


def test_a_changed_history_is_refused(tmp_path: Path) -> None:
    """A byte that differs breaks the chain: nobody changes a history unseen."""
    changed = tmp_path / "changed.jsonl"
    changed.write_bytes(HISTORIES[0].read_bytes().replace(b'"alice"', b'"alyce"', 1))
    with pytest.raises(ValueError, match="does not follow"):
        read(changed)
