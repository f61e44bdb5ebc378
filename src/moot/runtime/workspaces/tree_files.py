"""Names of files in trees, as git's patterns and as places on the disk."""

import os
import re
from contextlib import suppress
from pathlib import Path

_SPECIAL = re.compile(r"[\\*?\[\]!^# -]")  # in patterns of ignored files


def escape(name: str) -> str:
    """Escape a name, so that git takes it literally as a pathspec."""
    return _SPECIAL.sub(r"\\\g<0>", name)


def exclude(name: str) -> tuple[str, str]:
    """Pathspecs without a file, or a folder and what is in it.

    They are patterns, because `git add` refuses to leave out a plain name that is ignored anyway.
    """
    name = name.strip("/")
    pattern = f":(top,exclude,glob)[{escape(name[:1])}]{escape(name[1:])}"
    return pattern, f"{pattern}/**"


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a path lies in a folder, whatever links are on the way."""
    return path.parent.resolve().is_relative_to(folder.resolve()) and not path.is_symlink()


def read(file: Path) -> bytes:
    """Return the text of a file, empty if it does not exist."""
    return file.read_bytes() if file.is_file() else b""


def measure(folder: Path) -> int:
    """Return the size of all files below a folder in bytes."""
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            with suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total
