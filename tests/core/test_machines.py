"""Every state machine against its diagram."""

import json
import re
from enum import StrEnum
from typing import Any

import pytest

from moot.core.fsm import IllegalTransition, Machine, machine
from moot.core.machines.catalogue import MACHINES, describe, to_mermaid
from moot.core.machines.session import SESSION, Status
from moot.core.machines.session import Trigger as SessionTrigger
from tests.core.machine_tables import DIAGRAMS, EXTENSIONS

Transition = tuple[str, str, str]
BY_NAME = {each.name: each for each in MACHINES}


def read(diagram: str) -> set[Transition]:
    """(from, trigger, to) of each line of a diagram."""
    rows = set()
    for line in diagram.strip().splitlines():
        source, target, triggers = re.split(r" --> |: ", line, maxsplit=2)
        rows |= {(source, trigger, target) for trigger in re.split(r"\s*[/|]\s*", triggers)}
    return rows


def triggers_of(each: Machine[Any, Any]) -> list[StrEnum]:
    kind: type[StrEnum] = type(each.rows[0].trigger)
    return list(kind)


PAIRS = [
    pytest.param(each, state, trigger, id=f"{each.name}-{state}-{trigger}")
    for each in MACHINES
    for state in each.states
    for trigger in triggers_of(each)
]


@pytest.mark.parametrize(("each", "state", "trigger"), PAIRS)
def test_every_pair_is_a_row_or_refused(each: Machine[Any, Any], state: StrEnum, trigger: StrEnum) -> None:
    """A pair of the diagrams leads where they say; any other is refused and says what is taken instead."""
    rows = read(DIAGRAMS[each.name]) | read(EXTENSIONS[each.name])
    targets = [to for source, fired, to in rows if (source, fired) == (state, trigger)]
    if targets:
        assert [each.advance(state, trigger)] == targets
        return
    with pytest.raises(IllegalTransition) as refused:
        each.advance(state, trigger)
    acceptable = sorted({fired for source, fired, _ in rows if source == state})
    said = f"{each.name}: {state} does not take {trigger}; it takes {', '.join(acceptable) or 'nothing'}"
    assert str(refused.value) == said


def test_all_pairs_are_tested() -> None:
    """States x triggers of all seven machines, none left out."""
    assert len(PAIRS) == sum(len(each.states) * len(triggers_of(each)) for each in MACHINES)
    assert set(BY_NAME) == set(DIAGRAMS)


@pytest.mark.parametrize("name", sorted(DIAGRAMS))
def test_a_machine_has_exactly_the_transitions_of_its_diagram(name: str) -> None:
    """Rows that are no extension equal the diagram."""
    rows = {(row.state, row.trigger, row.target) for row in BY_NAME[name].rows if not row.extension}
    assert rows == read(DIAGRAMS[name])


@pytest.mark.parametrize("name", sorted(EXTENSIONS))
def test_transitions_beyond_the_diagrams_are_marked(name: str) -> None:
    """The extensions, and only they, carry the mark."""
    rows = {(row.state, row.trigger, row.target) for row in BY_NAME[name].rows if row.extension}
    assert rows == read(EXTENSIONS[name])


@pytest.mark.parametrize(
    ("name", "initial", "final"),
    [
        ("session", "paused", {"completed"}),
        ("input_routing", "IDLE", set()),
        ("workflow", "PLAN_LOOP", {"COMPLETED", "FAILED"}),
        ("task", "CREATED", {"DONE", "BLOCKED", "CANCELLED"}),
        ("agent", "IDLE", set()),
        ("interrupt", "EXECUTION", {"PLAN_LOOP", "NEW_TASK_INIT"}),
        ("connection", "DISCONNECTED", set()),
    ],
)
def test_where_machines_start_and_end(name: str, initial: str, final: set[str]) -> None:
    """`[*] -->` and `--> [*]`; a final state takes nothing."""
    each = BY_NAME[name]
    assert each.initial == initial
    assert set(each.final) == final
    assert not any(row.state in final for row in each.rows)


