"""The languages that the rules understand. Text in any other one is read with the lexicon of the default language."""

from moot.core.session.team import DEFAULT_LANGUAGE, Language
from moot.runtime.understanding.rules.acts import Lexicon
from moot.runtime.understanding.rules.lexicon_en import ENGLISH
from moot.runtime.understanding.rules.lexicon_zh import CHINESE
from moot.runtime.understanding.rules.tokens import count_chinese, is_chinese

LEXICONS: dict[Language, Lexicon] = {"zh": CHINESE, "en": ENGLISH}


def find_lexicon(clause: str) -> Lexicon:
    """The lexicon to read a clause with: one Chinese character makes it Chinese."""
    return LEXICONS["zh" if count_chinese(clause) else DEFAULT_LANGUAGE]


def detect_language(text: str) -> Language:
    """The language of a text, as far as the script tells."""
    return "zh" if is_chinese(text) else DEFAULT_LANGUAGE
