"""Writing a message in the editor that `$VISUAL` or `$EDITOR` names."""

import asyncio
import os
import shlex
import tempfile
from pathlib import Path

FALLBACK = "vi"


async def edit_text(text: str) -> str | None:
    """Have `text` edited in a temporary file. Returns None if the editor cannot be started or fails."""
    path = _write(text)
    try:
        command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or FALLBACK)
        process = await asyncio.create_subprocess_exec(*command, str(path))
        return _read(path) if await process.wait() == 0 else None
    except (OSError, ValueError, TypeError):  # the program is missing, or the command is empty or malformed
        return None
    finally:
        _remove(path)


def _write(text: str) -> Path:
    descriptor, name = tempfile.mkstemp(prefix="moot-", suffix=".md")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return Path(name)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace").rstrip("\n")


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
