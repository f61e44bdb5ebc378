"""Whether the terminal is fit for the terminal UI, and what it shows until that is loaded."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SMALLEST = (60, 15)  # columns and rows


def has_screen() -> bool:
    """Whether input and output are a terminal that is large enough."""
    size = shutil.get_terminal_size()
    return is_terminal() and size.columns >= SMALLEST[0] and size.lines >= SMALLEST[1]


def is_terminal() -> bool:
    """Of the kind that a screen can be drawn on."""
    streams = (sys.stdin, sys.stdout, sys.stderr)  # Textual draws on the last one
    return all(stream.isatty() for stream in streams) and os.environ.get("TERM") != "dumb"


def sizes() -> dict[str, int]:
    """Return the size of the terminal, and the smallest one that the terminal UI needs."""
    size = shutil.get_terminal_size()
    return {"columns": size.columns, "rows": size.lines, "least_columns": SMALLEST[0], "least_rows": SMALLEST[1]}


@contextmanager
def opening(what: str) -> Iterator[None]:
    """Show a line while modules are loaded and sessions are read; it is erased at the end."""
    print(f"Moot · {what} …", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
