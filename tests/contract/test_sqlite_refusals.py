"""Places that cannot hold a log are refused in one sentence with a way out, and nothing is overwritten."""

import asyncio
import os
import sqlite3
from pathlib import Path

import pytest

from moot.core.errors import Unusable
from moot.runtime.stores import log_tables
from moot.runtime.stores.sqlite import SqliteLog
from tests.contract.logs import append, closing, run


def open_and_close(path: Path, *, read_only: bool = False) -> None:
    async def main() -> None:
        await (await SqliteLog.open(path, read_only=read_only)).close()

    asyncio.run(main())


def execute(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.close()


@run
async def test_a_log_without_a_writer_can_be_read(path: Path) -> None:
    """`moot sessions show` works while no server runs."""
    async with closing(await SqliteLog.open(path)) as log:
        events = await append(log, "a", 2)
    async with closing(await SqliteLog.open(path, read_only=True)) as log:
        assert await log.read("a") == events


def test_reading_changes_nothing(path: Path) -> None:
    """A log that was opened for reading has the same bytes afterwards, and no log is made where there is none."""
    open_and_close(path)
    written = path.read_bytes()
    open_and_close(path, read_only=True)
    assert path.read_bytes() == written
    other = path.with_name("other.db")
    with pytest.raises(Unusable, match="there is no log"):
        open_and_close(other, read_only=True)
    assert not other.exists()


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_file_is_refused(path: Path, read_only: bool) -> None:
    """Both versions are named and so is the way out."""
    open_and_close(path)
    known = log_tables.VERSION
    execute(path, f"PRAGMA user_version = {known + 1}")
    expected = rf"version {known + 1}, this Moot knows up to {known}; update Moot or use --data DIR"
    with pytest.raises(Unusable, match=expected):
        open_and_close(path, read_only=read_only)


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("text", [b"hello", b"hello\n" * 5_000])
def test_a_file_that_is_no_database_is_refused(path: Path, text: bytes, read_only: bool) -> None:
    """A text file in the log's place is reported and not touched."""
    path.write_bytes(text)
    with pytest.raises(Unusable, match="not a log of Moot; move it away or use --data DIR"):
        open_and_close(path, read_only=read_only)
    assert path.read_bytes() == text


def test_a_database_of_another_program_is_refused(path: Path) -> None:
    """Somebody else's SQLite file gets no tables of ours."""
    execute(path, "CREATE TABLE shopping (item TEXT)")
    written = path.read_bytes()
    with pytest.raises(Unusable, match="another program"):
        open_and_close(path)
    assert path.read_bytes() == written


def test_a_directory_is_refused(path: Path) -> None:
    """A directory in the log's place, or a file in its folder's, cannot hold a log."""
    path.mkdir()
    with pytest.raises(Unusable, match="is a directory"):
        open_and_close(path)
    (path / "file").touch()
    with pytest.raises(Unusable, match="cannot be made"):
        open_and_close(path / "file" / "moot.db")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_refused(path: Path) -> None:
    """A read-only folder is reported before anything is tried in it."""
    path.parent.chmod(0o500)
    try:
        with pytest.raises(Unusable, match="cannot be written"):
            open_and_close(path)
    finally:
        path.parent.chmod(0o700)


def test_a_refused_file_is_not_left_locked(path: Path) -> None:
    """Who moves the culprit away can start at once."""
    path.write_bytes(b"hello")
    with pytest.raises(Unusable):
        open_and_close(path)
    path.unlink()
    open_and_close(path)
