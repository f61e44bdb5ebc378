import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.config.yaml_source import read_yaml
from moot.core import limits


def test_data_and_lines() -> None:
    """Each part of the data has the line on which its key or item stands."""
    source = read_yaml(b"a: 1\nb:\n  - x\n  - {c: null,\n     d: 2.5}\n")
    assert source.data == {"a": 1, "b": ["x", {"c": None, "d": 2.5}]}
    assert source.lines == {
        (): 1,
        ("a",): 1,
        ("b",): 2,
        ("b", 0): 3,
        ("b", 1): 4,
        ("b", 1, "c"): 4,
        ("b", 1, "d"): 5,
    }
    assert source.find_line(("b", 1, "missing")) == 4


def test_aliases_and_merges_are_followed() -> None:
    """An alias repeats a value; `<<` fills in keys, the earlier source first, what is written beside it before all."""
    source = read_yaml(b"a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {<<: [*a, *b], x: 3}\nd: *a\ne: {<<: *b}\n")
    assert source.problems == []
    assert source.data == {
        "a": {"x": 1, "y": 1},
        "b": {"y": 2, "z": 2},
        "c": {"x": 3, "y": 1, "z": 2},
        "d": {"x": 1, "y": 1},
        "e": {"y": 2, "z": 2},
    }


def test_numbers_as_keys_count_as_their_decimal_string() -> None:
    """A task's id may be written as a number; dates are text."""
    assert read_yaml(b"{1: 2024-01-02, 2: b}").data == {"1": "2024-01-02", "2": "b"}
    assert [problem.text for problem in read_yaml(b"{1: a, '1': b}").problems] == [
        "duplicate key '1'; the first one is on line 1"
    ]


def test_a_byte_order_mark_is_not_content() -> None:
    """Editors that put a mark before UTF-8 do no harm."""
    assert read_yaml(b"\xef\xbb\xbfmoot: 1").data == {"moot": 1}


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"#" * (limits.TEAM_FILE_BYTES + 1), "the file is larger than 1048576 bytes"),
        (b"a: " + b"[" * 500_000, "nested more than 32 levels deep"),
        (b"[" + b"1, " * limits.TEAM_FILE_NODES + b"]", "more than 50000 values"),
        (
            b"\n".join(b"a%d: &a%d [*a%d]" % (n, n, n - 1) if n else b"a0: &a0 []" for n in range(5_000)),
            "nested more than 32 levels deep once aliases are followed",
        ),
        (b"a: &a {b: {<<: *a}}", "an alias points to what it is part of"),
    ],
)
def test_what_is_too_much_is_refused_early(raw: bytes, said: str) -> None:
    """Size, depth and number are bounded, before and after aliases are followed."""
    source = read_yaml(raw)
    assert not source.is_readable
    assert [problem.text for problem in source.problems] == [said]


def test_a_number_of_many_digits_is_refused() -> None:
    """A number that takes long to read is not read at all."""
    for written in (b"9" * 100_000, b"1:" * 100_000 + b"1"):
        (problem,) = read_yaml(b"a: " + written).problems
        assert problem.text.endswith("is not a usable int")


@given(st.one_of(st.binary(max_size=200), st.text("a:-[]{}&*!<>|'\"#%@`,? \n\t0.~", max_size=200).map(str.encode)))
def test_reading_never_raises(raw: bytes) -> None:
    """Whatever the bytes are, the answer is data or problems, and every problem has a line."""
    source = read_yaml(raw)
    assert source.is_readable or source.problems
    assert all(problem.line for problem in source.problems)


def test_on_and_off_are_words() -> None:
    """`sandbox: off` needs no quotes; true and false, yes and no are truth values."""
    source = read_yaml(b"a: off\nb: [on, yes, false]\n")
    assert source.data == {"a": "off", "b": ["on", True, False]}
