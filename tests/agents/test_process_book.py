"""A server that died leaves nobody behind: the next one finds its programs by mark, pid and start time."""

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from moot.agents.process import start
from moot.agents.process_book import ProcessBook
from moot.runtime.process_table import MARK_NAME, find_start_time
from tests.agents.programs import python_program, run

ROOT = Path(__file__).parents[2]
SERVER = """
import asyncio, sys
from pathlib import Path
from moot.agents import process
from moot.agents.process import start
from moot.agents.process_book import ProcessBook
from tests.agents.programs import python_program

CHILD = "import os, time\\nif os.fork() == 0: os.setsid()\\nprint('up', flush=True)\\ntime.sleep(60)"

process._HAS_LAUNCHER = False  # elsewhere than on Linux programs outlive Moot

async def serve():
    async with start(python_program(CHILD), book=ProcessBook(Path(sys.argv[1]))) as child:
        async for _ in child.chunks():
            print(child.pid, flush=True)

asyncio.run(serve())
"""


@contextmanager
def sleeper(**environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program that has begun: before that, the system does not tell its environment."""
    code = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"]
    environment = {**os.environ, **environment}
    with subprocess.Popen(code, start_new_session=True, env=environment, stdout=subprocess.PIPE) as program:
        try:
            assert program.stdout
            program.stdout.readline()
            yield program
        finally:
            program.kill()


def test_a_killed_server_s_programs_are_ended_by_the_next_one(tmp_path: Path) -> None:
    """Kill -9 of the server, then the leftovers are found and killed, daemons too."""
    server = subprocess.Popen([sys.executable, "-c", SERVER, str(tmp_path)], stdout=subprocess.PIPE, cwd=ROOT)
    assert server.stdout
    pid = int(server.stdout.readline())
    server.kill()
    server.wait()
    server.stdout.close()
    assert find_start_time(pid)
    book = ProcessBook(tmp_path)
    assert book.end_leftovers() == 1
    until = time.monotonic() + 5
    while find_start_time(pid) and time.monotonic() < until:
        time.sleep(0.01)
    assert find_start_time(pid) is None
    assert list(tmp_path.iterdir()) == []
    assert book.end_leftovers() == 0


def test_somebody_else_s_process_is_left_alone(tmp_path: Path) -> None:
    """The same pid with another start time is another process."""
    with sleeper() as other:
        (tmp_path / "0123").write_text(json.dumps({"pid": other.pid, "start_time": "1"}))
        (tmp_path / "4567").write_text("half a fi")
        (tmp_path / "89ab").write_text("[]")
        assert ProcessBook(tmp_path).end_leftovers() == 0
        assert other.poll() is None
        assert list(tmp_path.iterdir()) == []


def test_a_program_that_was_announced_only_is_found_by_its_mark(tmp_path: Path) -> None:
    """A crash between starting a program and noting its pid leaves the mark."""
    book = ProcessBook(tmp_path)
    mark = book.announce()
    with sleeper(**{MARK_NAME: mark}) as started:
        assert book.end_leftovers() == 1
        assert started.wait() == -signal.SIGKILL


def test_the_book_is_empty_when_all_is_well(tmp_path: Path) -> None:
    """A program is in the book while it runs, and not after it."""
    book = ProcessBook(tmp_path)

    async def look() -> int:
        async with start(python_program("print(1)"), book=book):
            return count()

    def count() -> int:
        return len(list(tmp_path.iterdir()))

    assert asyncio.run(look()) == 1
    run(python_program("print(1)"), book=book)
    assert list(tmp_path.iterdir()) == []
    assert ProcessBook(tmp_path / "not there").end_leftovers() == 0


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_other_users_cannot_add_to_the_book(umask: int, tmp_path: Path) -> None:
    """Entries name processes that will be killed: their folder is the user's own, also one that was there before."""
    before = os.umask(umask)
    try:
        (tmp_path / "old").mkdir()
        for folder in (tmp_path / "new", tmp_path / "old"):
            ProcessBook(folder).announce()
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    finally:
        os.umask(before)
