"""JSON from strangers: what is taken is what every reader would take, the rest is `bad_json`."""

import json
import math
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.protocol.protocol_errors import ProtocolError
from moot.protocol.strict_json import DEPTH, read_object

GOOD: dict[str, dict[str, Any]] = {
    "{}": {},
    ' {"a": [1, 2.5, -0, true, null, "x"]}\n': {"a": [1, 2.5, 0, True, None, "x"]},
    '{"a": "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["}': {"a": "[" * 39},
    '{"a": "\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\\"}': {"a": '"' + "[" * 39 + "\\"},
    '{"a": "\\ud83d\\ude00"}': {"a": "😀"},
    '{"a": "\\u0000"}': {"a": "\0"},
    '{"a": {"b": 1}, "b": {"a": 1}}': {"a": {"b": 1}, "b": {"a": 1}},
    '{"a": 1e308}': {"a": 1e308},
    '{"a":' + "[" * (DEPTH - 1) + "]" * (DEPTH - 1) + "}": {"a": json.loads("[" * (DEPTH - 1) + "]" * (DEPTH - 1))},
    '{"a": [' + "[],[]," * 50 + "[]]}": {"a": [[]] * 101},
}
BAD = [
    "",
    " ",
    "null",
    "[]",
    '"{}"',
    "{",
    "}",
    "{}}",
    "{}{}",
    "{'a': 1}",
    "{a: 1}",
    '{"a": 1,}',
    '{"a": NaN}',
    '{"a": Infinity}',
    '{"a": -Infinity}',
    '{"a": 1e999}',
    '{"a": -1e999}',
    '{"a": ' + "1" * 5_000 + "}",
    '{"a": 01}',
    '{"a": 1, "a": 1}',
    '{"a": 1, "\\u0061": 2}',
    '{"x": [{"a": 1, "a": 1}]}',
    '{"a": "\\ud800"}',
    '{"\\udc00": 1}',
    '{"a": "\t"}',
    '{"a": "\x00"}',
    "\ufeff{}",
    '{"a":' + "[" * DEPTH + "]" * DEPTH + "}",
    '{"a":' * 100_000,
    "[" * 100_000,
    '{"a": "' + "\\" * 100_001,
    '"' * 100_001,
]


@pytest.mark.parametrize("text", GOOD, ids=range(len(GOOD)))
def test_what_is_taken(text: str) -> None:
    """JSON is read as JSON; brackets in strings are not depth."""
    assert read_object(text) == GOOD[text]


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_what_is_refused(text: str) -> None:
    """Everything else is `bad_json`, with a sentence that says what is wrong."""
    with pytest.raises(ProtocolError) as refused:
        read_object(text)
    assert refused.value.code == "bad_json"
    assert refused.value.explain("en").startswith("Invalid JSON: ")
    assert len(refused.value.explain("zh")) < 300


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), json_values))
def test_whatever_json_says_is_read_back(value: dict[str, Any]) -> None:
    """Every object of text, numbers and lists comes through unchanged, escaped or not."""
    for escaped in (True, False):
        assert read_object(json.dumps(value, ensure_ascii=escaped)) == value


@given(st.text() | st.text(alphabet='{}[]":,\\aeE+-.0123456789 \ud800ntfNI', max_size=60))
@settings(max_examples=400)
def test_any_text_at_all(text: str) -> None:
    """An object or ProtocolError, never anything else; and nothing that is not finite."""
    with suppress(ProtocolError):
        read = read_object(text)
        assert all(math.isfinite(value) for value in read.values() if isinstance(value, float))
