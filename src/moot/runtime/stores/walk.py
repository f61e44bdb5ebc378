"""From rows to events along the hash chain, as far as it holds."""

from collections.abc import Iterable

from moot.core.codec import Event, chain, decode
from moot.core.errors import Corrupt
from moot.runtime.stores.schema import HASH_BYTES

_HASH_CHARS = 2 * HASH_BYTES

Row = tuple[int, bytes, bytes]  # seq of the first event, hashes, lines


def as_bytes(stored: object) -> bytes:
    """Somebody who edits a row may leave text, a number or nothing in it; the chain then says where."""
    return stored if isinstance(stored, bytes) else str(stored or "").encode()


class Walk:
    """The first `limit` events behind `after`; what lies behind is not looked at. `events`: the good ones so far."""

    def __init__(self, session_id: str, after: int, limit: int) -> None:
        self._session_id = session_id
        self._due = after + 1
        self._limit = limit
        self._previous = ""
        self.events: list[Event] = []

    def through(self, rows: Iterable[Row]) -> list[Event]:
        """`rows` start with the one that holds `after`. Raises Corrupt."""
        first = 0
        for first, hashes, data in rows:
            lines, joined = as_bytes(data).split(b"\n"), as_bytes(hashes).hex()
            digests = [joined[start : start + _HASH_CHARS] for start in range(0, len(joined), _HASH_CHARS)]
            skip = self._enter(first, digests)
            stop = skip + self._limit - len(self.events)
            self._take(lines[skip:stop], digests[skip:stop])
            if len(self.events) == self._limit:
                break
            if len(digests) != len(lines):
                raise Corrupt(self._session_id, first + min(len(digests), len(lines)), "it or its hash is missing")
        if not first:
            raise Corrupt(self._session_id, 1, "it is missing")
        return self.events

    def _enter(self, first: int, digests: list[str]) -> int:
        """How many events of a row were read before."""
        if first < self._due and not self.events:
            skip = min(self._due - first, len(digests))
            self._previous = digests[skip - 1] if skip else ""
            return skip
        if first != self._due:
            raise Corrupt(self._session_id, self._due, "it is missing")
        return 0

    def _take(self, lines: list[bytes], digests: list[str]) -> None:
        session_id, due, previous, append = self._session_id, self._due, self._previous, self.events.append
        for line, digest in zip(lines, digests, strict=False):
            if chain(previous, line) != digest:
                raise Corrupt(session_id, due, "its bytes do not match its hash")
            try:
                event = decode(line, digest)
            except ValueError as error:
                raise Corrupt(session_id, due, str(error)) from error
            if event.seq != due or event.session_id != session_id:
                raise Corrupt(session_id, due, f"it says that it is seq {event.seq} of session {event.session_id}")
            append(event)
            previous = digest
            due += 1
        self._due, self._previous = due, previous
