"""A text in the pager of whoever reads: `$PAGER`, else less."""

import asyncio
import os
import shlex
from contextlib import suppress


async def page(text: str) -> bool:
    """Until the pager is closed; False when there is none. The terminal must be free for it."""
    try:
        command = shlex.split(os.environ.get("PAGER") or "less")
        process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.PIPE)
    except (OSError, ValueError, TypeError):  # no such program, or no command at all
        return False
    with suppress(BrokenPipeError, ConnectionResetError):  # closed before it had read everything
        await process.communicate(text.encode())
    await process.wait()
    return True
