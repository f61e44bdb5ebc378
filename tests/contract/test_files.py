"""What every log does with files (runtime/ports.py: Log.put_file and its like)."""

from pathlib import Path

import pytest

from moot.core.errors import LogError, NotFound
from moot.runtime.stores.sqlite import SqliteLog
from tests.contract.logs import OpenLog, append, closing, run
from tests.files import PNG, sha256


@run
async def test_a_file_is_kept_by_its_hash(open_log: OpenLog) -> None:
    """It comes back as it was, once however often it is put, and in its own session only."""
    async with open_log() as log:
        await append(log, "a")
        await append(log, "b")
        assert await log.put_file("a", PNG) == sha256(PNG) == await log.put_file("a", PNG)
        assert await log.get_file("a", sha256(PNG)) == PNG
        assert await log.list_files("a") == {sha256(PNG): len(PNG)}
        assert await log.get_file("b", sha256(PNG)) is None
        assert await log.list_files("b") == {}


@run
async def test_a_file_needs_its_session(open_log: OpenLog) -> None:
    """A session that does not exist, or is in the trash, takes no file."""
    async with open_log() as log:
        await append(log, "a")
        await log.remove("a", "2026-01-01T00:00:00.000Z")
        for session_id in ("a", "nowhere"):
            with pytest.raises(NotFound):
                await log.put_file(session_id, PNG)
            with pytest.raises(NotFound):
                await log.list_files(session_id)


@run
async def test_files_come_back_from_the_trash_and_go_with_the_session(open_log: OpenLog) -> None:
    """Restoring a session restores its files; deleting it deletes them, and those of no other session."""
    async with open_log() as log:
        for session_id in ("a", "b"):
            await append(log, session_id)
            await log.put_file(session_id, PNG)
        await log.remove("a", "2026-01-01T00:00:00.000Z")
        await log.restore("a")
        assert await log.get_file("a", sha256(PNG)) == PNG
        await log.delete("a")
        assert await log.get_file("a", sha256(PNG)) is None
        assert await log.get_file("b", sha256(PNG)) == PNG


@pytest.mark.parametrize("name", ["", "..", "../b", "x" * 64, "A" * 64, "/etc/passwd", "moot.db"])
@run
async def test_only_a_hash_names_a_file(name: str, open_log: OpenLog) -> None:
    """Nothing else leads anywhere."""
    async with open_log() as log:
        await append(log, "a")
        await log.put_file("a", PNG)
        assert await log.get_file("a", name) is None


@run
async def test_a_damaged_file_is_not_handed_out(path: Path) -> None:
    """Content that has another hash than its name is as good as missing; putting it again mends it."""
    async with closing(await SqliteLog.open(path)) as log:
        await append(log, "a")
        digest = await log.put_file("a", PNG)
        stored = path.parent / "files" / "a" / digest
        assert stored.stat().st_mode & 0o777 == 0o600
        stored.write_bytes(PNG[:-1])
        assert await log.get_file("a", digest) is None
        await log.put_file("a", PNG)
        assert await log.get_file("a", digest) == PNG


@run
async def test_files_that_outlived_their_session_are_swept(path: Path) -> None:
    """A process that died while it deleted a session leaves files; the next start removes them, and only them."""
    async with closing(await SqliteLog.open(path)) as log:
        await append(log, "a")
        await log.put_file("a", PNG)
    left = path.parent / "files" / "gone"
    left.mkdir()
    (left / sha256(PNG)).write_bytes(PNG)
    async with closing(await SqliteLog.open(path)) as log:
        assert not left.exists()
        assert await log.get_file("a", sha256(PNG)) == PNG


@run
async def test_a_log_for_reading_takes_no_file(path: Path) -> None:
    """It reads files all the same, while another process writes."""
    async with closing(await SqliteLog.open(path)) as log:
        await append(log, "a")
        await log.put_file("a", PNG)
        async with closing(await SqliteLog.open(path, read_only=True)) as reading:
            assert await reading.get_file("a", sha256(PNG)) == PNG
            with pytest.raises(LogError, match="reading only"):
                await reading.put_file("a", b"more")
