"""Everything Moot says to people, in every language: the files `src/moot/texts/<language>.json`.

A text is found by its code. Codes without a dot are those of notices, refusals and questions (many are stored in logs);
the others begin with the room that uses them: `ui.` for the screens (page and terminal), `terminal.` for the terminal
alone, `context.` and `prompt.` for what agents are told, and so on. A text is a template of `str.format`; one that
depends on a number has its plural forms beside each other, as `code.one` and `code.other`.

This module reads its files when it is imported. That is the one exception to the rule that the core does no I/O:
afterwards the catalogue is a constant.
"""

from pathlib import Path
from typing import Any

import msgspec

from moot.core.session.team import LANGUAGES, Language

_FOLDER = Path(__file__).parent.parent / "texts"
_decode = msgspec.json.Decoder(dict[str, str]).decode

TEXTS: dict[Language, dict[str, str]] = {
    language: _decode((_FOLDER / f"{language}.json").read_bytes()) for language in LANGUAGES
}


def find_text(code: str, language: Language, count: object = None) -> str | None:
    """Return the template of a code, in the plural form for `count` if it has several; None if there is none."""
    texts = TEXTS[language]
    if count == 1 and (text := texts.get(f"{code}.one")):
        return text
    return texts.get(code) or texts.get(f"{code}.other")


def render(code: str, language: Language, **params: Any) -> str:
    """Return the text of a code, or `[code]` if the catalogue lacks it: a newer version may have stored it.

    Lists are joined as the template asks for: `names` quoted, `plain_names`, `arrow_names` and `dotted_names` (of the
    same list) with commas, arrows and dots, `available` and `problems` with commas and semicolons. The codes of all
    `languages` are always known. Raises KeyError if a parameter is missing.
    """
    template = find_text(code, language, params.get("count"))
    if template is None:
        return f"[{code}]"
    names = params.get("names", ())
    values = {
        **params,
        "languages": "|".join(LANGUAGES),
        "names": ", ".join(f"'{name}'" for name in names),
        "plain_names": ", ".join(names),
        "arrow_names": " → ".join(names),
        "dotted_names": " · ".join(names),
        "available": ", ".join(params.get("available", ())),
        "problems": "; ".join(params.get("problems", ())),
    }
    return template.format_map(values)
