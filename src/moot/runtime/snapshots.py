"""Snapshots of the state, so that long sessions open fast. They are a cache and may be deleted at any time."""

import asyncio
import hashlib
import sys
from functools import cache

from moot.core import states
from moot.core.codec import Head
from moot.core.errors import LogError
from moot.core.evolve import evolve
from moot.core.session.state import FOLD_VERSION, State
from moot.runtime.ports import Log, Snapshot

READ_EVENTS = 5_000  # at a time
FOLDED = 500  # without a pause
DIGEST_BYTES = 32


def take(state: State, head: Head) -> Snapshot:
    """Encode a state, with a digest that ties it to its head."""
    data = states.encode(state)
    return Snapshot(head, snapshot_version(), _digest(head, data) + data)


async def load_state(log: Log, session_id: str, until: int = sys.maxsize) -> tuple[State, Head]:
    """Fold a session up to event `until`, starting from its snapshot if it is valid and matches the log.

    Raises:
        NotFound: there is no such session.
        Corrupt: its log is damaged.
    """
    snapshot = await log.load_snapshot(session_id)
    state: State | None = None
    head = Head()
    if (
        snapshot
        and snapshot.head.seq <= until
        and _is_sound(snapshot)
        and await _is_prefix(log, session_id, snapshot.head)
    ):
        state, head = states.decode(snapshot.state[DIGEST_BYTES:]), snapshot.head
    while events := await log.read(session_id, head.seq, min(READ_EVENTS, until - head.seq)):
        for number, event in enumerate(events, start=1):
            state = evolve(state, event.fact)
            if number % FOLDED == 0:
                await asyncio.sleep(0)  # let other tasks run
        head = events[-1].head
    if state is None:
        raise LogError(f"session {session_id} has no events")
    return state, head


def _is_sound(snapshot: Snapshot) -> bool:
    """Whether the snapshot was made by this version of the code and is undamaged."""
    digest, data = snapshot.state[:DIGEST_BYTES], snapshot.state[DIGEST_BYTES:]
    return snapshot.version == snapshot_version() and digest == _digest(snapshot.head, data)


def _digest(head: Head, data: bytes) -> bytes:
    return hashlib.sha256(head.hash.encode() + data).digest()


async def _is_prefix(log: Log, session_id: str, head: Head) -> bool:
    events = await log.read(session_id, head.seq - 1, 1)
    return bool(events) and events[0].head == head


@cache
def snapshot_version() -> str:
    """Return a version that changes with the shape of the state and with what folding means."""
    return f"{FOLD_VERSION}-{hashlib.sha256(states.describe_shape()).hexdigest()[:16]}"
