"""Finds out whether SQLite's write-ahead log holds commits that SQLite will not read.

SQLite reads a WAL up to the first frame with a wrong checksum and takes the rest for a commit that a crash cut off.
After a disk fault that loses acknowledged commits silently. Two things reveal it: a commit after the bad frame, and the
index beside it (`-shm`), which counts the frames of all commits. Format: https://sqlite.org/fileformat2.html#walformat
"""

import logging
import shutil
import struct
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

logger = logging.getLogger(__name__)

_MAGIC = (0x377F0682, 0x377F0683)  # checksums over little-endian words, or big-endian ones
_HEADER, _FRAME = struct.Struct(">8I"), struct.Struct(">6I")
_SUMMED_OF_HEADER, _SUMMED_OF_FRAME = 24, 8  # bytes that a checksum covers
_INDEX = struct.Struct("=16xI12x8s")  # mxFrame and the salts, in the byte order of this machine
_WORD = 0xFFFFFFFF
_KEPT = "damaged-"

Checksum = tuple[int, int]


class Frame(NamedTuple):
    """`is_good`: all checksums up to it are right. `is_ours`: not a leftover of the WAL that this one overwrites."""

    number: int
    is_commit: bool
    is_ours: bool
    is_good: bool


def lost_frames(wal: bytes, index: bytes = b"") -> int:
    """Count the frames, up to the last commit, that SQLite will not read."""
    readable, written = 0, _count_indexed(wal, index)
    for frame in _frames(wal):
        if frame.is_commit and frame.is_ours:
            written = max(written, frame.number)
            readable = frame.number if frame.is_good else readable
    if wal[: _HEADER.size] and not _is_header_good(wal):
        written = max(written, 1)  # the real number is unknown
    return written - readable


def examine(path: Path) -> int:
    """Return `lost_frames` of the log at `path`. The log must not be open: writes would look like losses."""
    wal, index = path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")
    return lost_frames(_read(wal), _read(index, _INDEX.size))


def keep_damaged(path: Path) -> None:
    """Copy a damaged WAL to a file beside it, before the next commit overwrites it."""
    lost = examine(path)
    if lost:
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        wal = path.with_name(f"{path.name}-wal")
        kept = path.with_name(f"{wal.name}.{_KEPT}{now}")
        shutil.copyfile(wal, kept) if wal.exists() else kept.touch()
        kept.chmod(0o600)
        logger.error("%s is damaged: %d written pages are lost; `moot doctor` says more; kept as %s", wal, lost, kept)


def list_kept(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{path.name}-wal.{_KEPT}*"))


def _read(path: Path, size: int = -1) -> bytes:
    if not path.exists():
        return b""
    with path.open("rb") as file:
        return file.read(size)


def _count_indexed(wal: bytes, index: bytes) -> int:
    """Return the number of frames in the index, 0 if it belongs to another WAL."""
    if len(index) < _INDEX.size:
        return 0
    count, salts = _INDEX.unpack(index[: _INDEX.size])
    return int(count) if not wal or salts == wal[16:24] else 0


def _is_header_good(wal: bytes) -> bool:
    if len(wal) < _HEADER.size:
        return False
    magic, *_, first, second = _HEADER.unpack_from(wal)
    return magic in _MAGIC and _add((0, 0), wal[:_SUMMED_OF_HEADER], magic) == (first, second)


def _frames(wal: bytes) -> Iterator[Frame]:
    if not _is_header_good(wal):
        return
    magic, _, page_bytes, _, *salts, first, second = _HEADER.unpack_from(wal)
    checksum, is_good = (first, second), True
    starts = range(_HEADER.size, len(wal) - _FRAME.size - page_bytes + 1, _FRAME.size + page_bytes)
    for number, start in enumerate(starts, 1):
        _, pages, salt1, salt2, *stated = _FRAME.unpack_from(wal, start)
        if is_good:
            page = start + _FRAME.size
            summed = wal[start : start + _SUMMED_OF_FRAME] + wal[page : page + page_bytes]
            checksum = _add(checksum, summed, magic)
            is_good = [salt1, salt2] == salts and [*checksum] == stated
        yield Frame(number, pages > 0, salt1 == salts[0] or salt2 == salts[1], is_good)


def _add(checksum: Checksum, summed: bytes, magic: int) -> Checksum:
    first, second = checksum
    words = struct.unpack(f"{'>' if magic & 1 else '<'}{len(summed) // 4}I", summed)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & _WORD
        second = (second + odd + first) & _WORD
    return first, second
