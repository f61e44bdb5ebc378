"""Fixtures for tests of teams; pytest finds them where Moot is installed.

Nothing of Moot is imported before a test uses one: pytest loads this module in every project.
"""

import asyncio
from collections.abc import Callable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from moot.config.team_file import TeamFile
    from moot.testing import Recording, VirtualClock


@pytest.fixture
def moot_team() -> "TeamFile":
    """The team that `moot_record` plays: a human, ann, and a scripted member, bob. Override it with your own."""
    from moot.testing import human, make_team, scripted

    return make_team(human("ann"), scripted("bob", "Done."))


@pytest.fixture
def moot_clock() -> "VirtualClock":
    """A clock that moves when a test moves it: `await moot_clock.advance(1800)`."""
    from moot.testing import VirtualClock

    return VirtualClock()


@pytest.fixture
def moot_record(moot_team: "TeamFile", moot_clock: "VirtualClock") -> "Callable[..., Recording]":
    """A function that says texts to a new session of `moot_team` in memory and returns its `Recording`.

    `moot_record("@bob hello", "approve", agents={"bob": function})` says each text when the floor is back with a human.
    """
    from moot.testing import record

    def play(*texts: str, agents: Mapping[str, Any] | None = None) -> "Recording":
        return asyncio.run(record(moot_team, *texts, agents=agents, clock=moot_clock))

    return play


@pytest.fixture
def moot_recording() -> "Callable[[str | PathLike[str]], Recording]":
    """A function that reads a session as `moot sessions export` wrote it, as a `Recording`."""
    from moot.testing import read_recording

    return read_recording
