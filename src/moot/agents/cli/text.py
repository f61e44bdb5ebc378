"""Reads a program whose whole output is its answer. Pure."""

import codecs

from moot.core.text import clean

_HELD_CHARS = 4_096  # an incomplete escape sequence that is longer is not waited for


class TextReader:
    """Decodes output piece by piece and holds back an escape sequence until it is complete."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._written: list[str] = []

    def feed(self, chunk: bytes) -> str:
        """Return the text that can be shown now."""
        text = self._held + self._decoder.decode(chunk)
        at = max(text.rfind("\x1b"), text.rfind("\r"))
        ends = text.rfind("\n")
        cut = at if at > ends and len(text) - at < _HELD_CHARS else len(text)
        return self._show(text[:cut], text[cut:])

    def close(self) -> str:
        return self._show(self._held + self._decoder.decode(b"", final=True), "")

    @property
    def text(self) -> str:
        return "".join(self._written).strip()

    def _show(self, text: str, held: str) -> str:
        self._held = held
        safe = clean(text)
        self._written.append(safe)
        return safe
