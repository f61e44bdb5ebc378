"""Reads JSON lines from chunks of bytes, for every CLI. The start of what is not JSON is kept for error messages."""

import json
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

LINE_BYTES = 16 * 1_048_576  # a longer line is dropped
NOISE_CHARS = 2_000  # of output that is not JSON, kept for error messages
_decode = json.JSONDecoder(strict=False).raw_decode


class JsonLines:
    """Chunks may end anywhere, even inside a character. Anything but an object with the `key` is noise.

    Without a key every object counts.
    """

    def __init__(self, key: str | None = "type") -> None:
        self.noise = ""
        self._key = key
        self._rest = bytearray()
        self._is_skipping = False

    def feed(self, chunk: bytes) -> Iterator[Json]:
        """Yield the objects of the lines that end in this chunk."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line, self._rest = bytes(self._rest + end), bytearray()
            if not self._is_skipping:
                yield from self._read(line)
            self._is_skipping = False
        self._rest += rest
        if len(self._rest) > LINE_BYTES:
            self._rest, self._is_skipping = bytearray(), True
            self._note("(a line that is too long)")

    def close(self) -> Iterator[Json]:
        """Yield the objects of a last line without a line end."""
        line, self._rest = bytes(self._rest), bytearray()
        if not self._is_skipping:
            yield from self._read(line)

    def _read(self, line: bytes) -> Iterator[Json]:
        """Yield every object of a line: there may be text before the first, and several may share a line."""
        text, at = line.decode(errors="replace").strip(), 0
        while at < len(text):
            start = text.find("{", at)
            if start < 0:
                self._note(text[at:])
                return
            try:
                value, end = _decode(text, start)
            except (ValueError, RecursionError):
                self._note(text[at:])
                return
            self._note(text[at:start])
            if isinstance(value, dict) and (self._key is None or isinstance(value.get(self._key), str)):
                yield value
            else:
                self._note(text[start:end])
            at = end

    def _note(self, text: str) -> None:
        if text.strip() and len(self.noise) < NOISE_CHARS:
            self.noise = f"{self.noise}\n{text.strip()}".strip()[:NOISE_CHARS]
