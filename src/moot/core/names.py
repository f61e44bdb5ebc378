"""How a name that somebody typed finds a member: normalise, then equal. No prefixes, no guesses."""

import unicodedata
from functools import lru_cache


@lru_cache(maxsize=8192)
def normalise(name: str) -> str:
    """NFKC, lower case, without spaces, `-`, `_` and one trailing full stop."""
    text = unicodedata.normalize("NFKC", name).lower()
    text = "".join(char for char in text if not char.isspace() and char not in "-_")
    return text[:-1] if text.endswith((".", "。")) else text
