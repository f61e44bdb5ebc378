"""What the command line says in the language of the user's locale.

The texts are those of `moot.core.texts`, read here without the core: `moot --help` must be quick.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from moot.config.user_locale import find_locale_language

_FOLDER = Path(__file__).parent.parent / "texts"


@cache
def _read_texts(language: str) -> dict[str, str]:
    texts: dict[str, str] = json.loads((_FOLDER / f"{language}.json").read_bytes())
    return texts


def say(code: str, **params: Any) -> str:
    """Return the text of a code, in its plural form for `count` if it has several."""
    texts = _read_texts(find_locale_language())
    forms = [code, f"{code}.one", f"{code}.other"] if params.get("count") == 1 else [code, f"{code}.other"]
    return next(texts[form] for form in forms if form in texts).format_map(params)
