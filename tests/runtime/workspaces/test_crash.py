"""A plan that is killed at any moment ends like one that is not; `make workspaces-crash` tries every moment."""

import sys

import pytest

from tests.runtime.workspaces.crash_run import How, try_moment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "last"), [("merge", last) for last in (None, 12, 83, 151, 190)] + [("apply", None), ("apply", 470)]
)
def test_a_killed_plan_goes_on_and_ends_the_same(how: How, last: int | None) -> None:
    """No commit is lost or doubled, the result equals that of an undisturbed run, and nothing is left over."""
    counted, problems = try_moment(how, last)
    assert problems == []
    if last is None:
        assert int(counted.split()[0]) > 190
