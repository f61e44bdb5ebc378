"""Progress of slow work: one line on stderr after a second, if that is a terminal, erased at the end."""

import os
import sys
import threading
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self, TypeVar

QUIET_S = 1.0  # shorter work shows nothing
REPAINT_S = 0.2
BAR_CELLS = 24
ERASE = "\r\x1b[K"

T = TypeVar("T")


class Progress:
    """`with Progress("checking", total=9) as progress: progress.advance()`.

    A thread repaints the line, so that it also appears while the work blocks. With NO_COLOR or TERM=dumb the line is
    printed once, without a bar.
    """

    def __init__(self, doing: str, total: int = 0, unit: str = "events") -> None:
        self.doing = doing
        self._total = total
        self._unit = unit
        self._done = 0
        self._ended = threading.Event()
        self._pen = threading.Lock()  # held while writing to the terminal
        self._is_painted = False
        self._painter = threading.Thread(target=self._paint, daemon=True)

    def advance(self, count: int = 1) -> None:
        self._done += count

    async def count(self, items: AsyncIterator[T]) -> AsyncIterator[T]:
        """Yield the same items and advance with each."""
        async for item in items:
            yield item
            self.advance()

    def write(self, text: str) -> None:
        """Write to stdout, which may be the same terminal."""
        with self._pen:
            self._erase()
            sys.stdout.write(text)

    def print(self, line: str) -> None:
        self.write(f"{line}\n")

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._painter.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._painter.is_alive():
            self._painter.join()
        with self._pen:
            self._erase()

    @property
    def line(self) -> str:
        """The line as it is painted, with a bar if the total is known."""
        if self._total:
            bar = "█" * round(min(self._done / self._total, 1.0) * BAR_CELLS)
            return f"{self.doing}  {bar:░<{BAR_CELLS}}  {self._done:,} of {self._total:,} {self._unit}"
        return f"{self.doing} …" + (f"  {self._done:,} {self._unit}" if self._done else "")

    def _paint(self) -> None:
        if self._ended.wait(QUIET_S):
            return
        if "NO_COLOR" in os.environ or os.environ.get("TERM", "dumb") == "dumb":
            with self._pen:
                print(f"{self.doing} …", file=sys.stderr, flush=True)
            return
        while not self._ended.is_set():
            with self._pen:
                sys.stderr.write(ERASE + self.line)
                sys.stderr.flush()
                self._is_painted = True
            self._ended.wait(REPAINT_S)

    def _erase(self) -> None:
        if self._is_painted:
            sys.stderr.write(ERASE)
            sys.stderr.flush()
            self._is_painted = False
