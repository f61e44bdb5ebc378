"""Encode whole states for snapshots. The same log gives the same bytes."""

from functools import reduce
from operator import or_
from typing import Any

import msgspec

from moot.core.flows.registry import FLOWS
from moot.core.session.state import State, StateOf

_slices: Any = reduce(or_, [flow.slice_type for flow in FLOWS.values()])
_decoder = msgspec.json.Decoder(StateOf[_slices])


def encode(state: State) -> bytes:
    return msgspec.json.encode(state)


def decode(data: bytes) -> State:
    return _decoder.decode(data)


def describe_shape() -> bytes:
    """Return the JSON Schema of a state. A snapshot written with another schema must not be read."""
    return msgspec.json.encode(msgspec.json.schema(StateOf[_slices]))
