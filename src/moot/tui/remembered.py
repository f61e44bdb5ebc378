"""What the terminal UI remembers from one start to the next: what was said, panes and their sizes, the theme.

A file that cannot be read or written changes nothing else: the screen works without.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct

HISTORY = 500  # texts that are remembered
TEXT_CHARS = 20_000  # of one of them
FILE_BYTES = 8_000_000


class Layout(Struct, kw_only=True, omit_defaults=True):
    """The panes beside the conversation. Their widths are in columns; None: nobody has shown or hidden it yet."""

    has_sessions: bool | None = None
    has_inspector: bool | None = None
    sessions_width: int = 28
    inspector_width: int = 44
    tab: str = "timeline"
    theme: str = ""


class Memory:
    """Keeps a layout and a history in `folder`; in memory only if that is None."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self.layout = self._read_layout()
        self.history = self._read_history()

    def remember(self, text: str) -> None:
        """Add a text to the history; one that was there before moves to the end."""
        text = text[:TEXT_CHARS]
        self.history = [*(entry for entry in self.history if entry != text), text][-HISTORY:]
        if self._folder:
            with suppress(OSError), _open(self._folder / "history.jsonl", os.O_APPEND) as file:
                file.write(msgspec.json.encode(text) + b"\n")

    def keep_layout(self) -> None:
        if self._folder:
            path = self._folder / "layout.json"
            with suppress(OSError):
                with _open(path.with_suffix(".new"), os.O_TRUNC) as file:
                    file.write(msgspec.json.encode(self.layout))
                path.with_suffix(".new").replace(path)

    def _read_layout(self) -> Layout:
        try:
            return msgspec.json.decode(_read(self._folder, "layout.json"), type=Layout)
        except (OSError, msgspec.MsgspecError):
            return Layout()

    def _read_history(self) -> list[str]:
        texts: dict[str, None] = {}
        try:
            lines = _read(self._folder, "history.jsonl").splitlines()
        except OSError:
            return []
        for line in lines:
            with suppress(msgspec.MsgspecError):
                text = msgspec.json.decode(line, type=str)
                texts.pop(text, None)
                texts[text] = None
        if len(lines) > 2 * HISTORY and self._folder:
            with suppress(OSError), _open(self._folder / "history.jsonl", os.O_TRUNC) as file:
                file.write(b"".join(msgspec.json.encode(text) + b"\n" for text in list(texts)[-HISTORY:]))
        return list(texts)[-HISTORY:]


def _read(folder: Path | None, name: str) -> bytes:
    """Return the end of a file, which may be as large as anything."""
    if folder is None:
        raise FileNotFoundError(name)
    with (folder / name).open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - FILE_BYTES))
        return file.read()


def _open(path: Path, how: int) -> IO[bytes]:
    """Open a file for writing that only its owner may read."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | how, 0o600), "wb")
