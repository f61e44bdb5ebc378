"""Fold facts into a state. Folding makes no decisions and cannot fail on facts that `decide` returned."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from moot.core.facts import Fact
from moot.core.flows.flow_settings import sections
from moot.core.session import session_fold
from moot.core.session.events import SessionCreated
from moot.core.session.state import Slice, State, StateOf
from moot.core.session.team import Team

if TYPE_CHECKING:
    from moot.core.flows.flow import Flow

FoldOne = Callable[[State, Any], State]
_SLICES: dict[str, type[Slice]] = {}  # by the flow's name
_STEPS: dict[type[Slice], dict[type[Fact], FoldOne]] = {}  # by slice: folding is hot, and looking up a type is fast


def evolve(state: State | None, fact: Fact) -> State:
    """Return the state after `fact`. `state` is None for the first fact, which must be `SessionCreated`."""
    if state is None:
        if not isinstance(fact, SessionCreated):
            raise TypeError(f"a log begins with {SessionCreated.event}, not with {fact.event}")
        return _create(fact)
    return _STEPS[type(state.slice)][type(fact)](state, fact)


def folds_of(state: State) -> Mapping[type[Fact], FoldOne]:
    """Return the functions that fold the facts of this state's flow, for callers that fold several."""
    return _STEPS[type(state.slice)]


def learn(flow: "Flow") -> None:
    """Register a flow's facts. Raises TypeError if one of them is not folded."""
    unknown = [kind.__name__ for kind in flow.facts if kind not in flow.fold.table]
    if unknown:
        raise TypeError(f"the {flow.name} flow does not fold {', '.join(unknown)}")
    steps: dict[type[Fact], FoldOne] = {**session_fold.fold.table, **flow.fold.table}
    for kind, follow in flow.follow.table.items():
        steps[kind] = _follow(steps[kind], follow)
    _STEPS[flow.slice_type] = steps
    _SLICES[flow.name] = flow.slice_type


def _follow(fold: FoldOne, follow: Callable[[State, State, Any], State]) -> FoldOne:
    return lambda state, fact: follow(state, fold(state, fact), fact)


def _create(fact: SessionCreated) -> State:
    team = Team(
        name=fact.team,
        flow=fact.flow,
        language=fact.language,
        members=fact.members,
        understanding=fact.understanding,
        thresholds=fact.thresholds,
        budget=fact.budget,
        permission_timeout_s=fact.permission_timeout_s,
        workspace=fact.workspace,
        **sections(fact),
    )
    own = _SLICES[fact.flow]()
    return StateOf(team=team, title=fact.title, language=fact.language, slice=own, session_id=fact.session_id)
