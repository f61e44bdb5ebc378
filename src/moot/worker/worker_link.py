"""Connects a worker to a server, and to the next one when that is gone.

A worker goes on working while it has no server. If none can be reached for three quarters of its lease, it stops its
agents, before others begin to play the same turns.
"""

import asyncio
import itertools
import logging
from collections.abc import Sequence
from contextlib import suppress
from random import SystemRandom

from msgspec import Struct
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, WebSocketException

from moot.client.address import Address
from moot.client.link import OneServer
from moot.client.link_errors import describe_trouble
from moot.core.codec import Event
from moot.core.errors import ConfigError, LogError, NotFound, Refused
from moot.protocol.client import FATAL
from moot.protocol.worker_frames import (
    MESSAGE_CHARS,
    AnswerJob,
    Assembly,
    Beat,
    BringMessage,
    Bye,
    CancelJob,
    FileReply,
    FromWorker,
    GetFile,
    Hello,
    OfferJob,
    PutFile,
    Receipt,
    Renewed,
    ToWorker,
    Welcome,
    encode,
    read_to_worker,
)
from moot.runtime.clock import boottime
from moot.runtime.ports import Dispatch
from moot.worker.held_jobs import HeldJobs

logger = logging.getLogger(__name__)

OPEN_S = 10.0
WELCOME_S = 10.0
RETRY_S = (0.1, 0.2, 0.5, 1.0, 2.0)
FENCE = 0.75  # of the lease, as for nodes
PING_S = 20.0
BEATS = 3  # in a lease


class _Refusal(Exception):
    """A server says why it does not take this worker."""


class WorkerSettings(Struct, frozen=True, kw_only=True):
    """`id` is the same for one data folder; `name` is for people."""

    id: str
    name: str
    pools: tuple[str, ...]
    teams: tuple[str, ...]
    at_once: int = 1


class RemoteFiles:
    """The part of a log that a worker needs: the files of sessions whose jobs it has."""

    def __init__(self) -> None:
        self.link: WorkerLink | None = None

    async def get_file(self, session_id: str, sha256: str) -> bytes | None:
        return (await self._ask(session_id, sha256=sha256)).data

    async def put_file(self, session_id: str, data: bytes) -> str:
        return (await self._ask(session_id, data=data)).sha256

    async def list_files(self, session_id: str) -> dict[str, int]:  # noqa: ARG002 - the server counts them
        return {}

    async def read(self, session_id: str, after: int = 0, limit: int = 1_000) -> list[Event]:  # noqa: ARG002
        raise NotFound(f"session {session_id} is on the server")

    async def close(self) -> None:
        """Do nothing: files are read over the link."""

    async def _ask(self, session_id: str, *, sha256: str = "", data: bytes | None = None) -> FileReply:
        if self.link is None:
            raise LogError("no server is known yet")
        return await self.link.ask_file(session_id, sha256=sha256, data=data)


