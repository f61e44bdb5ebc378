"""Completion in the composer: members and files after @, members after [NEXT:, commands after a slash."""

import re
from collections.abc import Sequence

from msgspec import Struct

from moot.core.intake.slash import COMMANDS
from moot.core.session.team import Member, as_language
from moot.core.texts import render
from moot.tui.attaching import ATTACH
from moot.tui.fuzzy import find_fuzzy
from moot.tui.words import Words

MOST_FILES = 30
_NEXT = re.compile(r"\[NEXT:\s*(?:[^\]\n]*[,，]\s*)?([^\],，\n]*)\Z", re.IGNORECASE)
_AT = re.compile(r"(?:^|[\s,，(（])[@＠]([^\s@＠\]]*)\Z")
_SLASH = re.compile(r"/[a-z ]*\Z", re.IGNORECASE)


class Offer(Struct, frozen=True):
    insert: str
    label: str
    hint: str


class Completion(Struct, frozen=True):
    """Offers that replace the text between `start` and `end`. `is_whole`: what is typed means something already."""

    start: int
    end: int
    offers: tuple[Offer, ...]
    is_whole: bool = False


def complete(
    text: str, caret: int, members: Sequence[Member], words: Words, files: Sequence[str] = ()
) -> Completion | None:
    """Return what can be inserted at `caret`, or None if nothing fits."""
    before = text[:caret]
    if _SLASH.match(before):
        typed = before.lower()
        offers = tuple(
            Offer(command, command, _explain(command, words))
            for command in (*COMMANDS, ATTACH)
            if command.startswith(typed) and command != typed
        )
        return Completion(0, caret, offers, typed in COMMANDS) if offers else None
    in_marker = _NEXT.search(before)
    match = in_marker or _AT.search(before)
    if match is None:
        return None
    prefix = match[1].removeprefix("@").lower()
    fitting = sorted((member for member in members if _fits(member, prefix)), key=lambda member: member.is_human)
    offers = tuple(
        Offer(
            f"{member.display_name}]" if in_marker else f"@{member.display_name} ",
            member.display_name,
            " · ".join(part for part in (words(f"kind.{member.kind}"), member.role) if part),
        )
        for member in fitting
    )
    if not in_marker and prefix:
        found = find_fuzzy(prefix, files, lambda path: path, MOST_FILES)
        offers += tuple(Offer(f"@{path} ", path, words("file")) for path in found)
    is_whole = not in_marker and any(prefix == offer.insert[1:].strip().lower() for offer in offers)
    start = caret - len(match[1]) - (0 if in_marker else 1)
    return Completion(start, caret, offers, is_whole) if offers else None


def wants_files(text: str, caret: int) -> bool:
    """Return whether the name of a file could be completed at `caret`."""
    return not _NEXT.search(text[:caret]) and bool(_AT.search(text[:caret]))


def _explain(command: str, words: Words) -> str:
    name, _, argument = command[1:].partition(" ")
    language = as_language(argument)
    if name == "lang" and language:
        return words("slash.lang", name=render("language.name", language))
    return words(f"slash.{command[1:].replace(' ', '_')}")


def _fits(member: Member, prefix: str) -> bool:
    return any(name.lower().startswith(prefix) for name in (member.id, member.name, member.display_name))
