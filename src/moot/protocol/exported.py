"""Exported sessions: one frame a line, from the first event on."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from moot.core.codec import Event, decode, place
from moot.core.errors import Corrupt
from moot.core.facts import Fact
from moot.core.text import clean_data
from moot.protocol.following import Following, Verdict
from moot.protocol.protocol_errors import ProtocolError
from moot.protocol.strict_json import read_object


def read_events(lines: Iterable[bytes]) -> Iterator[Event]:
    """Yield the events of an export; their texts are cleaned, as for input from a client.

    Raises Corrupt if a line is not the next frame of the session or its hash does not match.
    """
    following: Following | None = None
    for number, line in enumerate(lines, 1):
        event = _read_line(line.strip(), following, number)
        if following is None:
            following = Following(event.session_id, event.head)
        yield event


def _read_line(line: bytes, following: Following | None, number: int) -> Event:
    try:
        frame = read_object(line.decode())
        placed = place(line)
    except (UnicodeDecodeError, ProtocolError, msgspec.DecodeError) as error:
        raise Corrupt("?", number, f"line {number} is no frame ({error})") from None
    session_id = placed.session_id or ""
    following = following or Following(session_id)
    verdict, data = following.judge(placed, line)
    if verdict is not Verdict.NEXT or session_id != following.session_id:
        raise Corrupt(session_id or "?", number, "its hash does not follow" if verdict is Verdict.BROKEN else verdict)
    try:
        event = decode(data, placed.hash or "")
        return replace(event, fact=_clean(event.fact, frame.get("metadata")))
    except (ValueError, msgspec.DecodeError) as error:
        raise Corrupt(session_id, number, str(error)) from None


def _clean(fact: Fact, metadata: Any) -> Fact:
    """Return the fact without control characters in its texts."""
    cleaned: Fact = msgspec.convert(clean_data(metadata), type(fact))
    return cleaned
