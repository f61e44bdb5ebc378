"""The language that the user's locale asks for."""

import os

from moot.languages import DEFAULT_LANGUAGE, Language, match_language


def find_locale_language() -> Language:
    """The language of the locale: as in POSIX, the first of these variables that is set counts."""
    variables = ("LC_ALL", "LC_MESSAGES", "LANG")
    locale = next((value for name in variables if (value := os.environ.get(name))), "")
    return match_language(locale) or DEFAULT_LANGUAGE
