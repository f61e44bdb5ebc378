"""The table of mutants names places of the code and tests that are there; `make mutants` plays it."""

import pytest

from tests.mutants.mutants import MUTANTS, Mutant
from tests.mutants.run import ROOT


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_changes_one_place_and_names_tests_that_are_there(mutant: Mutant) -> None:
    """A mutant whose place is gone would change nothing, and live for that reason only."""
    assert (ROOT / "src" / "moot" / mutant.file).read_text(encoding="utf-8").count(mutant.old) == 1
    assert mutant.new != mutant.old
    assert [name for name in mutant.tests.split() if not (ROOT / "tests" / name).is_file()] == []
