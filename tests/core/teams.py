"""Teams and readers that the tests of the core share."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from moot.core.evolve import evolve
from moot.core.facts import Fact
from moot.core.flows.chat.chat_settings import ChatSettings
from moot.core.flows.plan.plan_state import TaskRun
from moot.core.flows.registry import flow_of
from moot.core.flows.turns import TurnInput
from moot.core.session.settings import Budget
from moot.core.session.state import State, Turn
from moot.core.session.team import Language, Team, member

SomeFact = TypeVar("SomeFact")


def make_chat_team(
    humans: Sequence[str] = ("alice",),
    ais: Sequence[str] = ("bob", "carol", "dave"),
    *,
    language: Language = "en",
    chat: ChatSettings | None = None,
    budget: Budget | None = None,
    fallback: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> Team:
    """Humans first, then AIs; `bob` is shown as `Bob`."""
    kinds = [(name, "human") for name in humans] + [(name, "ai") for name in ais]
    return Team(
        name="trio",
        language=language,
        members=tuple(
            member(name, kind, name=name.capitalize(), position=position, fallback=fallback.get(name, ()))
            for position, (name, kind) in enumerate(kinds)
        ),
        chat=chat or ChatSettings(),
        budget=budget or Budget(),
    )


def only(facts: Iterable[Fact], kind: type[SomeFact]) -> list[SomeFact]:
    """The facts of one kind."""
    return [fact for fact in facts if isinstance(fact, kind)]


def fold(facts: Iterable[Fact]) -> State:
    """The state, from nothing but the facts."""
    state: State | None = None
    for fact in facts:
        state = evolve(state, fact)
    assert state is not None
    return state


def turn_input(session_id: str, state: State, turn: Turn) -> TurnInput:
    """What the worker of a turn is given."""
    return flow_of(state).turn_input(session_id, state, turn.turn_id)


def task_input(session_id: str, state: State, run: TaskRun) -> TurnInput:
    """What the worker of a task is given."""
    return flow_of(state).turn_input(session_id, state, run.dispatch_id or "")
