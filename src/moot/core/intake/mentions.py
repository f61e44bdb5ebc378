"""Find the members that a message mentions as `@name` (docs/chat.md#mentions).

A mention is not a marker: it stays in the text. `@` after a letter or digit belongs to an address (`ann@example.org`),
and `@src/app.py` is a file. Mentions in code and in quoted lines are plain text.
"""

import difflib
import re
import unicodedata

from msgspec import Struct

from moot.core import limits
from moot.core.intake.markers import inert_spans
from moot.core.session.team import Team, normalise

_AT = re.compile(r"(?<![A-Za-z0-9._%+\-@＠])[@＠]")
_INLINE_CODE = re.compile(r"(?<!`)(`++)[^`\n]++\1(?!`)")
_FILE_END = re.compile(r"/|\.(?=\w)")  # what follows a name that is only the beginning of a path
_WORD_END = re.compile(r"[\s,，、。；;：:!！?？)）\]】]|\Z")
_NEAR = 0.6  # how similar a name must be to be suggested


class Mentions(Struct, frozen=True, kw_only=True, gc=False):
    """`members` are ids, in the order of the text, and `names` their names as written. `stranger` is the first word of
    the text if it is an `@name` that nobody has, and `nearest` the most similar name."""

    members: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    stranger: str = ""
    nearest: str = ""


def find_mentions(text: str, team: Team) -> Mentions:
    """Find the mentions of a text. Only its first `limits.MENTIONS` at-signs are looked at."""
    if "@" not in text and "＠" not in text:
        return Mentions()
    inert = sorted([*inert_spans(text), *(match.span() for match in _INLINE_CODE.finditer(text))])
    members: list[str] = []
    names: list[str] = []
    stranger, first = "", len(text) - len(text.lstrip())
    for at_signs, match in enumerate(_AT.finditer(text)):
        if at_signs == limits.MENTIONS:
            break
        if any(start <= match.start() < end for start, end in inert):
            continue
        name = _find_name(text, match.end(), team)
        member = team.find(name) if name else None
        if member:
            members.append(member.id)
            names.append(name)
        elif match.start() == first:
            stranger = _read_word(text, match.end())
    return Mentions(
        members=tuple(members), names=tuple(names), stranger=stranger, nearest=find_nearest_name(stranger, team)
    )


def _find_name(text: str, start: int, team: Team) -> str:
    """Return the longest name of a member that begins at `start`; empty if there is none, or if it is a path."""
    if text[start : start + 1].isspace():
        return ""
    for end in range(min(start + team.longest_name, len(text)), start, -1):
        if not _is_boundary(text, end) or text[end - 1].isspace():
            continue
        if team.find(text[start:end]):
            return "" if _FILE_END.match(text, end) else text[start:end]
    return ""


def _is_boundary(text: str, at: int) -> bool:
    """Whether a name may end here: at the end, or before a space, punctuation or a CJK character."""
    if at == len(text):
        return True
    char = text[at]
    return _is_cjk(char) if char.isalnum() else char not in "-_"


def _is_cjk(char: str) -> bool:
    return unicodedata.name(char, "").startswith(("CJK ", "HIRAGANA", "KATAKANA", "HANGUL"))


def _read_word(text: str, start: int) -> str:
    """Return the word that begins at `start`; empty if it is the path of a file."""
    end = _WORD_END.search(text, start)
    word = text[start : end.start() if end else len(text)].rstrip(".")
    return "" if "/" in word or "." in word else word[: limits.NAME_CHARS]


def find_nearest_name(word: str, team: Team) -> str:
    """Return the display name of the member whose id or name is most like a word; empty if none is similar."""
    if not word:
        return ""
    names = {normalise(name): each.display_name for each in team.members for name in (each.id, each.name)}
    near = difflib.get_close_matches(normalise(word), names, n=1, cutoff=_NEAR)
    return names[near[0]] if near else ""
