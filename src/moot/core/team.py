"""Who takes part in a session, and the rules a team must meet (chat: team).

This is what the log remembers of a team. What runs an AI member (its agent, its instructions) stays in the team file:
nothing that was logged or received can name a program to start.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Literal

from msgspec import Struct

from moot.core.names import normalise
from moot.core.settings import NO_BUDGET, Budget, ChatSettings, PlanSettings, RouteThresholds, UnderstandingType
from moot.core.supervisor_settings import SupervisorSettings

Language = Literal["zh", "en"]
Path = tuple[str | int, ...]


class Kind(StrEnum):
    HUMAN = "human"
    AI = "ai"


_HUMAN = Kind.HUMAN  # looking a member of an enum up costs as much as a call


class Flow(StrEnum):
    CHAT = "chat"
    SUPERVISOR = "supervisor"
    PLAN = "plan"


class Member(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A human or an AI. Made by `member()`, which fills in the defaults."""

    id: str
    kind: Kind
    name: str
    display_name: str
    order: int
    role: str = ""
    concurrency: int = 0  # tasks at once in the plan flow; 0 = as many as the plan allows
    budget: Budget = NO_BUDGET

    @property
    def is_human(self) -> bool:
        return self.kind is _HUMAN


class Team(Struct, frozen=True, kw_only=True, dict=True):
    """`dict` gives the cached look-ups below a place to live; they are no part of the value."""

    name: str
    flow: Flow = Flow.CHAT
    language: Language = "en"
    members: tuple[Member, ...]
    understanding: UnderstandingType = "explicit"
    thresholds: RouteThresholds = RouteThresholds()
    chat: ChatSettings = ChatSettings()
    plan: PlanSettings = PlanSettings()
    supervisor: SupervisorSettings = SupervisorSettings()
    budget: Budget = Budget()

    def member(self, member_id: str) -> Member:
        return self._by_id[member_id]

    def find(self, name: str) -> Member | None:
        """The member whose id, name or display name equals `name` after normalising."""
        return self._by_name.get(normalise(name))

    @cached_property
    def humans(self) -> tuple[Member, ...]:
        """By `order`; members of equal order as they stand in the team."""
        return tuple(sorted((each for each in self.members if each.is_human), key=lambda each: each.order))

    @cached_property
    def ais(self) -> tuple[Member, ...]:
        """By `order`, like the humans."""
        return tuple(sorted((each for each in self.members if not each.is_human), key=lambda each: each.order))

    @property
    def first_human(self) -> Member:
        return self.humans[0]

    @cached_property
    def budgeted(self) -> tuple[Member, ...]:
        """Those who have a budget of their own."""
        return tuple(each for each in self.members if each.budget != NO_BUDGET)

    @cached_property
    def _by_id(self) -> dict[str, Member]:
        return {each.id: each for each in self.members}

    @cached_property
    def _by_name(self) -> dict[str, Member]:
        names: dict[str, Member] = {}
        for each in self.members:
            for name in (each.id, each.name, each.display_name):
                names.setdefault(normalise(name), each)
        return names


class Problem(Struct, frozen=True):
    """Something wrong with a team: where it is, and a sentence."""

    path: Path
    text: str


def member(
    id: str,  # noqa: A002 - the word of the team file
    kind: Kind | str,
    *,
    name: str | None = None,
    display_name: str | None = None,
    order: int | None = None,
    role: str = "",
    concurrency: int = 0,
    budget: Budget = NO_BUDGET,
    position: int = 0,
) -> Member:
    """A member with its defaults: name = id, display_name = name, order = position."""
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
    )


def find_problems(members: Sequence[Member], language: Language = "en") -> Iterator[Problem]:
    """Every rule of a team that these members break, each with the place of the culprit."""
    if len(members) < 2:
        yield Problem(("members",), f"a team needs at least 2 members, this one has {len(members)}")
    if not any(member.is_human for member in members):
        needed = "团队至少需要 1 个 Human 成员" if language == "zh" else "a team needs at least 1 human member"
        yield Problem(("members",), needed)
    owners: dict[str, tuple[int, str]] = {}
    for position, each in enumerate(members):
        names = {normalise(getattr(each, field)): field for field in ("display_name", "name", "id")}
        for key, field in reversed(names.items()):  # a name that only repeats the id is not reported again
            written = getattr(each, field)
            if not key:
                yield Problem(("members", position, field), f"{field} {written!r} has no letter or digit to address")
                continue
            owner, owner_written = owners.setdefault(key, (position, written))
            if owner != position:
                yield Problem(
                    ("members", position, field),
                    f"{field} {written!r} of member {each.id!r} is the same as {owner_written!r} of member "
                    f"{members[owner].id!r} (case, spaces, - and _ do not count); give one of them another name",
                )


def check(team: Team) -> Team:
    """The team itself, or ValueError with every problem."""
    problems = [problem.text for problem in find_problems(team.members, team.language)]
    if problems:
        raise ValueError("; ".join(problems))
    return team
