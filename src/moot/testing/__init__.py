"""Tools for tests of teams and agents: scripted members, a virtual clock, given / when / then, recorded sessions."""

from moot.testing.clock import VirtualClock
from moot.testing.intents import analyse, control
from moot.testing.plan_scenario import PlanScenario, plan_given, task
from moot.testing.recording import Recording, read_recording, record
from moot.testing.scenario import Scenario, given
from moot.testing.supervisor_scenario import SupervisorScenario, supervisor_given
from moot.testing.teams import human, make_team, scripted

__all__ = [
    "PlanScenario",
    "Recording",
    "Scenario",
    "SupervisorScenario",
    "VirtualClock",
    "analyse",
    "control",
    "given",
    "human",
    "make_team",
    "plan_given",
    "read_recording",
    "record",
    "scripted",
    "supervisor_given",
    "task",
]
