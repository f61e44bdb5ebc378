"""Texts about a team file that can be told in every language.

A `Phrase` is its text in the default language and remembers its code and parameters, which may be phrases themselves.
Problems are found before it is known in which language the team speaks; `tell` translates them then.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Any, Literal

from moot.core.session.team import DEFAULT_LANGUAGE, Language
from moot.core.texts import render


class Phrase(str):
    """A text of the catalogue, in the default language."""

    __slots__ = ("code", "params")
    code: str
    params: dict[str, Any]

    def __new__(cls, code: str, **params: Any) -> "Phrase":
        phrase = super().__new__(cls, render(code, DEFAULT_LANGUAGE, **params))
        phrase.code = code
        phrase.params = params
        return phrase


def tell(text: str, language: Language) -> str:
    """Return a phrase in another language. Other text stays as it is."""
    if not isinstance(text, Phrase):
        return text
    return render(text.code, language, **{name: _tell(value, language) for name, value in text.params.items()})


def _tell(value: Any, language: Language) -> Any:
    return tell(value, language) if isinstance(value, str) else value


def join_phrases(phrases: Sequence[str], code: Literal["and", "or"]) -> str:
    """Join phrases with a word between them."""
    return reduce(lambda first, second: Phrase(f"team.{code}", first=first, second=second), phrases)
