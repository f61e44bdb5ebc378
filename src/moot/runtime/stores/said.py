"""What stores index for search: the words of each stored event with which something was said."""

from collections.abc import Iterator

from msgspec import Struct

from moot.core.codec import decode
from moot.core.flows.registry import FLOWS, SAYING, find_said
from moot.core.search_words import cut

_NAMES = frozenset(name.encode() for name in SAYING)
_START = b'{"event":"'


class Said(Struct, frozen=True):
    seq: int
    at: str
    tokens: list[str]


def read_said(flow: str, seq: int, data: bytes, after: int = 0) -> Iterator[Said]:
    """Yield what was said in an append whose first event is `seq`, behind event `after`.

    An event that cannot be read is left out: a search must not fail because of another version, or a damage that
    reading the session tells.
    """
    for number, line in enumerate(data.split(b"\n"), start=seq):
        if number > after and flow in FLOWS and _names_saying(line):
            try:
                event = decode(line, "")
                said = find_said(flow, event.fact)
            except (ValueError, TypeError):
                continue
            if said:
                yield Said(number, event.timestamp, cut(said.text))


def _names_saying(line: bytes) -> bool:
    """Whether the event of a line is one that says something, without decoding it."""
    return line.startswith(_START) and line[len(_START) : line.find(b'"', len(_START))] in _NAMES
