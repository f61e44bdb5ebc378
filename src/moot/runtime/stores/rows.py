"""A row of the table `appends`, as every database of Moot stores it.

It is one append: its events as lines of JSON, their hashes side by side, under the seq of the first. A segment of an
archive is several of them, compressed.
"""

import zlib
from collections.abc import Sequence

import msgspec

from moot.core.codec import Event, Head
from moot.core.machines.session import Status
from moot.runtime.ports import Summary

HASH_BYTES = 32

_summary_decoder = msgspec.json.Decoder(Summary)
_UNREADABLE = Summary(title="(summary damaged)", team="", flow="", status=Status.PAUSED, waiting_for=None, busy=False)


def pack(events: Sequence[Event]) -> tuple[bytes, bytes]:
    """The hashes and the lines of an append."""
    return bytes.fromhex("".join([event.hash for event in events])), b"\n".join([event.data for event in events])


def pack_segment(rows: Sequence[tuple[int, bytes, bytes]]) -> bytes:
    """Compress rows that follow each other."""
    return zlib.compress(b"".join(hashes for _, hashes, _ in rows) + b"\n".join(data for _, _, data in rows))


def unpack_segment(first: int, last: int, data: bytes) -> tuple[int, bytes, bytes]:
    """Return a segment as one row; if it is damaged, one without events."""
    try:
        plain = zlib.decompress(data)
    except zlib.error:
        return first, b"", b""
    size = (last - first + 1) * HASH_BYTES
    return first, plain[:size], plain[size:]


def read_head(seq: int, hashes: bytes) -> Head:
    """The head after a row whose first event is `seq`."""
    return Head(seq + len(hashes) // HASH_BYTES - 1, hashes[-HASH_BYTES:].hex())


def read_summary(data: bytes) -> tuple[Summary, bool]:
    """A stored summary, and whether it is damaged: that must not hide the session, nor those beside it."""
    try:
        return _summary_decoder.decode(data), False
    except (ValueError, TypeError):  # not JSON, not UTF-8, another shape; not even a blob
        return _UNREADABLE, True
