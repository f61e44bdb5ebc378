"""Who says whether an agent may do something: people, where somebody can ask them, and otherwise nobody."""

from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct

from moot.core.session.events import Option
from moot.runtime.ports import Ask


class PermitOption(Struct, frozen=True, kw_only=True):
    id: str
    name: str
    kind: str  # allow_once, allow_always, reject_once, reject_always, or one that a newer agent invented


class PermitRequest(Struct, frozen=True, kw_only=True):
    """An agent wants to do something. `key` names the question within the turn: asked again, it is the same one."""

    session_id: str
    turn_id: str
    member: str
    key: str
    title: str
    options: tuple[PermitOption, ...]


Permit = Callable[[PermitRequest], Awaitable[str | None]]  # the id of the option that was chosen; None: none of them


_ORDER = ("allow_once", "allow_always", "reject_once", "reject_always")  # a plain yes is for this once


def ask_people(ask: Ask, hide: Callable[[str], str]) -> Permit:
    """Put it to people, without secrets; when they say no, or nothing, it is a no for this once."""

    async def permit(request: PermitRequest) -> str | None:
        options = sorted(request.options, key=lambda option: _ORDER.index(option.kind) if option.kind in _ORDER else 2)
        shown = [Option(id=option.id, label=hide(option.name)) for option in options]
        return await ask(hide(request.title), shown, key=request.key, default=await deny(request))

    return permit


async def deny(request: PermitRequest) -> str | None:
    """No, for this once."""
    return pick(request.options, ("reject_once", "reject_always"))


def pick(options: Sequence[PermitOption], kinds: Sequence[str]) -> str | None:
    """The first option of the first of these kinds that is there."""
    return next((option.id for kind in kinds for option in options if option.kind == kind), None)
