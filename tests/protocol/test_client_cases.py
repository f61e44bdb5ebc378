"""The pure client half does what the recorded cases say; the browser's client is held to the same file."""

from typing import Any

import pytest

from tests.protocol.client_cases import CASES, Player


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_client_passes_the_recorded_case(case: dict[str, Any]) -> None:
    """Both clients pass the same recorded cases."""
    player = Player()
    for number, step in enumerate(case["steps"]):
        outcome = player.outcome(player.play(step))
        expected = {"sent": [], "events": [], **step.get("expect", {})}
        assert {key: outcome[key] for key in expected} == expected, f"step {number}: {step}"


def test_every_case_says_why() -> None:
    """A case states its rule, and no two have one name."""
    assert all(case["why"].endswith(".") for case in CASES)
    assert len({case["name"] for case in CASES}) == len(CASES) >= 15
