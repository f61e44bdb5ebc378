"""Find JSON objects in prose: models write text around the object they were asked for.

An automaton with its own stack reads the text, so that hostile text needs no recursion and only linear time. After an
attempt that failed, braces inside its strings are tried as well, because prose has quotes. Two attempts that pass the
same position disagree on whether it is inside a string, so no position is read more than twice.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from msgspec import Struct

from moot.core.text import clean_data

DEPTH = 64  # deeper objects are ignored; objects nested in them may count

_STRING = r'"[^"\\]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*+)*+"'
_NUMBER = r"-?(?:0|[1-9][0-9]{0,300}+)(?:\.[0-9]{1,300}+)?+(?:[eE][+-]?[0-9]{1,5}+)?+(?![0-9.eE])"
_TOKEN = re.compile(
    rf"[ \t\r\n]*+(?:(?P<string>{_STRING})|(?P<scalar>{_NUMBER}|true|false|null)|(?P<mark>[{{}}\[\]:,]))"
)
_START = re.compile(r'\{(?=[ \t\r\n]*+")')
_DECODER = json.JSONDecoder(strict=False)  # line ends inside strings are forgiven
_EMPTY_FENCE = re.compile(r"```(?:json)?\s*+```")
_MANY_DIGITS = re.compile(r"[0-9]{250}")


class _Open(Struct):
    """An object or array that has not ended yet."""

    start: int
    is_object: bool
    has_key: bool = False
    height: int = 1


class _Span(Struct, frozen=True):
    start: int
    end: int


class _Only(Struct, frozen=True):
    """The only object of a text, as it is written there."""

    value: dict[str, Any]
    span: _Span


def find_object(text: str, key: str) -> dict[str, Any] | None:
    """Return the last balanced JSON object of `text` that has `key`, written without escapes, at its top level.

    An object nested in another one that has the key does not count. Strings are cleaned and numbers finite.
    """
    if f'"{key}"' not in text:
        return None
    if only := _read_only_object(text, key):
        return _clean(only.value)
    for span in sorted(_find_spans(text, f'"{key}"'), key=lambda span: (-span.end, span.start)):
        if value := _clean(_DECODER.decode(text[span.start : span.end])):
            return value
    return None


def _clean(value: Any) -> dict[str, Any] | None:
    try:
        cleaned: dict[str, Any] = clean_data(value)
    except ValueError:  # a number that is not finite
        return None
    return cleaned


def cut_objects(text: str, key: str) -> str:
    """Return the text without the objects that `find_object` considers and the code fences around them."""
    if f'"{key}"' not in text:
        return text
    only = _read_only_object(text, key)
    spans = [only.span] if only else sorted(_find_spans(text, f'"{key}"'), key=lambda span: span.start)
    kept, at = "", 0
    for span in spans:
        kept += text[at : max(at, span.start)]
        at = max(at, span.end)
    return _EMPTY_FENCE.sub("", kept + text[at:]).strip()


@lru_cache(maxsize=8)  # a message is read for several questions: what was decided, and what people are shown
def _read_only_object(text: str, key: str) -> _Only | None:
    """Parse the object of a text with a single brace. Returns None if the automaton has to read it.

    Nearly every decision of a supervisor is such a text; reading one costs a seventh of what the automaton needs.
    """
    if text.count("{") != 1 or text.count("[") >= DEPTH or "\\u" in text or _MANY_DIGITS.search(text):
        return None
    start = text.index("{")
    try:
        value, end = _DECODER.raw_decode(text, start)
        return _Only(value, _Span(start, end)) if key in value else None
    except ValueError:
        return None


def _find_spans(text: str, key: str) -> Iterator[_Span]:
    """Yield every object with the key; of nested ones the outer one."""
    tried: set[int] = set()
    read_up_to = 0
    for brace in _START.finditer(text):
        start = brace.start()
        if start < read_up_to or start in tried:
            continue
        attempt = _Attempt(text, key, tried)
        read_up_to = attempt.run(start) or read_up_to
        yield from attempt.spans


class _Attempt:
    """One attempt to read the text from a brace on. `spans` are the complete outermost objects with the key."""

    def __init__(self, text: str, key: str, tried: set[int]) -> None:
        self.spans: list[_Span] = []
        self._text = text
        self._key = key
        self._tried = tried
        self._stack: list[_Open] = []

    def run(self, start: int) -> int | None:
        """Return where the object at `start` ends; None if it is not complete."""
        at, expects = start, "value"
        while True:
            token = _TOKEN.match(self._text, at)
            if token is None:
                return None
            at = token.end()
            kind = token.lastgroup if token.lastgroup != "mark" else token["mark"]
            expected = _GRAMMAR.get((expects, str(kind)))
            if expected is None:
                return None
            if kind in ("{", "["):
                self._open(at - 1, is_object=kind == "{")
            elif kind in ("}", "]"):
                self._close(at)
                if not self._stack:
                    return at
            elif expected == "colon" and token["string"] == self._key:
                self._stack[-1].has_key = True
            if expected == "next":
                expected = "next in object" if self._stack[-1].is_object else "next in array"
            expects = expected

    def _open(self, start: int, *, is_object: bool) -> None:
        self._stack.append(_Open(start, is_object))
        if is_object:
            self._tried.add(start)

    def _close(self, end: int) -> None:
        closed = self._stack.pop()
        if self._stack:
            self._stack[-1].height = max(self._stack[-1].height, closed.height + 1)
        if closed.has_key and closed.height <= DEPTH:
            while self.spans and self.spans[-1].start > closed.start:
                self.spans.pop()  # nested in the object that ends here
            self.spans.append(_Span(closed.start, end))


# What is expected after a token, by what was expected before it. Any other pair is not JSON. "next" is what may follow
# a value, which depends on whether it is in an object or an array.
_GRAMMAR: dict[tuple[str, str], str] = {
    ("value", "{"): "key or end",
    ("value", "["): "value or end",
    ("value", "string"): "next",
    ("value", "scalar"): "next",
    ("value or end", "{"): "key or end",
    ("value or end", "["): "value or end",
    ("value or end", "string"): "next",
    ("value or end", "scalar"): "next",
    ("value or end", "]"): "next",
    ("key or end", "string"): "colon",
    ("key or end", "}"): "next",
    ("key", "string"): "colon",
    ("colon", ":"): "value",
    ("next in object", ","): "key",
    ("next in object", "}"): "next",
    ("next in array", ","): "value",
    ("next in array", "]"): "next",
}
