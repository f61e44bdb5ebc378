"""The texts of the terminal: those of the page, so that both use the same words, and a few of its own."""

from msgspec import Struct

from moot.core.session.team import DEFAULT_LANGUAGE, Language
from moot.core.texts import find_text


class Words(Struct, frozen=True):
    """The texts of one language: `words("plan.approve", count=3)`.

    A key is looked up among the terminal's own texts first, then among those that it shares with the page.
    """

    language: Language

    def __call__(self, key: str, **params: object) -> str:
        count = params.get("count")
        text = find_text(f"terminal.{key}", self.language, count) or find_text(f"ui.{key}", self.language, count)
        return text.format_map(params) if text else key

    def term(self, family: str, code: str) -> str:
        """The name of a code of the protocol, or the code itself if it has none."""
        return find_text(f"ui.{family}.{code}", self.language) or code


def default_words() -> Words:
    """Return the words before the language of the session is known."""
    return Words(DEFAULT_LANGUAGE)
