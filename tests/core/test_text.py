"""Untrusted text made safe to store."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core import limits
from moot.core.text import clean, cut, is_blank

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[Hwiped", "wiped"),
        ("\x1b]0;new title\x07text", "text"),
        ("\x1b]52;c;c2VjcmV0\x07text", "text"),
        ("\x1b]52;c;c2VjcmV0\x1b\\text", "text"),
        ("\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP1$tx\x1b\\text", "text"),
        ("\x1b_payload\x1b\\text", "text"),
        ("\x1b(Btext", "text"),
        ("\x1bctext", "text"),
        ("tail\x1b", "tail"),
        ("tail\x1b[", "tail"),
        ("\x9b31mred", "31mred"),
        ("bell\x07 null\x00 delete\x7f", "bell null delete"),
        ("c1\x80\x85\x9f", "c1"),
        (f"a{BIDI}b", "ab"),
        ("user\u202etxt.exe", "usertxt.exe"),
        ("\ud800lone\udfff", "lone"),
        ("a\r\nb\rc\n", "a\nb\nc\n"),
        ("tab\tstays\n", "tab\tstays\n"),
        ("中文 עברית 👩‍👩‍👧", "中文 עברית 👩‍👩‍👧"),
    ],
)
def test_what_a_terminal_would_obey_is_taken_out(said: str, stored: str) -> None:
    """Escapes, C0 and C1, bidi overrides and lone surrogates go before storing; words stay."""
    assert clean(said) == stored


@given(st.text(st.characters()))
def test_clean_text_is_safe_and_stays_as_it_is(said: str) -> None:
    """No control or override is left, cleaning twice is cleaning once, and the result is valid UTF-8."""
    stored = clean(said)
    assert not any(ord(char) < 32 and char not in "\n\t" for char in stored)
    assert not set(stored) & {"\x1b", "\x7f", *map(chr, range(0x80, 0xA0)), *BIDI}
    assert clean(stored) == stored
    assert stored.encode().decode() == stored


@pytest.mark.parametrize("text", ["", " ", "\n\t\r", "\u3000\u00a0", "\u200b", "\u200d\u2060\ufeff", " \u200e\u200f "])
def test_what_nobody_can_see_is_blank(text: str) -> None:
    """Empty, white space and zero-width only count as nothing."""
    assert is_blank(text)


@pytest.mark.parametrize("text", [".", "0", " a ", "\u200ba", "，", "👍"])
def test_what_somebody_can_see_is_not_blank(text: str) -> None:
    """One visible character makes a message."""
    assert not is_blank(text)


def test_what_is_too_long_is_cut_and_says_so() -> None:
    """A cut text ends with how much is missing."""
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefgh", 6) == "abcdef\n… [cut: 2 more characters]"


@pytest.mark.parametrize(
    "text", ["\x1b]" * 100_000, "\x1b[" + "0" * 200_000, "\x1b" + " " * 200_000, "\x1b[0" * 60_000, "\r" * 200_000]
)
def test_hostile_text_is_cleaned_in_one_pass(text: str) -> None:
    """The largest hostile text is cleaned; a quadratic cleaner would not come back."""
    assert len(text) >= limits.MESSAGE_CHARS * 0.9
    assert "\x1b" not in clean(text)
