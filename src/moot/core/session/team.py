"""The members of a session, and the rules that a team must meet (docs/team-file.md).

This is the part of a team that the log stores. What runs an AI member (its agent, its instructions) stays in the team
file, so that nothing logged or received can name a program to start.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cached_property, lru_cache

from msgspec import Struct

from moot.core import limits
from moot.core.flows.flow_settings import DEFAULT_FLOW, FlowSettings
from moot.core.session.settings import (
    NO_BUDGET,
    Budget,
    RouteThresholds,
    UnderstandingType,
    WorkspaceSettings,
)
from moot.languages import DEFAULT_LANGUAGE as DEFAULT_LANGUAGE
from moot.languages import LANGUAGES as LANGUAGES
from moot.languages import Language as Language
from moot.languages import as_language as as_language
from moot.languages import match_language as match_language


@lru_cache(maxsize=8192)
def normalise(name: str) -> str:
    """Return a name as it is compared: NFKC, lower case, without spaces, `-`, `_` and one trailing full stop.

    Names match only if they are equal in this form. There are no prefixes and no guesses.
    """
    text = unicodedata.normalize("NFKC", name).lower()
    text = "".join(char for char in text if not char.isspace() and char not in "-_")
    return text[:-1] if text.endswith((".", "。")) else text


Path = tuple[str | int, ...]


class Kind(StrEnum):
    HUMAN = "human"
    AI = "ai"


_HUMAN = Kind.HUMAN  # a global is faster to look up than a member of an enum


class Member(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A human or an AI. `member()` makes one with defaults."""

    id: str
    kind: Kind
    name: str
    display_name: str
    order: int
    role: str = ""
    concurrency: int = 0  # tasks at once in the plan flow; 0 = as many as the plan allows
    budget: Budget = NO_BUDGET
    purpose: str = ""  # what it is for, told to planners
    capabilities: tuple[str, ...] = ()  # what it can do, told to planners
    fallback: tuple[str, ...] = ()  # ids of members who act instead while its usage limit is reached
    edits: bool = False  # whether it may change files

    @property
    def is_human(self) -> bool:
        return self.kind is _HUMAN


def _order(member: Member) -> int:
    return member.order


class Team(FlowSettings, frozen=True, kw_only=True, dict=True):
    """The members and settings of a session. `dict=True` makes room for the cached properties."""

    name: str
    flow: str = DEFAULT_FLOW
    language: Language = DEFAULT_LANGUAGE
    members: tuple[Member, ...]
    understanding: UnderstandingType = "explicit"
    thresholds: RouteThresholds = RouteThresholds()
    budget: Budget = Budget()
    permission_timeout_s: float = 0.0  # 0 = a permission waits for ever
    workspace: WorkspaceSettings = WorkspaceSettings()

    @cached_property
    def has_trees(self) -> bool:
        """Whether members work in trees that Moot makes and records."""
        return self.workspace.type == "worktree"

    def member(self, member_id: str) -> Member:
        return self._by_id[member_id]

    def find(self, name: str) -> Member | None:
        """Return the member whose id, name or display name equals `name` after `normalise`."""
        return self._by_name.get(normalise(name))

    @cached_property
    def humans(self) -> tuple[Member, ...]:
        """By `order`; members of equal order as listed in the team."""
        return tuple(sorted([member for member in self.members if member.is_human], key=_order))

    @cached_property
    def ais(self) -> tuple[Member, ...]:
        """By `order`, like the humans."""
        return tuple(sorted([member for member in self.members if not member.is_human], key=_order))

    @property
    def first_human(self) -> Member:
        return self.humans[0]

    @cached_property
    def budgeted(self) -> tuple[Member, ...]:
        """The members with a budget of their own."""
        return tuple(member for member in self.members if member.budget != NO_BUDGET)

    @cached_property
    def longest_name(self) -> int:
        """How many characters a spelling of a name may have. Spaces and dashes do not count: it may have a few more."""
        return max(len(name) for name in self._by_name) + limits.NAME_SLACK

    @cached_property
    def has_budgets(self) -> bool:
        """Whether the session or one of its members has a budget."""
        return self.budget != NO_BUDGET or bool(self.budgeted)

    @cached_property
    def counts_periods(self) -> bool:
        """Whether a budget is renewed by period, or counts other sessions."""
        limits_ = (self.budget, *(member.budget for member in self.budgeted))
        return any(budget.per != "session" or budget.scope != "session" for budget in limits_)

    @cached_property
    def _by_id(self) -> dict[str, Member]:
        return {member.id: member for member in self.members}

    @cached_property
    def _by_name(self) -> dict[str, Member]:
        names: dict[str, Member] = {}
        for member in self.members:
            for name in (member.id, member.name, member.display_name):
                names.setdefault(normalise(name), member)
        return names


class Problem(Struct, frozen=True):
    """Something wrong with a team: where it is, and the code and the parameters of its text."""

    path: Path
    code: str
    params: dict[str, object] = {}


def member(
    id: str,  # noqa: A002 - the key in the team file
    kind: Kind | str,
    *,
    name: str | None = None,
    display_name: str | None = None,
    order: int | None = None,
    role: str = "",
    concurrency: int = 0,
    budget: Budget = NO_BUDGET,
    purpose: str = "",
    capabilities: tuple[str, ...] = (),
    fallback: tuple[str, ...] = (),
    edits: bool = False,
    position: int = 0,
) -> Member:
    """Make a member. Defaults: name = id, display_name = name, order = position."""
    shown = name or id
    return Member(
        id=id,
        kind=Kind(kind),
        name=shown,
        display_name=display_name or shown,
        order=position if order is None else order,
        role=role,
        concurrency=concurrency,
        budget=budget,
        purpose=purpose,
        capabilities=capabilities,
        fallback=fallback,
        edits=edits,
    )


def find_problems(members: Sequence[Member]) -> Iterator[Problem]:
    """Yield every rule of a team that these members break, with its place in the team file."""
    if len(members) < 2:
        yield Problem(("members",), "team_too_small", {"count": len(members)})
    if not any(member.is_human for member in members):
        yield Problem(("members",), "team_without_human")
    owners: dict[str, tuple[int, str]] = {}
    for position, member in enumerate(members):
        names = {normalise(getattr(member, field)): field for field in ("display_name", "name", "id")}
        for key, field in reversed(names.items()):  # a name that only repeats the id is not reported again
            written = getattr(member, field)
            path = ("members", position, field)
            if not key:
                yield Problem(path, "name_not_addressable", {"field": field, "name": written})
                continue
            owner, owner_written = owners.setdefault(key, (position, written))
            if owner != position:
                params = {"field": field, "name": written, "who": member.id}
                yield Problem(path, "name_taken", {**params, "other": owner_written, "owner": members[owner].id})
