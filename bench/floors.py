"""What the machine can do at best, measured in the same run as what Moot does: the only fair comparison."""

import asyncio
import sqlite3
import time
from collections import deque
from pathlib import Path
from queue import SimpleQueue
from threading import Thread


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


async def gathered_tasks(tasks: int, at_once: int, every: int) -> float:
    """Seconds a task in the simplest program there is: gather, a semaphore, a retry loop; nothing is logged."""
    room, results = asyncio.Semaphore(at_once), dict[int, str]()

    async def work(number: int, attempt: int) -> str:
        await asyncio.sleep(0)
        if attempt == 1 and number % every == 0:
            raise ConnectionError("the first time it fails")
        return f"result {number}"

    async def run(number: int) -> None:
        async with room:
            for attempt in range(1, 5):
                try:
                    results[number] = await work(number, attempt)
                except ConnectionError:
                    continue
                return

    start = time.perf_counter()
    await asyncio.gather(*(run(number) for number in range(tasks)))
    return (time.perf_counter() - start) / tasks


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


async def raw_group_commits(folder: Path, row: bytes, writers: int, rounds: int) -> float:
    """Rows per second of a plain group commit: `writers` tasks, each waiting for its own row to be on disk before it
    writes the next, and one thread that commits whatever waits."""
    connection = sqlite3.connect(folder / "group.db", isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, data BLOB)")
    loop = asyncio.get_running_loop()
    waiting: SimpleQueue[asyncio.Future[None] | None] = SimpleQueue()

    def commit_for_ever() -> None:
        while (first := waiting.get()) is not None:
            batch = [first]
            while not waiting.empty() and (more := waiting.get()) is not None:
                batch.append(more)
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT INTO rows (data) VALUES (?)", [(row,)] * len(batch))
            connection.execute("COMMIT")
            loop.call_soon_threadsafe(resolve, batch)

    def resolve(batch: list[asyncio.Future[None]]) -> None:
        for future in batch:
            future.set_result(None)

    async def write() -> None:
        for _ in range(rounds):
            future = loop.create_future()
            waiting.put(future)
            await future

    thread = Thread(target=commit_for_ever)
    thread.start()
    start = time.perf_counter()
    await asyncio.gather(*(write() for _ in range(writers)))
    took = time.perf_counter() - start
    waiting.put(None)
    thread.join()
    connection.close()
    return writers * rounds / took
