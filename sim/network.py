"""A network between clients and the server that drops, doubles, delays, reorders, changes and stalls."""

import asyncio
import heapq
from collections.abc import Callable
from itertools import count
from math import inf
from typing import Any

from sim.faults import Faults
from sim.loop import Timeline

LATENCY_S = 0.01
_HASH = b'"hash":"'


class Agenda:
    """What will happen outside of the server process, in the order of virtual time."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._order = count()
        self._entries: list[tuple[float, int, Callable[..., Any], tuple[Any, ...]]] = []

    def after(self, delay_s: float, function: Callable[..., Any], *args: Any) -> None:
        heapq.heappush(self._entries, (self._timeline.now_s + delay_s, next(self._order), function, args))

    @property
    def next_s(self) -> float:
        return self._entries[0][0] if self._entries else inf

    def run_next(self) -> None:
        _, _, function, args = heapq.heappop(self._entries)
        function(*args)


class Gone(Exception):
    """The link is over."""

    def __init__(self, code: int | None = None) -> None:
        super().__init__(code)
        self.code = code


class Link:
    """One connection. The server reads `inbox` and writes with `try_write` and `deliver`.

    Args:
        on_message: of the client: takes one WebSocket message.
        on_lost: of the client: takes the close code, or None.
    """

    def __init__(
        self,
        agenda: Agenda,
        faults: Faults,
        on_message: Callable[["Link", bytes], None],
        on_lost: Callable[["Link", int | None], None],
    ) -> None:
        self._agenda = agenda
        self._faults = faults
        self._on_message = on_message
        self._on_lost = on_lost
        self.is_open = True
        self.is_silent = False  # half-open: nothing arrives any more, and nobody is told
        self.is_stalled = False
        self.inbox: asyncio.Queue[str | None] | None = None  # made in the server's life
        self.writable: asyncio.Event | None = None
        self.run_in_server: Callable[..., Any] = lambda function, *args: function(*args)
        self.beat: Callable[[], None] = lambda: None  # sends a heartbeat

    # the client's end

    def send(self, text: str) -> None:
        faults = self._faults
        if faults.strikes("link cut"):
            self.cut()
        if faults.strikes("link silent"):
            self.is_silent = True
        if not self.is_open or self.is_silent or faults.strikes("frame to server dropped"):
            return
        self._agenda.after(self._draw_delay(), self._arrive, text)
        if faults.strikes("frame to server doubled"):
            self._agenda.after(self._draw_delay(), self._arrive, text)

    def _arrive(self, text: str) -> None:
        if self.is_open and not self.is_silent and self.inbox is not None:
            self.run_in_server(self.inbox.put_nowait, text)

    def cut(self, code: int | None = None) -> None:
        """Both ends learn that the link is over."""
        if not self.is_open:
            return
        self.is_open = False
        if self.inbox is not None:
            self.run_in_server(self.inbox.put_nowait, None)
        if self.writable is not None:
            self.run_in_server(self.writable.set)
        self._agenda.after(LATENCY_S, self._on_lost, self, code)

    def drop(self) -> None:
        """The server process died: only the client is told."""
        if self.is_open:
            self.is_open = False
            self.inbox = self.writable = None
            self._agenda.after(LATENCY_S, self._on_lost, self, None)

    # the server's end

    def try_write(self, message: bytes) -> bool:
        if self._faults.strikes("reader stalled"):
            self.is_stalled = True
            self._agenda.after(self._faults.chance.choice([0.5, 20.0]), self._go_on)
        if self.is_stalled or not self.is_open:
            return False
        self._write(message)
        return True

    def _go_on(self) -> None:
        self.is_stalled = False
        if self.writable is not None:
            self.run_in_server(self.writable.set)

    async def deliver(self, message: bytes) -> None:
        while self.is_stalled and self.is_open and self.writable is not None:
            self.writable.clear()
            await self.writable.wait()
        if not self.is_open:
            raise Gone
        self._write(message)

    def _write(self, message: bytes) -> None:
        faults = self._faults
        for payload in split_messages(message):
            if self.is_silent or faults.strikes("frame to client dropped"):
                continue
            if _HASH in payload and faults.strikes(
                "frame changed on the way"
            ):  # other frames have no hash to tell it by
                at = faults.chance.randrange(len(payload))
                payload = payload[:at] + bytes([payload[at] ^ 1]) + payload[at + 1 :]
            self._agenda.after(self._draw_delay(), self._reach_client, payload)
            if faults.strikes("frame to client doubled"):
                self._agenda.after(self._draw_delay(), self._reach_client, payload)

    def _reach_client(self, payload: bytes) -> None:
        if self.is_open and not self.is_silent:
            self._on_message(self, payload)

    def _draw_delay(self) -> float:
        """Frames keep their order unless one is overtaken or delayed."""
        if self._faults.strikes("frame delayed"):
            return LATENCY_S + self._faults.chance.uniform(0.1, 3.0)
        return LATENCY_S / 2 if self._faults.strikes("frame overtaken") else LATENCY_S


def split_messages(data: bytes) -> list[bytes]:
    """The payloads of unmasked, unfragmented WebSocket frames (RFC 6455, section 5.2)."""
    payloads, start = [], 0
    while start < len(data):
        size, start = data[start + 1], start + 2
        if size >= 126:
            width = 2 if size == 126 else 8
            size, start = int.from_bytes(data[start : start + width], "big"), start + width
        payloads.append(data[start : start + size])
        start += size
    return payloads
