"""Answers the permission requests of ACP agents: by asking people, or with no where nobody can be asked."""

from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct

from moot.core import limits
from moot.core.session.events import Option
from moot.core.text import cut
from moot.runtime.ports import Ask


class PermitOption(Struct, frozen=True, kw_only=True):
    id: str
    name: str
    kind: str  # allow_once, allow_always, reject_once, reject_always, or one that a newer agent invented


class PermitRequest(Struct, frozen=True, kw_only=True):
    """A request of an agent. `key` identifies the question within the turn: the same key is the same question."""

    session_id: str
    turn_id: str
    member: str
    key: str
    title: str
    options: tuple[PermitOption, ...]
    change: str = ""  # of files, as a diff


CUT_NOTE_CHARS = 60  # for the note that says how much was cut
Permit = Callable[[PermitRequest], Awaitable[str | None]]  # returns the id of the chosen option; None for no option


_ORDER = ("allow_once", "allow_always", "reject_once", "reject_always")  # so that a plain yes allows it once


def ask_people(ask: Ask, hide: Callable[[str], str]) -> Permit:
    """Return a permit that asks people, without secrets. No answer counts as rejecting it once."""

    async def permit(request: PermitRequest) -> str | None:
        options = sorted(request.options, key=lambda option: _ORDER.index(option.kind) if option.kind in _ORDER else 2)
        shown = [Option(id=option.id, label=hide(option.name)) for option in options]
        question = cut(f"{request.title}\n{request.change}".strip(), limits.QUESTION_CHARS - CUT_NOTE_CHARS)
        return await ask(hide(question), shown, key=request.key, default=await deny(request))

    return permit


async def deny(request: PermitRequest) -> str | None:
    """Reject it once."""
    return pick(request.options, ("reject_once", "reject_always"))


def pick(options: Sequence[PermitOption], kinds: Sequence[str]) -> str | None:
    """Return the first option of the first of these kinds that is offered; None if there is none."""
    return next((option.id for kind in kinds for option in options if option.kind == kind), None)
