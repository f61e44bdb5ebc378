"""Wake-ups between nodes: what they tell each other after a commit, never in its transaction.

A NOTIFY inside of the append would make all commits of the server wait for each other. So it is sent afterwards on a
connection of its own, and what piles up meanwhile goes together. A wake-up that is lost is found by polling.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

from moot.core.errors import LogError
from moot.runtime.stores.postgres.links import Address, Link

logger = logging.getLogger(__name__)

CHANNEL = "moot"
PAYLOAD_BYTES = 7_900  # the server takes less than 8,000
PACE_S = 0.005
# h: heads have moved; x: sessions are gone; o: sessions have no owner; p: a ping of oneself; d: documents changed;
# s: pieces of turns that are shown; i: sessions whose pieces are wanted; j: jobs for workers have changed
Kind = Literal["h", "x", "o", "p", "d", "s", "i", "j"]
Item = tuple[str, int] | tuple[str, str, str, str]  # session (or name) and seq; for pieces event, turn and text

_encode = msgspec.json.Encoder().encode
_decoder: msgspec.json.Decoder[tuple[str, str, list[list[str | int]]]] = msgspec.json.Decoder(
    tuple[str, str, list[list[str | int]]]
)
_TELL = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)"


def read_wake(payload: str) -> tuple[str, str, list[list[str | int]]] | None:
    """Decode a wake-up to its sender, kind and items. Returns None for a notification that is not Moot's."""
    try:
        return _decoder.decode(payload)
    except msgspec.MsgspecError:
        return None


def make_payloads(sender: str, kind: Kind, items: Iterable[Item]) -> list[str]:
    """Encode wake-ups, split to fit the server's limit of a payload."""
    payloads: list[str] = []
    start = _encode((sender, kind, []))[:-2]
    body, size = list[bytes](), len(start) + 2
    for item in items:
        piece = _encode(item)
        if len(start) + 2 + len(piece) > PAYLOAD_BYTES:
            continue  # never: ids are short, pieces are cut before
        if size + len(piece) + 1 > PAYLOAD_BYTES:
            payloads.append((start + b",".join(body) + b"]]").decode())
            body, size = [], len(start) + 2
        body.append(piece)
        size += len(piece) + 1
    if body:
        payloads.append((start + b",".join(body) + b"]]").decode())
    return payloads


class Teller:
    """Sends wake-ups, the first at once, then at a pace.

    Args:
        sender: what this node ignores wake-ups by.
        is_heard: whether anybody listens.
    """

    def __init__(self, address: Address, sender: str, is_heard: Callable[[], bool]) -> None:
        self._link = Link(address)
        self._sender = sender
        self._is_heard = is_heard
        self._heads: dict[str, int] = {}
        self._others: list[tuple[Kind, Item]] = []
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False

    def tell_head(self, session_id: str, seq: int) -> None:
        if self._is_heard():
            self._heads[session_id] = seq
            self._start()

    def tell(self, kind: Kind, item: Item) -> None:
        if self._is_heard():
            self._others.append((kind, item))
            self._start()

    def cut(self) -> None:
        self._link.cut()

    async def close(self) -> None:
        """Send what waits, then close."""
        self._is_closed = True
        if self._task:
            self._wake.set()
            await asyncio.wait([self._task], timeout=1.0)
            self._link.cut()
            self._task.cancel()
            await asyncio.wait([self._task])
        await self._link.close()

    def _start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="moot-pg-teller")
        self._wake.set()

    async def _run(self) -> None:
        while not (self._is_closed and not self._heads and not self._others):
            await self._wake.wait()
            self._wake.clear()
            for payload in self._take():
                try:
                    await self._link.fetch(_TELL, CHANNEL, payload)
                except LogError as error:  # the others poll
                    logger.info("a wake-up was not sent: %s", error)
            await asyncio.sleep(PACE_S)

    def _take(self) -> list[str]:
        heads, self._heads = self._heads, {}
        others, self._others = self._others, []
        payloads = make_payloads(self._sender, "h", heads.items())
        kinds = dict.fromkeys(kind for kind, _ in others)
        for kind in kinds:
            payloads += make_payloads(self._sender, kind, [item for each, item in others if each == kind])
        return payloads
