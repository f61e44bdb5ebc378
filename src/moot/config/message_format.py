"""Formats values and choices for messages about problems."""

import difflib
import re
from collections.abc import Iterable

from moot.config.phrase import Phrase

_SHOWN_CHARS = 60
_SECRET = re.compile(
    r"\b(sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|ghu|github_pat|glpat|xox[abeprs]|AIza|AKIA|ASIA|eyJ)[-_A-Za-z0-9]{6,}"
    r"|(?=\S*\d)(?=\S*[A-Za-z])[A-Za-z0-9_+/=-]{32,}"
)


def shorten(value: object) -> str:
    """Return the repr of a value, without control characters and cut to one line."""
    if isinstance(value, int) and abs(value) > 10**_SHOWN_CHARS:
        return Phrase("team.value.long_number")  # writing out thousands of digits is refused by Python itself
    # repr leaves no control character; a string is cut first, so that a megabyte is not escaped for nothing
    text = repr(value[: _SHOWN_CHARS + 1]) if isinstance(value, str) else repr(value)
    return text if len(text) <= _SHOWN_CHARS + 2 else f"{text[:_SHOWN_CHARS]}…"


def show_name(name: str) -> str:
    """Return the name of a file as it is, or its repr if it has characters that a terminal would obey."""
    return name if name.isprintable() else repr(name)


def looks_like_secret(text: str) -> bool:
    """Whether a text is probably a key or a token: it begins as those of a provider do, or is long and mixed."""
    return _SECRET.search(text[:1_000]) is not None


def describe_value(value: object) -> str:
    match value:
        case None:
            return Phrase("team.value.nothing")
        case bool():
            return Phrase("team.value.true") if value else Phrase("team.value.false")
        case str() if looks_like_secret(value):
            return Phrase("team.value.secret")
        case str():
            return Phrase("team.value.text", value=shorten(value))
        case int() | float():
            return Phrase("team.value.number", value=shorten(value))
        case list():
            return Phrase("team.value.list")
        case dict():
            return Phrase("team.value.mapping")
        case _:
            return Phrase("team.value.other", value=type(value).__name__)


def join_choices(choices: Iterable[object]) -> str:
    return ", ".join(str(choice) for choice in choices)


def suggest(written: object, choices: Iterable[object], plural: str) -> str:
    """Return `did you mean 'x'?`, or all choices if none is similar. The dashes of options make none similar."""
    by_name = {text.lower().lstrip("-"): text for text in map(str, choices)}
    if isinstance(written, str):
        # difflib is quadratic: nothing that long is a misspelling
        near = difflib.get_close_matches(written[:100].lower().lstrip("-"), by_name, n=1)
        if near:
            return Phrase("team.did_you_mean", value=by_name[near[0]])
    return Phrase("team.choices", plural=plural, value=join_choices(by_name.values()))
