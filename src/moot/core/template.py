"""Prompt templates: plain text with `{{placeholders}}`."""

import re
from collections.abc import Callable

_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def list_placeholders(template: str) -> tuple[str, ...]:
    """Return the name of each placeholder once, in the order of the template."""
    return tuple(dict.fromkeys(_PLACEHOLDER.findall(template)))


def fill(template: str, find: Callable[[str], str | None]) -> str:
    """Replace each placeholder by `find(name)`; where that is None, the placeholder stays.

    Values are inserted as they are: placeholders in them are not filled in.
    """

    def replace(match: re.Match[str]) -> str:
        value = find(match[1])
        return match[0] if value is None else value

    return _PLACEHOLDER.sub(replace, template)
