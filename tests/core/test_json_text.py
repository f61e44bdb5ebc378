"""JSON in prose: the last balanced object that has the key, whatever stands around it."""

import json
from time import process_time
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core import text
from moot.core.json_text import DEPTH, _find_spans, _read_only_object, cut_objects, find_object
from moot.core.text import clean_data

FOUND = {
    "alone": ('{"k": "a"}', {"k": "a"}),
    "in prose": ('I choose {"k": "a"} because it is time.', {"k": "a"}),
    "in a fence": ('Sure!\n```json\n{\n  "k": "a"\n}\n```\nDone.', {"k": "a"}),
    "two objects: the last": ('{"k": "a"}\nno, better:\n{"k": "b"}', {"k": "b"}),
    "the last that has the key": ('{"k": "a"} and {"other": 1}', {"k": "a"}),
    "the last that is whole": ('{"k": "a"} then {"k": "b", "guid', {"k": "a"}),
    "a trailing brace": ('{"k": "a"}}', {"k": "a"}),
    "many trailing braces": ('{"k": "a"} }}} ]', {"k": "a"}),
    "braces before": ('{{ {see} {"k": "a"}', {"k": "a"}),
    "a template around it": ('{decision: {"k": "a"}}', {"k": "a"}),
    "braces and escapes in strings": (r'{"k": "{a}} \" \\ \u4e2d"}', {"k": '{a}} " \\ 中'}),
    "a quote in the prose": ('a 5" screen, {"k": "a"}', {"k": "a"}),
    "a brace and a quote in the prose": ('{ "he said {"k": "a"}', {"k": "a"}),
    "nested: the outer has the key": ('{"k": "a", "x": {"k": "b"}}', {"k": "a", "x": {"k": "b"}}),
    "nested: only the inner has the key": ('{"decision": {"k": "a"}}', {"k": "a"}),
    "nested in a list": ('[{"k": "a"}, {"k": "b"}]', {"k": "b"}),
    "every kind of value": (
        '{"k": [1, -2.5e3, true, false, null, "", [], {}]}',
        {"k": [1, -2500.0, True, False, None, "", [], {}]},
    ),
    "a line end inside a string": ('{"k": "a\nb"}', {"k": "a\nb"}),
    "control characters by escape": (r'{"k": "\u001b[31mred\u202e\ud800"}', {"k": "red"}),
    "a key twice: the last": ('{"k": 1, "k": 2}', {"k": 2}),
    "null": ('{"k": null}', {"k": None}),
}

NOT_FOUND = {
    "nothing": "",
    "prose": "the writer, I think: k",
    "another key": '{"kk": 1}',
    "the key as a value": '{"a": "k"}',
    "the key in a list": '{"a": ["k"]}',
    "open": '{"k": "a"',
    "an open string": '{"k": "a}',
    "single quotes": "{'k': 'a'}",
    "a trailing comma": '{"k": "a",}',
    "a missing comma": '{"k": "a" "b": 1}',
    "a missing colon": '{"k" "a"}',
    "a bad escape": r'{"k": "\x"}',
    "a leading zero": '{"k": 01}',
    "not a number": '{"k": NaN}',
    "infinity": '{"k": 1e999}',
    "a number of a thousand digits": '{"k": ' + "9" * 1000 + "}",
    "the wrong bracket": '{"k": [1}]',
    "a comment": '{"k": 1 /* one */}',
}


@pytest.mark.parametrize("case", FOUND)
def test_the_object_is_found(case: str) -> None:
    """Prose, fences, other objects and stray braces do not matter; the last one counts."""
    said, expected = FOUND[case]
    assert find_object(said, "k") == expected


@pytest.mark.parametrize("case", NOT_FOUND)
def test_what_is_no_json_is_not_repaired(case: str) -> None:
    """Broken JSON is asked for again, not guessed at."""
    assert find_object(NOT_FOUND[case], "k") is None


