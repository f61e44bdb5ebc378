"""What a process did to its files, and the states in which a power cut may leave them.

A write is safe once its file was synced after it. Of the others a cut may leave none, all, some, parts of some, or
parts in any order: disks reorder what was not synced, and write sectors, not calls.
"""

import random
import struct
from collections import Counter
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

from msgspec import Struct

_HEADER = struct.Struct("<6I")
SECTOR_BYTES = 512
KINDS = ("none", "all", "some", "torn", "shuffled")


class Operation(Struct, frozen=True):
    """`kind`: w, t, s or u, as in recorder.c."""

    kind: str
    name: str
    offset: int
    data: bytes


def read_trace(path: Path) -> list[Operation]:
    trace, operations, start = path.read_bytes(), list[Operation](), 0
    while start < len(trace):
        kind, name_size, offset, size, *_ = _HEADER.unpack_from(trace, start)
        start += _HEADER.size
        name = Path(trace[start : start + name_size].decode()).name
        start += name_size
        size = size if chr(kind) == "w" else 0
        operations.append(Operation(chr(kind), name, offset, trace[start : start + size]))
        start += size
    return operations


class Platter:
    """The files as they are on disk for sure, and the writes since each was last synced."""

    def __init__(self) -> None:
        self.files: dict[str, bytearray] = {}
        self.loose: dict[str, list[Operation]] = {}

    def do(self, operation: Operation) -> None:
        loose = self.loose.setdefault(operation.name, [])
        match operation.kind:
            case "s":
                for write in loose:
                    apply(self.files.setdefault(operation.name, bytearray()), write)
                loose.clear()
            case "u":
                self.files.pop(operation.name, None)
                loose.clear()
            case _:
                loose.append(operation)

    def cut(self, kind: str, chance: random.Random) -> dict[str, bytes]:
        """The files as a power cut of this kind leaves them."""
        left = {name: bytearray(data) for name, data in self.files.items()}
        for name, loose in self.loose.items():
            file = left.setdefault(name, bytearray())
            for write in survivors(loose, kind, chance):
                apply(file, write)
        return {name: bytes(data) for name, data in left.items()}


def survivors(loose: list[Operation], kind: str, chance: random.Random) -> list[Operation]:
    match kind:
        case "none":
            return []
        case "all":
            return list(loose)
        case "some":
            return [write for write in loose if chance.random() < 0.5]
    sectors = [sector for write in loose for sector in split(write) if chance.random() < 0.6]
    if kind == "shuffled":
        chance.shuffle(sectors)
    return sectors


def split(write: Operation) -> list[Operation]:
    """The sectors of a write."""
    if write.kind != "w":
        return [write]
    starts = range(0, len(write.data), SECTOR_BYTES)
    return [Operation("w", write.name, write.offset + at, write.data[at : at + SECTOR_BYTES]) for at in starts]


def apply(file: bytearray, write: Operation) -> None:
    if write.kind == "t":
        del file[write.offset :]
        file.extend(bytes(write.offset - len(file)))
        return
    file.extend(bytes(max(0, write.offset - len(file))))
    file[write.offset : write.offset + len(write.data)] = write.data


class Cut(Struct, frozen=True):
    """A moment and what it left; `acks` are the lines of what had been acknowledged by then."""

    kind: str
    moment: int
    files: dict[str, bytes]
    acks: list[str]


def cuts(operations: list[Operation], count: int, seed: int, acks_name: str) -> Iterator[Cut]:
    """Cut the power at random moments, each kind as often."""
    chance = random.Random(seed)  # noqa: S311 - it must be repeatable, not secret
    moments = Counter(chance.randrange(len(operations)) for _ in range(count))
    platter, acks, kinds = Platter(), list[str](), cycle(KINDS)
    for moment, operation in enumerate(operations):
        if operation.name == acks_name:
            acks += operation.data.decode().splitlines()
        else:
            platter.do(operation)
        for _ in range(moments[moment]):
            kind = next(kinds)
            yield Cut(kind, moment, platter.cut(kind, chance), list(acks))