@pytest.mark.parametrize("name", sorted(DIAGRAMS))
def test_every_trigger_is_used(name: str) -> None:
    """No trigger that no row takes."""
    each = BY_NAME[name]
    assert {row.trigger for row in each.rows} == set(triggers_of(each))


def test_a_refused_trigger_changes_nothing() -> None:
    """Advance returns or raises; there is no state of its own to spoil."""
    with pytest.raises(IllegalTransition):
        SESSION.advance(Status.COMPLETED, SessionTrigger.HUMAN_INPUT)
    assert SESSION.advance(Status.PAUSED, SessionTrigger.HUMAN_INPUT) is Status.ACTIVE


# the tables are checked when they are made


class Light(StrEnum):
    RED = "red"
    GREEN = "green"


class Push(StrEnum):
    GO = "go"
    STOP = "stop"


def test_a_table_with_two_rows_for_a_pair_is_refused() -> None:
    """A duplicate row fails at import, also between rows and extensions."""
    row = (Light.RED, Push.GO, Light.GREEN)
    back = (Light.GREEN, Push.STOP, Light.RED)
    with pytest.raises(ValueError, match=r"light: two rows for \(red, go\)"):
        machine("light", initial=Light.RED, rows=[row, back, (Light.RED, Push.GO, Light.RED)])
    with pytest.raises(ValueError, match=r"light: two rows for \(red, go\)"):
        machine("light", initial=Light.RED, rows=[row, back], extensions=[row])


def test_a_table_with_an_unreachable_state_is_refused() -> None:
    """A state nobody can reach fails at import."""
    with pytest.raises(ValueError, match="light: unreachable: green"):
        machine("light", initial=Light.RED, rows=[(Light.RED, Push.GO, Light.RED), (Light.GREEN, Push.STOP, Light.RED)])


def test_a_table_with_an_undeclared_dead_end_is_refused() -> None:
    """A state without a way out is declared final, or fails at import."""
    rows = [(Light.RED, Push.GO, Light.GREEN)]
    with pytest.raises(ValueError, match="light: dead ends that are not declared final: green"):
        machine("light", initial=Light.RED, rows=rows)
    assert machine("light", initial=Light.RED, final=[Light.GREEN], rows=rows).final == {Light.GREEN}


# what other programs read


@pytest.mark.parametrize("name", sorted(DIAGRAMS))
def test_machines_are_described_as_json(name: str) -> None:
    """Name, initial, final, states, transitions with from, trigger, to, extension."""
    each = BY_NAME[name]
    described = json.loads(json.dumps(describe(each)))
    assert list(described) == ["name", "initial", "final", "states", "transitions"]
    assert described["name"] == name
    assert described["initial"] == each.initial
    assert described["final"] == sorted(each.final)
    assert described["states"] == list(each.states)
    assert all(list(row) == ["from", "trigger", "to", "extension"] for row in described["transitions"])
    rows = {(row["from"], row["trigger"], row["to"]): row["extension"] for row in described["transitions"]}
    diagram, extensions = read(DIAGRAMS[name]), read(EXTENSIONS[name])
    assert rows == {**dict.fromkeys(diagram, False), **dict.fromkeys(extensions, True)}


@pytest.mark.parametrize("name", sorted(DIAGRAMS))
def test_machines_are_drawn_from_their_tables(name: str) -> None:
    """Diagrams are generated; each row is one arrow, extensions carry a plus sign."""
    each = BY_NAME[name]
    lines = to_mermaid(each).splitlines()
    assert lines[:2] == ["stateDiagram-v2", f"  [*] --> {each.initial}"]
    for row in each.rows:
        label = row.trigger.replace(":", " = ") + (" (+)" if row.extension else "")
        assert f"  {row.state} --> {row.target}: {label}" in lines
    assert len(lines) == 2 + len(each.rows) + len(each.final)