class WorkerLink:
    """Runs the jobs that servers offer.

    Args:
        addresses: of the servers, tried one after the other.
        dispatch: plays turns in this process.
    """

    def __init__(self, addresses: Sequence[Address], settings: WorkerSettings, dispatch: Dispatch) -> None:
        self._addresses = addresses
        self._settings = settings
        self.jobs = HeldJobs(dispatch, self._send)
        self._socket: ClientConnection | None = None
        self._outgoing: asyncio.Queue[FromWorker] = asyncio.Queue()
        self._lease_s = 0.0
        self._renewed_at = 0.0
        self._sent_at: dict[int, float] = {}  # of beats that are not answered
        self._beat = 0
        self._requests: dict[int, asyncio.Future[FileReply]] = {}
        self._asked: dict[int, GetFile | PutFile] = {}
        self._numbers = itertools.count(1)
        self._random = SystemRandom().random
        self.is_welcome = asyncio.Event()  # connected, and known to the server

    async def run(self, stop: asyncio.Event) -> None:
        """Connect and reconnect until `stop` is set. Raises ConfigError if a server refuses the token."""
        connecting = asyncio.create_task(self._keep_connected())
        others = [asyncio.create_task(self._watch()), asyncio.create_task(stop.wait())]
        try:
            await asyncio.wait([connecting, *others], return_when=asyncio.FIRST_COMPLETED)
            self.jobs.stop_all()  # before others may begin
            await self._say_goodbye()
        finally:
            self.jobs.stop_all()
            for task in (connecting, *others):
                task.cancel()
            await asyncio.wait([connecting, *others])
        if not connecting.cancelled():
            connecting.result()  # it ends only by what it raises

    async def ask_file(self, session_id: str, *, sha256: str = "", data: bytes | None = None) -> FileReply:
        """Fetch a file of a session from the server, or upload one. Raises Refused, NotFound."""
        job = self.jobs.find_of(session_id)
        if job is None:
            raise NotFound(f"no job of session {session_id} is ours")
        number = next(self._numbers)
        ref = {"request": number, "job": job.ref.job, "attempt": job.ref.attempt}
        frame = GetFile(**ref, sha256=sha256) if data is None else PutFile(**ref, data=data)
        reply: asyncio.Future[FileReply] = asyncio.get_running_loop().create_future()
        self._requests[number], self._asked[number] = reply, frame
        self._send(frame)
        try:
            answered = await reply
        finally:
            del self._requests[number], self._asked[number]
        if answered.refused:
            raise Refused(answered.refused.code, **answered.refused.params)
        return answered

    def _send(self, frame: FromWorker) -> None:
        if self.is_welcome.is_set():
            self._outgoing.put_nowait(frame)

    async def _say_goodbye(self) -> None:
        socket = self._socket
        if socket is None:
            return
        with suppress(WebSocketException, OSError, TimeoutError):
            async with asyncio.timeout(2.0):
                for message in encode(Bye()):
                    await socket.send(message)
                await socket.close()

    async def _keep_connected(self) -> None:
        """Connect again and again, also after an answer that may come from a proxy in front of the server."""
        failures, refusing = 0, set[Address]()
        while True:
            address = self._addresses[failures % len(self._addresses)]
            try:
                await self._connect(address)
                failures = 0
                refusing.clear()
            except _Refusal as refusal:
                refusing.add(address)
                logger.warning("%s refuses this worker: %s", address, refusal)
                if refusing.issuperset(self._addresses):
                    raise ConfigError(f"{address} refuses this worker: {refusal}") from None
            except (OSError, WebSocketException, ValueError) as error:
                if not failures:
                    logger.warning("no connection to %s: %s", address, describe_trouble(error))
            failures += 1
            await asyncio.sleep(RETRY_S[min(failures - 1, len(RETRY_S) - 1)] * (0.5 + self._random()))

    async def _connect(self, address: Address) -> None:
        """Work for one server until its connection ends."""
        async with asyncio.timeout(OPEN_S):
            socket = await OneServer(
                address.worker_socket,
                additional_headers=address.headers,
                compression=None,
                proxy=None,
                open_timeout=None,
                ping_interval=PING_S,
                ping_timeout=PING_S,
                max_size=4 * MESSAGE_CHARS,
            )
        self._socket = socket
        try:
            await self._greet(socket)
            await self._attend(socket)
        except ConnectionClosed as closed:
            if closed.rcvd and closed.rcvd.code in FATAL:
                raise _Refusal(closed.rcvd.reason or FATAL[closed.rcvd.code]) from None
            if not self.is_welcome.is_set():
                raise
        finally:
            self.is_welcome.clear()
            self._socket = None
            socket.transport.abort()

    async def _attend(self, socket: ClientConnection) -> None:
        others = [asyncio.create_task(self._write(socket)), asyncio.create_task(self._keep_beating())]
        try:
            await self._read(socket)
        finally:
            for task in others:
                task.cancel()
            await asyncio.wait(others)

    async def _greet(self, socket: ClientConnection) -> None:
        settings, began = self._settings, boottime()
        hello = Hello(
            worker=settings.id,
            name=settings.name,
            pools=settings.pools,
            teams=settings.teams,
            at_once=settings.at_once,
            holds=tuple(self.jobs),
        )
        for message in encode(hello):
            await socket.send(message)
        async with asyncio.timeout(WELCOME_S):
            assembly = Assembly()
            text = None
            while text is None:
                text = assembly.take(str(await socket.recv()))
        welcome = read_to_worker(text)
        if not isinstance(welcome, Welcome):
            raise ValueError("the server does not say welcome")  # noqa: TRY004 - of the protocol, not of a program
        self._lease_s, self._renewed_at = welcome.lease_s, began
        self._outgoing = asyncio.Queue()
        self._sent_at.clear()
        self.is_welcome.set()
        self.jobs.keep(welcome.holds)
        for frame in tuple(self._asked.values()):
            self._send(frame)
        logger.info("connected to a server as worker %s", settings.name)

    async def _read(self, socket: ClientConnection) -> None:
        assembly = Assembly()
        while True:
            text = assembly.take(str(await socket.recv()))
            if text is not None:
                self._take(read_to_worker(text))

    def _take(self, frame: ToWorker) -> None:
        match frame:
            case OfferJob() | AnswerJob() | BringMessage() | CancelJob() | Receipt():
                self.jobs.take(frame)
            case Renewed():
                self._renewed_at = self._sent_at.pop(frame.number, self._renewed_at)
            case FileReply():
                waiting = self._requests.get(frame.request)
                if waiting and not waiting.done():
                    waiting.set_result(frame)
            case Welcome():
                pass  # said once

    async def _write(self, socket: ClientConnection) -> None:
        try:
            while True:
                for message in encode(await self._outgoing.get()):
                    await socket.send(message)
        except ConnectionClosed:
            return

    async def _keep_beating(self) -> None:
        while True:
            await asyncio.sleep(self._lease_s / BEATS)
            self._beat += 1
            self._sent_at[self._beat] = boottime()
            self._send(Beat(number=self._beat))

    async def _watch(self) -> None:
        """Stop all jobs when the lease was not renewed in time."""
        while True:
            await asyncio.sleep(max(self._lease_s / 20, 0.05))
            if len(self.jobs) and boottime() - self._renewed_at > FENCE * self._lease_s:
                logger.warning("no server renews the lease; stopping what runs here")
                self.jobs.stop_all()
                if self._socket:
                    self._socket.transport.abort()  # whatever hangs in it