def test_depth_has_a_bound() -> None:
    """Limits: an object deeper than the bound does not count; one inside it may."""
    inner = '{"k":' * DEPTH + "1" + "}" * DEPTH
    found = find_object('{"k":' + inner + "}", "k")
    assert found == json.loads(inner)


NOISE = st.text(alphabet='{}[]",:\\ \n`a1', max_size=60)
SCALARS = st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.text(max_size=20) | NOISE
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NOISE, inner, max_size=3))


def cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return text.clean(value)
    if isinstance(value, list):
        return [cleaned(item) for item in value]
    if isinstance(value, dict):
        return {text.clean(name): cleaned(item) for name, item in value.items()}
    return value


@given(before=NOISE, after=NOISE, rest=st.dictionaries(NOISE, VALUES, max_size=3), value=VALUES, indent=st.booleans())
def test_whatever_stands_around_it(before: str, after: str, rest: dict[str, Any], value: Any, indent: bool) -> None:
    """Property: an object with the key is found in any text that has the key nowhere else."""
    wanted = {**rest, "next_agent": value}
    said = before + json.dumps(wanted, ensure_ascii=False, indent=2 if indent else None) + after
    assert find_object(said, "next_agent") == cleaned(wanted)


@given(st.text(alphabet='{}[]",:\\ k1', max_size=200))
def test_nothing_breaks_it(said: str) -> None:
    """Property: any text gives None, or an object that has the key and can be stored."""
    found = find_object(said, "k")
    assert found is None or ("k" in found and msgspec.json.encode(found))


MEGABYTE = 1 << 20
HOSTILE = {
    "braces": "{",
    "open objects": '{"k":',
    "open arrays": '{"k":[',
    "braces and quotes": '{"',
    "strings that open objects": '{"k":"{',
    "escaped quotes": r'{"k":"\"{',
    "whole objects": '{"k":1}',
    "long strings": '{"a":"' + "x" * 1000 + '","k":',
    "digits": "9",
    "blanks": "{" + " " * 1000,
}


@pytest.mark.slow
@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_text_takes_time_in_proportion(case: str) -> None:
    """A megabyte made to be slow is read in seconds (one attempt per start would take hours)."""
    unit = HOSTILE[case]
    started = process_time()  # not wall time: the machine may be busy
    find_object('{"k":' + unit * (MEGABYTE // len(unit)) + '"k"', "k")
    assert process_time() - started < 20


@given(
    st.lists(
        st.sampled_from(
            ['"k"', '"x"', ":", ",", "[", "]", "}", "1", "-0", "1e9", "NaN", "true", '"\\n"', " ", "\n", "7" * 260]
        )
        | st.text(max_size=3),
        max_size=14,
    )
)
def test_an_object_with_one_brace_reads_the_same_in_one_go(parts: list[str]) -> None:
    """The short way for the usual case finds what the automaton finds, and nothing else."""
    text = "so {" + "".join(parts).replace("{", "")
    spans = [text[span.start : span.end] for span in _find_spans(text, '"k"')]
    found, only = find_object(text, "k"), _read_only_object(text, "k")
    assert (found is None) == (not spans or _is_no_number(spans[-1]))
    assert only is None or (
        (found is None or clean_data(only.value) == found) and text[only.span.start : only.span.end] == spans[-1]
    )


def _is_no_number(written: str) -> bool:
    try:
        clean_data(json.loads(written, strict=False))
    except ValueError:
        return True
    return False


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ('{"k": 1}', ""),
        ('First this.\n```json\n{"k": {"k": 2}}\n```\nThen that.', "First this.\n\nThen that."),
        ('a {"k": 1} b {"k": 2} c', "a  b  c"),
        ('{"other": 1} stays, "k" too', '{"other": 1} stays, "k" too'),
        ('{"k": 1', '{"k": 1'),
    ],
)
def test_what_is_said_around_it(said: str, left: str) -> None:
    """People read what a supervisor thinks, not its JSON; what is no such object stays."""
    assert cut_objects(said, "k") == left
