"""Any program that prints its answer: all of its output is the text. Pure."""

import codecs

from moot.core.text import clean

_HELD_CHARS = 4_096  # an escape sequence that is not complete yet is no longer than that


class TextReader:
    """Pieces of text as they come; an escape sequence is never shown in halves."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._written: list[str] = []

    def feed(self, chunk: bytes) -> str:
        """What can be shown now."""
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
