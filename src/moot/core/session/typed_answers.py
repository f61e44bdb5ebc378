"""Read what a person types as the answer to an open question (docs/chat.md#questions)."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from moot.core.session.events import Option
from moot.core.session.steps import option_label
from moot.core.session.team import LANGUAGES, Member

YES = frozenset({"yes", "y", "ok", "go ahead", "approve", "好", "好的", "可以", "同意", "批准", "是"})
NO = frozenset({"no", "n", "reject", "不", "不行", "拒绝", "否"})
_TAIL = re.compile(r"[\s.。!！]+\Z")
_COMMAS = re.compile(r"[,、;]")
_LIST = re.compile(r"[\s,，、;；]+")
_NUMBER = re.compile(
    r"(?:option|选项?|第)?\s*[(\[#]?(\d{1,3})[)\].、]?(?:个|项)?"
)  # "2", "(2)", "2)", "#2", "option 2", "第2个"
_DIGITS = str.maketrans("一二三四五六七八九", "123456789")


class Asked(Protocol):
    """What is read of a question: a `StepAsked` of the log, or a `Question` of a view."""

    @property
    def kind(self) -> str: ...
    @property
    def code(self) -> str: ...
    @property
    def options(self) -> tuple[Option, ...]: ...
    @property
    def selection(self) -> str | None: ...
    @property
    def allow_custom_input(self) -> bool: ...


def read_answer(question: Asked, typed: str, members: Iterable[Member] = ()) -> dict[str, Any] | None:
    """Return the fields of the `Answer` that a text is, or None if it names no option of the question.

    A text is an answer if it equals an option's id, its number, or its label in any language; several numbers where
    several options may be chosen; a plain yes or no where the question asks to confirm or permit something.
    """
    text = _normalise(typed)
    members = tuple(members)
    if _is_confirmation(question) and text in ("approve", "reject"):
        return {"confirmed": text == "approve"}
    for option in question.options:
        labels = (option_label(question.code, option, members, language) for language in LANGUAGES)
        if text in {_normalise(name) for name in (option.id, option.label, *labels)}:
            return {"choice": option.id}
    if numbered := _read_number(text, question.options):
        return {"choice": numbered.id}
    if question.selection == "multiple" and (ids := _read_numbers(text, question.options)):
        return {"selected_ids": ids}
    if _is_confirmation(question) and (is_yes := _read_yes_or_no(text)) is not None:
        return {"confirmed": is_yes}
    return None


def takes_text(question: Asked) -> bool:
    """Whether any text answers the question."""
    if not question.options or question.allow_custom_input:
        return True
    return question.kind == "ask_user" and not question.selection


def _is_confirmation(question: Asked) -> bool:
    """Whether the question asks to confirm or permit something, so that a plain yes or no answers it."""
    ids = {option.id for option in question.options}
    return question.kind in ("plan", "tool") or question.code.startswith("confirm_") or ids >= {"approve", "reject"}


def _read_yes_or_no(text: str) -> bool | None:
    """Read a text of nothing but yes or no: one word of it, or several with commas ("yes, go ahead")."""
    words = {stripped for word in _COMMAS.split(text) if (stripped := word.strip())}
    if not words:
        return None
    return True if words <= YES else False if words <= NO else None


def _read_number(text: str, options: Sequence[Option]) -> Option | None:
    """Return the option whose number a text is, as people write numbers in a list."""
    match = _NUMBER.fullmatch(text.translate(_DIGITS))
    return options[int(match[1]) - 1] if match and 0 < int(match[1]) <= len(options) else None


def _read_numbers(text: str, options: Sequence[Option]) -> tuple[str, ...]:
    chosen = [_read_number(part, options) for part in _LIST.split(text) if part]
    return tuple(dict.fromkeys(option.id for option in chosen if option)) if all(chosen) else ()


def _normalise(text: str) -> str:
    return _TAIL.sub("", " ".join(unicodedata.normalize("NFKC", text).casefold().split()))
