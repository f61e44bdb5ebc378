"""Decodes rows into events and verifies the hash chain."""

from collections.abc import Iterable

from moot.core.codec import Event, Head, UnknownEvent, chain, decode
from moot.core.errors import Corrupt, Newer
from moot.runtime.stores.rows import HASH_BYTES

_HASH_CHARS = 2 * HASH_BYTES

Row = tuple[int, bytes, bytes]  # seq of the first event, hashes, lines


def as_bytes(stored: object) -> bytes:
    """Convert any column value to bytes: in a row edited by hand it may be text, a number or NULL."""
    return stored if isinstance(stored, bytes) else str(stored or "").encode()


class Walk:
    """Reads at most `limit` events after seq `after`. `events` holds those read so far, also if Corrupt is raised."""

    def __init__(self, session_id: str, after: int, limit: int) -> None:
        self._session_id = session_id
        self._next_seq = after + 1
        self._limit = limit
        self._previous = ""
        self.began_behind = Head()  # the event before the first that was read, if its row was
        self.events: list[Event] = []

    def through(self, rows: Iterable[Row]) -> list[Event]:
        """Read the rows, the first of which must hold `after`. Raises Corrupt at the first event that is not sound."""
        first = 0
        for first, hashes, data in rows:
            lines, joined = as_bytes(data).split(b"\n"), as_bytes(hashes).hex()
            digests = [joined[start : start + _HASH_CHARS] for start in range(0, len(joined), _HASH_CHARS)]
            skip = self._count_known(first, digests)
            stop = skip + self._limit - len(self.events)
            self._read_lines(lines[skip:stop], digests[skip:stop])
            if len(self.events) == self._limit:
                break
            if len(digests) != len(lines):
                raise Corrupt(self._session_id, first + min(len(digests), len(lines)), "it or its hash is missing")
        if not first:
            raise Corrupt(self._session_id, 1, "it is missing")
        return self.events

    def _count_known(self, first: int, digests: list[str]) -> int:
        """Return how many events at the start of a row to skip: those up to `after`."""
        if first < self._next_seq and not self.events:
            skip = min(self._next_seq - first, len(digests))
            self._previous = digests[skip - 1] if skip else ""
            self.began_behind = Head(first + skip - 1, self._previous)
            return skip
        if first != self._next_seq:
            raise Corrupt(self._session_id, self._next_seq, "it is missing")
        return 0

    def _read_lines(self, lines: list[bytes], digests: list[str]) -> None:
        session_id, seq, previous, append = self._session_id, self._next_seq, self._previous, self.events.append
        for line, digest in zip(lines, digests, strict=False):
            if chain(previous, line) != digest:
                raise Corrupt(session_id, seq, "its bytes do not match its hash")
            try:
                event = decode(line, digest)
            except UnknownEvent as error:
                raise Newer(session_id, seq, str(error)) from error
            except ValueError as error:
                raise Corrupt(session_id, seq, str(error)) from error
            if event.seq != seq or event.session_id != session_id:
                raise Corrupt(session_id, seq, f"it says that it is seq {event.seq} of session {event.session_id}")
            append(event)
            previous = digest
            seq += 1
        self._next_seq, self._previous = seq, previous
