"""What is read of a file whose pages are damaged: every session as far as its chain holds, and nothing else."""

import asyncio
import random
import sqlite3
from pathlib import Path

import pytest

from moot.core.codec import Event
from moot.core.errors import Unusable
from moot.runtime.stores.salvage import salvage
from moot.runtime.stores.sqlite import SqliteLog
from tests.contract.logs import append, closing

PAGE_BYTES = 4_096


async def make_log(path: Path) -> dict[str, list[Event]]:
    """Ten sessions whose appends take turns, over many pages."""
    written: dict[str, list[Event]] = {f"s{number}": [] for number in range(10)}
    async with closing(await SqliteLog.open(path)) as log:
        for _ in range(6):
            for session_id, events in written.items():
                events += await append(log, session_id, 2, "x" * 300)
    return written


def read_all(path: Path) -> dict[str, list[Event]]:
    return {events[0].session_id: events for events in salvage(path)}


def test_a_whole_file_is_read_whole(path: Path) -> None:
    """Without damage it finds what was written, and changes nothing."""
    written = asyncio.run(make_log(path))
    before = path.read_bytes()
    assert read_all(path) == written
    assert path.read_bytes() == before


def test_a_page_that_is_gone_costs_only_what_it_held(path: Path) -> None:
    """Whichever page is overwritten (but the first, which has the tables), every session is a prefix of what it was."""
    written = asyncio.run(make_log(path))
    whole = path.read_bytes()
    noise = random.Random(88).randbytes(PAGE_BYTES)  # noqa: S311 - the same each time
    most = 0
    for start in range(PAGE_BYTES, len(whole), PAGE_BYTES):
        path.write_bytes(whole[:start] + noise + whole[start + PAGE_BYTES :])
        found = read_all(path)
        for session_id, events in found.items():
            assert events == written[session_id][: len(events)]
        most += found == written
        assert len(found) >= len(written) // 2 or is_root(path, start)  # a page holds five appends at most
    assert most > 1  # a page of an index or of another table is not needed


def is_root(path: Path, start: int) -> bool:
    """The page that leads to all rows of events: without it nothing is found."""
    connection = sqlite3.connect(path)
    (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'appends'").fetchone()
    connection.close()
    return int(root) == start // PAGE_BYTES + 1


def test_rows_that_are_no_events_are_left_out(path: Path) -> None:
    """A first row that is text, empty or of another session gives nothing of that session; the others are whole."""
    written = asyncio.run(make_log(path))
    for damage in ("'text'", "x''", "(SELECT data FROM appends WHERE session = 2 AND seq = 3)"):
        connection = sqlite3.connect(path)
        connection.execute(f"UPDATE appends SET data = {damage} WHERE session = 1 AND seq = 1")  # noqa: S608
        connection.commit()
        connection.close()
        assert read_all(path) == {name: events for name, events in written.items() if name != "s0"}


def test_a_file_that_is_no_log_is_refused(path: Path) -> None:
    """As ever: it is not ours to look into."""
    path.write_bytes(b"my diary")
    with pytest.raises(Unusable, match="not a log of Moot"):
        list(salvage(path))
