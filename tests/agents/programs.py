"""Tiny programs that misbehave in one way each, and a look at what is left of them."""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from moot.agents.environment import pick_environment
from moot.agents.process import Bounds, Ended, Program, start
from moot.agents.process_book import ProcessBook
from moot.runtime.process_table import MARK_NAME


def python_program(code: str, *arguments: str, stdin: bytes | None = None, folder: Path | None = None) -> Program:
    """A program that is a line of Python."""
    argv = (sys.executable, "-I", "-S", "-c", code, *arguments)
    return Program(argv=argv, environment=pick_environment(()), stdin=stdin, folder=folder)


async def play(program: Program, bounds: Bounds | None = None, book: ProcessBook | None = None) -> tuple[bytes, Ended]:
    written = b""
    async with start(program, bounds, book) as child:
        async for chunk in child.chunks():
            written += chunk
        return written, await child.ended()


def run(program: Program, bounds: Bounds | None = None, book: ProcessBook | None = None) -> tuple[bytes, Ended]:
    return asyncio.run(play(program, bounds, book))


def list_started(by: int | None = None) -> set[int]:
    """Every process that was started by this one, or by the one with this pid, wherever it is now."""
    wanted, found = f"{MARK_NAME}={by or os.getpid()}-".encode(), set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(entry.startswith(wanted) for entry in environment):
            found.add(int(folder.name))
    return found


@contextmanager
def nothing_left() -> Iterator[None]:
    """No process that was started inside is there afterwards."""
    before = list_started()
    yield
    assert list_started() - before == set()
