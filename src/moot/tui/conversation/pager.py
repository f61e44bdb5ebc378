"""Reading a text in the program that `$PAGER` names."""

import asyncio
import os
import shlex
from contextlib import suppress


async def show_in_pager(text: str) -> bool:
    """Show text in `$PAGER` (default: less) until it is closed. Returns False if the program cannot be started."""
    try:
        command = shlex.split(os.environ.get("PAGER") or "less")
        process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.PIPE)
    except (OSError, ValueError, TypeError):  # the program is missing, or the command is empty or malformed
        return False
    with suppress(BrokenPipeError, ConnectionResetError):  # closed before it had read everything
        await process.communicate(text.encode())
    await process.wait()
    return True
