"""The shell around the pure half: opens sockets, reads, writes, ticks, and tries again."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from random import SystemRandom

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from moot.client.address import Address
from moot.client.link_errors import describe_trouble
from moot.core.machines.connection import State
from moot.core.session.team import Language
from moot.protocol.client import ClientHalf
from moot.protocol.happenings import Happening, Sever
from moot.runtime import private_socket

TICK_S = 0.25
OPEN_S = 10.0
SEND_S = 10.0
CLOSE_S = 2.0
PING_S = 20.0
MESSAGE_BYTES = 32 * 1024 * 1024  # a message of the largest turn, three times in its frame, in the longest script
TOO_BIG = 1009
REFUSED_STATUS = {401: 4401, 403: 4403}  # said before the upgrade, as a close code says it after

Note = Callable[[list[Happening]], None]


class OneServer(open_socket):
    """The token is for this server alone."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


class Link:
    """One at a time; `trouble` is what the last attempt failed with."""

    def __init__(self, address: Address, half: ClientHalf, note: Note, language: Language | None) -> None:
        self.trouble = "no answer"
        self._address = address
        self._half = half
        self._note = note
        self._language = language
        self._takes_batches = True
        self._work = asyncio.Event()
        self._socket: ClientConnection | None = None
        self._random = SystemRandom().random

    def wake(self) -> None:
        """There may be something to send."""
        self._work.set()

    def cut(self) -> None:
        """Break the link, as a bad network would; it heals like any other."""
        if self._socket:
            self._socket.transport.abort()

    async def run(self) -> None:
        """Until it is given up."""
        self._note(self._half.connect(now()))
        while self._half.state is not State.DISCONNECTED:
            code = await self._attempt()
            self._note(self._half.lost(now(), self._random(), code))
            await self._wait_to_retry()

    async def _wait_to_retry(self) -> None:
        while self._half.state is not State.DISCONNECTED and (wait_s := self._half.retry_at - now()) > 0:
            await asyncio.sleep(min(wait_s, TICK_S))
            self._note(self._half.tick(now()))

    async def _attempt(self) -> int | None:
        """Open a link and use it for as long as it lasts; the close code, if there was one."""
        try:
            async with asyncio.timeout(OPEN_S):
                socket = await self._open()
        except InvalidStatus as error:
            self.trouble = f"it answered {error.response.status_code}"
            return REFUSED_STATUS.get(error.response.status_code)
        except (OSError, WebSocketException) as error:  # TimeoutError is an OSError
            self.trouble = describe_trouble(error)
            return None
        self._socket = socket
        try:
            return await self._use(socket)
        finally:
            socket.transport.abort()  # whoever wanted a closing handshake had it

    async def _open(self) -> ClientConnection:
        return await OneServer(
            self._address.websocket(takes_batches=self._takes_batches, language=self._language),
            additional_headers=self._address.headers,
            compression=None,
            proxy=None,
            open_timeout=None,  # the caller's is shorter
            ping_interval=PING_S,
            ping_timeout=PING_S,
            close_timeout=CLOSE_S,
            max_size=MESSAGE_BYTES,
            sock=private_socket.connect(self._address.folder) if self._address.folder else None,
        )

    async def _use(self, socket: ClientConnection) -> int | None:
        self._half.opened(now())
        async with asyncio.TaskGroup() as tasks:
            writing = tasks.create_task(self._write(socket))
            try:
                return await self._read(socket)
            except asyncio.CancelledError:  # we leave: say so
                with suppress(TimeoutError):
                    async with asyncio.timeout(CLOSE_S):
                        await socket.close()
                raise
            finally:
                writing.cancel()

    async def _read(self, socket: ClientConnection) -> int | None:
        try:
            while True:
                message = await socket.recv(decode=False)
                happened = self._half.receive(message, now())
                self._note(happened)
                self.wake()
                if any(isinstance(each, Sever) for each in happened):
                    return None
                await asyncio.sleep(0)  # a long replay leaves room for those who read it
        except ConnectionClosed as closed:
            self.trouble = str(closed)
            if closed.sent and closed.sent.code == TOO_BIG:
                self._takes_batches = False  # one frame a message is smaller
            return closed.rcvd.code if closed.rcvd else None

    async def _write(self, socket: ClientConnection) -> None:
        """Send what there is; a link that takes nothing, or that is dead, is cut, which ends the reader."""
        try:
            while True:
                self._work.clear()
                for text in self._half.to_send(now()):
                    async with asyncio.timeout(SEND_S):
                        await socket.send(text)
                with suppress(TimeoutError):
                    async with asyncio.timeout(TICK_S):
                        await self._work.wait()
                happened = self._half.tick(now())
                self._note(happened)
                if any(isinstance(each, Sever) for each in happened):
                    break
        except (ConnectionClosed, TimeoutError):
            pass
        socket.transport.abort()


def now() -> float:
    return asyncio.get_running_loop().time()
