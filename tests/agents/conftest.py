"""No program of any test here is there when all of them are over."""

import time
from collections.abc import Iterator

import pytest

from tests.agents.programs import list_started


@pytest.fixture(scope="session", autouse=True)
def nobody_is_left() -> Iterator[None]:
    before = list_started()
    yield
    until = time.monotonic() + 5
    while list_started() - before and time.monotonic() < until:
        time.sleep(0.05)
    assert list_started() - before == set()
