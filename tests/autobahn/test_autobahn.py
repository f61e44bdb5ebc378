"""The short version of `make autobahn`, where the suite is installed: framing, reserved bits, opcodes, closes."""

import asyncio
from pathlib import Path

import pytest

from tests.autobahn.run import ON_PURPOSE, PASSED, find_installed, fuzz

SUITE = find_installed()
CASES = ["1.1.*", "1.2.*", "2.*", "3.*", "4.*", "7.1.*", "7.3.*"]


@pytest.mark.skipif(SUITE is None, reason="the Autobahn test suite is not installed; `make autobahn` installs it")
def test_the_protocol_behaves_as_the_suite_expects(tmp_path: Path) -> None:
    """Every case passes but those that are refused on purpose, each with its reason."""
    assert SUITE is not None
    index = asyncio.run(fuzz(SUITE, tmp_path, CASES))
    assert len(index) >= 50
    failed = {case for case, result in index.items() if result["behavior"] not in PASSED}
    assert failed <= set(ON_PURPOSE)
