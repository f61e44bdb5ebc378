"""The languages of Moot. Imports nothing of it, so that `moot --help` knows them without the core."""

from typing import Literal, get_args

# A new language is one word here, and its files: texts/*.json, prompts/*.md, teams/templates/*.yaml.
Language = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
DEFAULT_LANGUAGE: Language = "en"


def as_language(value: object) -> Language | None:
    """Return the language with exactly this code, if there is one."""
    return next((language for language in LANGUAGES if language == value), None)


def match_language(tag: str) -> Language | None:
    """Return the language of a tag such as `zh-CN`, `en_GB.UTF-8` or `en;q=0.8`, if Moot has it."""
    return next((language for language in LANGUAGES if tag.strip().lower().startswith(language)), None)
