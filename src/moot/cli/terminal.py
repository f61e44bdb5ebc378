"""Whether there is a terminal that a screen fits into."""

import os
import shutil
import sys

SMALLEST = (60, 15)  # columns and rows


def has_screen() -> bool:
    """A terminal on all sides, and large enough."""
    streams = (sys.stdin, sys.stdout, sys.stderr)  # Textual draws on the last one
    if not all(stream.isatty() for stream in streams) or os.environ.get("TERM") == "dumb":
        return False
    size = shutil.get_terminal_size()
    return size.columns >= SMALLEST[0] and size.lines >= SMALLEST[1]
