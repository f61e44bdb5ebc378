"""For tests of teams and agents: scripted members, a clock that you move, given / when / then."""

from moot.testing.clock import VirtualClock
from moot.testing.scenario import Scenario, given
from moot.testing.teams import human, make_team, scripted

__all__ = ["Scenario", "VirtualClock", "given", "human", "make_team", "scripted"]
