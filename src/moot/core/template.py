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


def fill_present(template: str, find: Callable[[str], str | None]) -> str:
    """Fill a template like `fill`, and leave out what has nothing to say.

    A line whose placeholders are all empty is left out, and so is the section of a heading (`# …`) all of whose
    placeholders are empty, whatever else it says.
    """
    sections: list[list[str]] = [[]]
    for line in template.splitlines():
        if line.startswith("#"):
            sections.append([])
        sections[-1].append(line)
    kept: list[str] = []
    for section in sections:
        shown = [line for line in section if not _is_empty(line, find)]
        is_silent = len(shown) < len(section) and not any(_PLACEHOLDER.search(line) for line in shown)
        if not is_silent:
            kept += shown
    return fill("\n".join(kept), find)


def _is_empty(line: str, find: Callable[[str], str | None]) -> bool:
    """Whether a line has placeholders and all of them are empty. Unknown placeholders stay, so they are not empty."""
    values = [find(name) for name in _PLACEHOLDER.findall(line)]
    return bool(values) and not any(value is None or value.strip() for value in values)
