"""`moot machines`: the tables, as data, as diagrams, as text."""

import json

from moot.core.machines.catalogue import MACHINES
from tests.cli.command import Moot

NAMES = [machine.name for machine in MACHINES]


def test_as_json(moot: Moot) -> None:
    """One array of machines; every transition joins two states of its machine."""
    said = moot("machines", "--json")
    assert (said.code, said.err) == (0, "")
    machines = json.loads(said.out)
    assert [machine["name"] for machine in machines] == NAMES
    for machine in machines:
        assert list(machine) == ["name", "initial", "final", "states", "transitions"]
        states = set(machine["states"])
        assert {machine["initial"], *machine["final"]} <= states
        assert machine["transitions"]
        for row in machine["transitions"]:
            assert list(row) == ["from", "trigger", "to", "extension"]
            assert {row["from"], row["to"]} <= states
            assert isinstance(row["extension"], bool)
        reached = {machine["initial"]} | {row["to"] for row in machine["transitions"]}
        assert reached == states


def test_as_mermaid(moot: Moot) -> None:
    """One diagram a machine, each transition an arrow, its label without a second colon."""
    said = moot("machines", "--mermaid")
    assert said.code == 0
    assert said.lines.count("stateDiagram-v2") == len(NAMES)
    arrows = [line for line in said.lines if " --> " in line]
    expected = sum(1 + len(machine.final) + len(machine.rows) for machine in MACHINES)
    assert len(arrows) == expected
    assert all(line.count(":") <= 1 for line in arrows)


def test_as_text(moot: Moot) -> None:
    """A heading a machine, a line a transition."""
    said = moot("machines")
    assert said.code == 0
    assert [line.split("  ")[0] for line in said.lines if line and not line.startswith(" ")] == NAMES
    assert sum("→" in line for line in said.lines) == sum(len(machine.rows) for machine in MACHINES)


def test_one_form_at_a_time(moot: Moot) -> None:
    """Two forms are wrong usage."""
    assert moot("machines", "--json", "--mermaid").code == 2
