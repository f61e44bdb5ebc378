"""The table of mutants fits the code; `make mutants` is the proof, and takes minutes."""

import pytest

from tests.mutants.mutants import MUTANTS, Mutant
from tests.mutants.run import ROOT


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_can_be_made(mutant: Mutant) -> None:
    """Its text stands once in its file, and its tests are there."""
    text = (ROOT / "src" / "moot" / mutant.file).read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1
    assert mutant.tests
    assert all((ROOT / "tests" / each).is_file() for each in mutant.tests.split())


def test_there_are_twenty() -> None:
    """At least so many, each with a name of its own."""
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 20
