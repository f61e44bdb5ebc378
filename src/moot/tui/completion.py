"""What the composer offers while somebody types: members after @ or [NEXT:, commands after a slash. Pure."""

import re
from collections.abc import Sequence

from msgspec import Struct

from moot.core.slash import COMMANDS
from moot.core.team import Member
from moot.tui.words import Words

_NEXT = re.compile(r"\[NEXT:\s*(?:[^\]\n]*[,，]\s*)?([^\],，\n]*)\Z", re.IGNORECASE)
_AT = re.compile(r"(?:^|[\s,，(（])@([^\s@\]]*)\Z")
_SLASH = re.compile(r"/[a-z ]*\Z", re.IGNORECASE)


class Offer(Struct, frozen=True):
    insert: str
    label: str
    hint: str


class Completion(Struct, frozen=True):
    """What stands between `start` and `end` is replaced."""

    start: int
    end: int
    offers: tuple[Offer, ...]


def complete(text: str, caret: int, members: Sequence[Member], words: Words) -> Completion | None:
    before = text[:caret]
    if _SLASH.match(before):
        typed = before.lower()
        offers = tuple(
            Offer(each, each, words(f"slash.{each[1:].replace(' ', '_')}"))
            for each in COMMANDS
            if each.startswith(typed) and each != typed
        )
        return Completion(0, caret, offers) if offers else None
    following, at = _NEXT.search(before), _AT.search(before)
    found = following or at
    if found is None:
        return None
    wanted = found[1].removeprefix("@").lower()
    fitting = [member for member in members if _fits(member, wanted)]
    if not fitting:
        return None
    offers = tuple(
        Offer(
            member.display_name if following else f"[NEXT: {member.display_name}] ",
            member.display_name,
            " · ".join(each for each in (words(f"kind.{member.kind}"), member.role) if each),
        )
        for member in fitting
    )
    return Completion(caret - len(found[1]) - (0 if following else 1), caret, offers)


def _fits(member: Member, wanted: str) -> bool:
    return any(name.lower().startswith(wanted) for name in (member.id, member.name, member.display_name))
