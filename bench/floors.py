"""What the machine can do at best, measured in the same run as what Moot does: the only fair comparison."""

import sqlite3
import time
from collections import deque
from pathlib import Path


def dict_and_deque_turns(turns: int) -> float:
    """Seconds for a routed turn in the simplest program there is: a dict of members, a deque, a list of messages."""
    members = {"bob": "ai", "carol": "ai", "alice": "human"}
    queue: deque[str] = deque(["bob"])
    messages: list[tuple[str, str]] = []
    start = time.perf_counter()
    for number in range(turns):
        speaker = queue.popleft()
        text = f"message {number} [NEXT: {'carol' if speaker == 'bob' else 'bob'}]"
        at = text.rfind("[NEXT:")
        name = text[at + 6 : text.find("]", at)].strip().lower()
        if name in members:
            queue.append(name)
        messages.append((speaker, text[:at]))
    return (time.perf_counter() - start) / turns


def raw_commits(folder: Path, rows_per_commit: list[list[bytes]]) -> float:
    """Seconds for one WAL commit, synchronous=FULL, of these rows."""
    connection = sqlite3.connect(folder / "floor.db", isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, data BLOB)")
        start = time.perf_counter()
        for rows in rows_per_commit:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT INTO rows (data) VALUES (?)", [(row,) for row in rows])
            connection.execute("COMMIT")
        return (time.perf_counter() - start) / len(rows_per_commit)
    finally:
        connection.close()
