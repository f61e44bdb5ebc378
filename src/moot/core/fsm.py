"""State machines as data: a table of rows that is checked when it is made, and one way to move along it.

A row is `(state, trigger, target)`. Tables have no guards. Each machine's module holds its table, an essay, and every
function that moves it; no state is ever set past the table. Other modules name the triggers of two machines only: the
plan flow those of the workflow, because each move is an event, and the client's half those of its connection. Coupled
machines do not know each other; a fact moves each of them through its own functions.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from moot.core.errors import MootError

S = TypeVar("S", bound=StrEnum)
T = TypeVar("T", bound=StrEnum)


class IllegalTransition(MootError):
    """The table has no such row; the state is unchanged."""


@dataclass(frozen=True, slots=True)
class Row(Generic[S, T]):
    state: S
    trigger: T
    target: S
    extension: bool = False


@dataclass(frozen=True, slots=True)
class Machine(Generic[S, T]):
    name: str
    initial: S
    final: frozenset[S]
    states: tuple[S, ...]
    rows: tuple[Row[S, T], ...]
    table: Mapping[tuple[S, T], S]

    def advance(self, state: S, trigger: T) -> S:
        """Return the next state. Raises IllegalTransition if the table has no row for this pair."""
        try:
            return self.table[state, trigger]
        except KeyError:
            allowed = ", ".join(sorted({row.trigger for row in self.rows if row.state == state})) or "nothing"
            raise IllegalTransition(f"{self.name}: {state} does not take {trigger}; it takes {allowed}") from None

    def takes(self, state: S, trigger: T) -> bool:
        """Whether the table has a row for this pair."""
        return (state, trigger) in self.table

    def walk(self, state: S, moves: Mapping[S, tuple[T, ...]]) -> S:
        """Apply the triggers that `moves` lists for this state, one after the other; a state without an entry stays.

        Raises IllegalTransition like `advance`, so that `moves` can name nothing that the table does not have.
        """
        for trigger in moves.get(state, ()):
            state = self.advance(state, trigger)
        return state


def machine(
    name: str,
    *,
    initial: S,
    final: Iterable[S] = (),
    rows: Iterable[tuple[S, T, S]],
    extensions: Iterable[tuple[S, T, S]] = (),
) -> Machine[S, T]:
    """Check a table and make the machine. A table that contradicts itself raises ValueError, at import.

    Args:
        rows: the transitions of the original design.
        extensions: transitions that the original design left open.
    """
    every = tuple(Row(*row) for row in rows) + tuple(Row(*row, extension=True) for row in extensions)
    table: dict[tuple[S, T], S] = {}
    for row in every:
        if (row.state, row.trigger) in table:
            raise ValueError(f"{name}: two rows for ({row.state}, {row.trigger})")
        table[row.state, row.trigger] = row.target
    states = tuple(type(initial))
    ends = frozenset(final)
    unreachable = set(states) - _reachable(initial, every)
    if unreachable:
        raise ValueError(f"{name}: unreachable: {', '.join(sorted(unreachable))}")
    dead = {state for state in states if not any(row.state == state for row in every)}
    if dead - ends:
        raise ValueError(f"{name}: dead ends that are not declared final: {', '.join(sorted(dead - ends))}")
    return Machine(name=name, initial=initial, final=ends, states=states, rows=every, table=table)


def _reachable(initial: S, rows: tuple[Row[S, T], ...]) -> set[S]:
    seen, frontier = {initial}, [initial]
    while frontier:
        state = frontier.pop()
        for row in rows:
            if row.state == state and row.target not in seen:
                seen.add(row.target)
                frontier.append(row.target)
    return seen
