"""The files of a folder, for completion: those that git knows or would add, else all that are not hidden."""

import asyncio
import os
from pathlib import Path

MOST_FILES = 20_000
GIT_S = 5.0
SKIPPED = frozenset({"node_modules", "__pycache__", "venv"})


async def list_files(folder: Path) -> tuple[str, ...]:
    """Return the paths of files below `folder`, relative to it; paths with spaces are left out."""
    found = await _ask_git(folder)
    paths = found if found is not None else await asyncio.to_thread(_walk, folder)
    return tuple(path for path in paths[:MOST_FILES] if path and not any(char.isspace() for char in path))


async def _ask_git(folder: Path) -> list[str] | None:
    """Return what git lists, or None if there is no git or no repository."""
    command = ("git", "-C", str(folder), "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return None
    try:
        async with asyncio.timeout(GIT_S):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return None
    return output.decode(errors="replace").split("\0") if process.returncode == 0 else None


def _walk(folder: Path) -> list[str]:
    paths: list[str] = []
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in SKIPPED)
        paths += [os.path.relpath(os.path.join(parent, name), folder) for name in sorted(files) if name[0] != "."]
        if len(paths) >= MOST_FILES:
            break
    return paths
