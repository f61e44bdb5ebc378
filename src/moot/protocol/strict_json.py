"""JSON from strangers: one object, no depth that eats the stack, no double keys, no NaN, no text that is not text."""

import json
import re
from typing import Any, NoReturn

from moot.protocol.protocol_errors import ProtocolError

DEPTH = 32
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_OPENERS = re.compile(r"[\[{\]}]")


def read_object(text: str) -> dict[str, Any]:
    """Read an object. Raises ProtocolError `bad_json` that says what is wrong."""
    _check_depth(text)
    try:
        value = json.loads(text, object_pairs_hook=_read_pairs, parse_constant=_refuse, parse_float=_read_float)
        json.dumps(value, ensure_ascii=False).encode()  # lone surrogates do not survive this
    except UnicodeEncodeError:
        raise ProtocolError("bad_json", detail="a string is not Unicode text (lone surrogate)") from None
    except ValueError as error:
        raise ProtocolError("bad_json", detail=str(error)) from None
    if not isinstance(value, dict):
        raise ProtocolError("bad_json", detail="a frame is an object")
    return value


def _check_depth(text: str) -> None:
    """Check the depth before parsing, because the parser recurses."""
    if text.count("[") + text.count("{") <= DEPTH:
        return
    depth = 0
    for bracket in _OPENERS.findall(_STRINGS.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > DEPTH:
            raise ProtocolError("bad_json", detail=f"nested deeper than {DEPTH}")


def _read_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return read


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _read_float(written: str) -> float:
    value = float(written)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"number {written[:20]} is too large")
    return value
