"""Make untrusted text and data safe to store: no escape sequences, control or direction-override characters."""

import re
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from msgspec import Struct

from moot.core import limits

DATA_DEPTH = 64

# ANSI: CSI, OSC/DCS/SOS/PM/APC strings up to their terminator (an open one ends with its line), two-byte escapes
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?|[ -/]*[0-~])?")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# Unicode's Default_Ignorable_Code_Point: a reader sees nothing of them. Emojis and some scripts need a few.
_UNSEEN = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_UNSEEN_CHARACTER = re.compile(f"[{_UNSEEN}]")
_VISIBLE = re.compile(rf"[^\s\u2800{_UNSEEN}]")


def clean(text: str) -> str:
    """Remove escapes, controls, lone surrogates and bidi overrides, and make every line end `\\n`. Tabs stay."""
    if text.isprintable() or not _CONTROLS.search(text):  # asking first costs a tenth of the search
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("", _ESCAPES.sub("", text))


def show(text: str) -> str:
    """Return a text as a reader sees it: without zero-width and other invisible characters."""
    return text if text.isascii() else _UNSEEN_CHARACTER.sub("", text)


def is_blank(text: str) -> bool:
    """Whether a text has no visible character: it is empty, or only white space and zero-width characters."""
    return not _VISIBLE.search(text)


def cut(text: str, chars: int = limits.OUTPUT_CHARS) -> str:
    """Shorten a text to `chars` characters and append how many were cut."""
    if len(text) <= chars:
        return text
    return f"{text[:chars]}\n… [cut: {len(text) - chars} more characters]"


def one_line(text: str, chars: int = limits.SHOWN_TITLE_CHARS) -> str:
    """Return the beginning of a text on one line, with an ellipsis where it is cut."""
    line = " ".join(text[: 4 * chars].split())
    return line if len(line) <= chars and len(text) <= 4 * chars else f"{line[: chars - 1].rstrip()}…"


def refuse(value: object) -> Any:
    """Raise ValueError for a value that JSON cannot hold, or not within the limits."""
    raise ValueError(f"{type(value).__name__} is no plain data, or too deep or too large")


def clean_data(
    value: Any,
    *,
    depth: int = DATA_DEPTH,
    nodes: int | None = None,
    chars: int | None = None,
    largest_int: int | None = None,
    instead: Callable[[object], Any] = refuse,
) -> Any:
    """Return a copy of JSON-like data that any reader can take, with every text cleaned.

    Args:
        depth: how many lists and objects may be nested.
        nodes: how many values there may be in all. Raises ValueError beyond that.
        chars: texts are cut to this length.
        largest_int: the largest absolute value of an integer.
        instead: makes the replacement for an infinite number, a key that is not text, any other Python object, or a
            value beyond `depth` or `largest_int`. The default raises ValueError.
    """
    return _Copy(nodes, chars, largest_int, instead).take(value, depth)


class _Copy(Struct):
    nodes: int | None
    chars: int | None
    largest_int: int | None
    instead: Callable[[object], Any]

    def take(self, value: Any, depth: int) -> Any:
        if self.nodes is not None:
            self.nodes -= 1  # also ends a list that contains itself
            if self.nodes < 0:
                raise ValueError("too many values")
        if isinstance(value, str):
            return clean(str.__str__(value))[: self.chars]
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int) and (self.largest_int is None or abs(value) <= self.largest_int):
            return int(value)
        if isinstance(value, float) and isfinite(value):
            return float(value)
        if isinstance(value, (list, tuple)) and depth:
            return [self.take(item, depth - 1) for item in value]
        if isinstance(value, (dict, Mapping)) and depth:  # dict: asking the abstract class is slow
            return {self.take_key(key): self.take(item, depth - 1) for key, item in value.items()}
        return self.instead(value)

    def take_key(self, key: object) -> str:
        return clean(str.__str__(key)) if isinstance(key, str) else str(self.instead(key))
