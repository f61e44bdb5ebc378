"""Untrusted text made safe to store: no escape sequences, no control or direction-override characters."""

import re

from moot.core import limits

# ANSI: CSI, OSC/DCS/SOS/PM/APC strings up to their terminator (an open one ends with its line), two-byte escapes
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?|[ -/]*[0-~])?")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_VISIBLE = re.compile(r"[^\s\u00ad\u180e\u200b-\u200f\u2060-\u2064\u2800\u3164\ufe00-\ufe0f\ufeff]")


def clean(text: str) -> str:
    """Line ends become `\\n`; escapes, controls, lone surrogates and bidi overrides go; tabs and the rest stay."""
    if not _CONTROLS.search(text):
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("", _ESCAPES.sub("", text))


def is_blank(text: str) -> bool:
    """Nothing that a person could see: empty, white space, zero-width characters."""
    return not _VISIBLE.search(text)


def cut(text: str, chars: int = limits.OUTPUT_CHARS) -> str:
    """At most `chars` characters; what was cut is said."""
    if len(text) <= chars:
        return text
    return f"{text[:chars]}\n… [cut: {len(text) - chars} more characters]"
