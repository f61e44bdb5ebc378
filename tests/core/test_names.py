"""How a typed name finds a member."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.session.team import Team, member, normalise

TEAM = Team(
    name="t",
    members=(
        member("alice", "human", name="Alice Liddell", display_name="爱丽丝"),
        member("dev-bot_1", "ai", name="DevBot", display_name="The Dev."),
    ),
)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Bob", "bob"),
        ("  b o b ", "bob"),
        ("B-o_b", "bob"),
        ("bob.", "bob"),
        ("bob。", "bob"),
        ("bob．", "bob"),
        ("bob .", "bob"),
        ("bob..", "bob."),
        ("b.o.b", "b.o.b"),
        ("Ｂｏｂ", "bob"),
        ("ﬁnn", "finn"),
        ("bob\u3000\u00a0", "bob"),
        ("张 三", "张三"),
        ("-_ .", ""),
        ("", ""),
    ],
)
def test_normalise(written: str, expected: str) -> None:
    """NFKC, lower case, without spaces, `-`, `_` and one trailing full stop."""
    assert normalise(written) == expected


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("alice", "alice"),
        ("ALICE LIDDELL", "alice"),
        ("alice-liddell", "alice"),
        ("爱丽丝", "alice"),
        ("爱丽丝。", "alice"),
        ("devbot1", "dev-bot_1"),
        ("Dev Bot 1", "dev-bot_1"),
        ("devbot", "dev-bot_1"),
        ("the dev", "dev-bot_1"),
    ],
)
def test_a_name_resolves_when_it_equals_id_name_or_display_name(written: str, found: str) -> None:
    """Id, name and display name all lead to the member."""
    resolved = TEAM.find(written)
    assert resolved is not None
    assert resolved.id == found


@pytest.mark.parametrize("written", ["ali", "alic", "alicee", "liddell", "dev", "bot", "", " ", ".", "аlice"])
def test_no_prefixes_and_no_guesses(written: str) -> None:
    """A part of a name, or a homoglyph, is nobody."""
    assert TEAM.find(written) is None


@given(st.text(max_size=30))
def test_spaces_dashes_and_case_never_matter(written: str) -> None:
    """Decorating a name with what is dropped leads to the same name."""
    assert normalise(f" {written}".replace(" ", " -_ ")) == normalise(written)
