"""`make power`: cut the power of a recorded process at random moments and open what is left.

Everything that was acknowledged must be there; the hash chain and SQLite's own check must be whole. A cut that tears
the commit under way may be reported as damage of the write-ahead log: the file does not show whether anybody was told
of its last commit.
"""

import asyncio
import logging
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from moot.core.errors import NotFound
from moot.runtime.stores import wal
from moot.runtime.stores.sqlite import SqliteLog
from tests.contract.logs import verify
from tests.power.recording import Cut, Operation, cuts, read_trace
from tests.power.workload import ACKS, SESSIONS

CUTS, APPENDS = 500, 600
ROOT = Path(__file__).parents[2]
FILES = ("moot.db", "moot.db-wal")
SOUND = ("none", "all")  # kinds of cuts that leave no commit in parts


def find_compiler() -> str | None:
    return shutil.which("cc") if sys.platform == "linux" else None


def record(folder: Path, appends: int) -> list[Operation]:
    """Run the workload under the recorder and return what it did."""
    recorder, trace, data = folder / "recorder.so", folder / "trace", folder / "data"
    source = Path(__file__).with_name("recorder.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", recorder, source, "-ldl", "-lpthread"], check=True)
    data.mkdir()
    environment = {
        **os.environ,
        "LD_PRELOAD": str(recorder),
        "MOOT_POWER_FOLDER": f"{data}/",
        "MOOT_POWER_TRACE": str(trace),
        "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
    }
    command = [sys.executable, "-m", "tests.power.workload", str(data), str(appends)]
    subprocess.run(command, check=True, cwd=ROOT, env=environment)
    return read_trace(trace)


async def check(cut: Cut, folder: Path) -> bool:
    """Open what a cut left; return whether damage was reported. Raises AssertionError if a promise is broken."""
    path = folder / "moot.db"
    for name in FILES:
        if name in cut.files:
            (folder / name).write_bytes(cut.files[name])
    acknowledged = {session_id: (int(seq), hash_) for session_id, seq, hash_ in map(str.split, cut.acks)}
    log = await SqliteLog.open(path)
    try:
        is_reported = bool(wal.list_kept(path))
        assert not (is_reported and cut.kind in SOUND), "a sound write-ahead log was taken for damaged"
        for session_id in SESSIONS:
            try:
                head = await verify(log, session_id)
            except NotFound:
                assert session_id not in acknowledged, f"{session_id} was acknowledged and is gone"
                continue
            seq, hash_ = acknowledged.get(session_id, (0, ""))
            assert head.seq >= seq, f"{session_id}: {seq} was acknowledged, {head.seq} is left"
            assert not seq or (await log.read(session_id, seq - 1, 1))[0].hash == hash_
    finally:
        await log.close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    return is_reported


def cut_often(count: int, appends: int, seed: int = 1) -> Counter[str]:
    """Record once, cut `count` times; return how often each kind of cut was survived."""
    survived: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        operations = record(Path(place), appends)
        for number, cut in enumerate(cuts(operations, count, seed, ACKS)):
            folder = Path(place) / str(number)
            folder.mkdir()
            try:
                survived["reported as damage"] += asyncio.run(check(cut, folder))
            except Exception as error:
                error.add_note(f"cut {number} ({cut.kind}) after operation {cut.moment}, seed {seed}")
                raise
            survived[cut.kind] += 1
            survived["acknowledged before the cut"] += len(cut.acks)
            shutil.rmtree(folder)
    return survived


def main() -> int:
    logging.disable(logging.CRITICAL)  # damage is counted
    if find_compiler() is None:
        print("make power needs Linux and a C compiler (cc)")
        return 0
    seed = int(os.environ.get("SEED", "1"))
    survived = cut_often(int(os.environ.get("CUTS", CUTS)), APPENDS, seed)
    for kind, times in survived.items():
        print(f"{times:8} {kind}")
    print(f"seed {seed}: nothing that was acknowledged is lost")
    return 0


if __name__ == "__main__":
    sys.exit(main())
