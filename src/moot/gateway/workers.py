"""The WebSocket endpoint for workers on other machines (`moot worker`)."""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from contextlib import suppress
from typing import Any

import msgspec
from msgspec.structs import replace

from moot.app import App
from moot.core.errors import Fenced, LogError, NotFound, Refused
from moot.core.session.principal import Principal
from moot.core.session.state import Message
from moot.gateway.auth import Tokens, TooManyTries, address_of, find_credentials, pick_subprotocol
from moot.gateway.ws import reject
from moot.protocol.worker_frames import (
    AnswerJob,
    Assembly,
    Beat,
    BringMessage,
    Bye,
    CancelJob,
    DeclineJob,
    FileReply,
    FromWorker,
    GetFile,
    Held,
    Hello,
    OfferJob,
    PutFile,
    Receipt,
    Refusal,
    Renewed,
    ReportJob,
    ShowPiece,
    ToWorker,
    Welcome,
    encode,
    read_commands,
    read_from_worker,
)
from moot.runtime.foreman import Foreman
from moot.runtime.ports import CommandKey, Delta, Thinking
from moot.runtime.worker_jobs import Job, JobRef, WorkerCard

logger = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

WORKERS = 500  # connected at once
HELLO_S = 10.0  # for a worker to say who it is
REPORTS = 100  # of one worker that are being logged; above that no more of its frames are read
UPLOADS = 4  # files of one worker that are being kept
UNFINISHED_CHARS = 256 * 1024 * 1024  # of frames whose end has not come, of all workers together
UNREAD = 10_000  # frames for a worker that does not read, which is then sent away
HELLO_CHARS = 256 * 1024
NAME_CHARS = 100
NAMES = 500  # pools of one worker, and teams
REASON_CHARS = 1_000  # why it cannot play a job
AT_ONCE = 1_000
REASON_BYTES = 123  # of a close frame
RESTART, BAD_FRAME, UNAUTHENTICATED, FORBIDDEN, SLOW = 1012, 4400, 4401, 4403, 4408


class _Forbidden(Exception):
    """The worker's token is not for what it asks."""


class _Gone(Exception):
    """The worker has disconnected, or is to be."""


class ServerLink:
    """One connected worker. Implements the WorkerLink port."""

    def __init__(self, card: WorkerCard, token_id: str) -> None:
        self.card = card
        self.token_id = token_id
        self.code, self.reason = RESTART, ""  # to close with
        self.handing = asyncio.Lock()  # one file at a time: it is in memory until the worker has read it
        self._frames: asyncio.Queue[tuple[ToWorker, asyncio.Event] | None] = asyncio.Queue()
        self._is_closing = False

    def send(self, frame: ToWorker) -> asyncio.Event:
        """Queue a frame; return what is set when it is written. It never is if the link closes before."""
        written = asyncio.Event()
        if self._frames.qsize() >= UNREAD:
            self.close(SLOW)
        if not self._is_closing:
            self._frames.put_nowait((frame, written))
        return written

    def close(self, code: int = RESTART, reason: str = "") -> None:
        """Say nothing more: above all not that jobs are over because this server stops."""
        if not self._is_closing:
            self._is_closing = True
            self.code, self.reason = code, reason
            self._frames.put_nowait(None)

    async def write(self, send: Send) -> None:
        """Send what there is until the link is closed here."""
        while (queued := await self._frames.get()) is not None:
            frame, written = queued
            for message in encode(frame):
                await send({"type": "websocket.send", "text": message})
            written.set()
        raise _Gone

    def offer(self, job: Job) -> None:
        self.send(
            OfferJob(
                job=job.ref.job,
                attempt=job.ref.attempt,
                kind=job.kind,
                team=job.team,
                input=msgspec.Raw(job.input),
            )
        )

    def answer(self, ref: JobRef, step_id: str, choice: str | None, answer: str | None) -> None:
        self.send(AnswerJob(job=ref.job, step_id=step_id, choice=choice, answer=answer))

    def bring(self, ref: JobRef, number: int, message: Message) -> None:
        self.send(BringMessage(job=ref.job, number=number, by=message.member, text=message.text))

    def cancel(self, ref: JobRef) -> None:
        self.send(CancelJob(job=ref.job, attempt=ref.attempt))


class WorkerEndpoint:
    """An ASGI application for the sockets of workers that have passed the guard."""

    def __init__(self, app: App, tokens: Tokens) -> None:
        self._app = app
        self._tokens = tokens
        self._links: set[ServerLink] = set()
        self._connections = 0  # also those that have not said hello
        self._assemblies: set[Assembly] = set()
        self._is_closing = False
        self._are_gone = asyncio.Event()
        self._are_gone.set()

    @property
    def _foreman(self) -> Foreman:
        return self._app.sessions.foreman

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()  # websocket.connect
        try:
            credentials = find_credentials(scope, self._tokens.cookie_name)
            principal = self._tokens.authenticate(credentials, address_of(scope))
        except TooManyTries:
            await reject(send, 429, "too many wrong tokens from this address; try again later")
            return
        await send({"type": "websocket.accept", "subprotocol": pick_subprotocol(scope)})
        if principal is None or not principal.is_worker:
            code = UNAUTHENTICATED if principal is None else FORBIDDEN
            await send({"type": "websocket.close", "code": code, "reason": "this needs a token of the role worker"})
            return
        if self._is_closing or self._connections >= WORKERS:
            await send({"type": "websocket.close", "code": RESTART, "reason": "try another server"})
            return
        self._connections += 1
        try:
            await self._serve(receive, send, principal)
        finally:
            self._connections -= 1

    async def close(self) -> None:
        """Send every worker to another server."""
        self._is_closing = True
        for link in tuple(self._links):
            link.close()
        await self._are_gone.wait()

    def close_token(self, token_id: str) -> None:
        for link in self._links:
            if link.token_id == token_id:
                link.close(UNAUTHENTICATED, "its token was revoked")

    def count(self) -> int:
        return len(self._links)

    async def _serve(self, receive: Receive, send: Send, principal: Principal) -> None:
        code, reason = RESTART, ""
        link: ServerLink | None = None
        try:
            async with asyncio.timeout(HELLO_S):
                hello = await self._read_frame(receive, Assembly(HELLO_CHARS))
            if not isinstance(hello, Hello):
                raise ValueError("a worker says hello first")  # noqa: TRY004, TRY301 - of the protocol
            link = ServerLink(_read_card(hello, principal), principal.token_id)
            self._links.add(link)
            self._are_gone.clear()
            await self._attend(link, hello, receive, send)
        except _Gone:
            if link:
                code, reason = link.code, link.reason
        except TimeoutError:
            code, reason = BAD_FRAME, f"a worker says hello within {HELLO_S:.0f} s"
        except _Forbidden as error:
            code, reason = FORBIDDEN, str(error)
        except ValueError as error:
            code, reason = BAD_FRAME, str(error)
            logger.warning("a worker is sent away: %s", error)
        except LogError as error:
            reason = "the log cannot be reached"
            logger.warning("a worker is sent away: %s", error)
        finally:
            if link:
                self._links.discard(link)
                await self._foreman.part(link, for_good=False)
                if not self._links:
                    self._are_gone.set()
        with suppress(OSError, RuntimeError):
            shown = reason.encode()[:REASON_BYTES].decode(errors="ignore")
            await send({"type": "websocket.close", "code": code, "reason": shown})

    async def _attend(self, link: ServerLink, hello: Hello, receive: Receive, send: Send) -> None:
        held = [JobRef(each.job, each.attempt) for each in hello.holds]
        kept = await self._foreman.greet(link, held)
        for message in encode(Welcome(lease_s=self._foreman.lease_s, holds=_name(kept))):
            await send({"type": "websocket.send", "text": message})
        logger.info("worker %s is connected", link.card.name)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(link.write(send))
                tasks.create_task(self._read(link, receive, tasks))
        except* _Gone:
            raise _Gone from None
        except* ValueError as group:
            raise ValueError(str(group.exceptions[0])) from None
        except* LogError as group:
            raise LogError(str(group.exceptions[0])) from None
        except* OSError:
            raise _Gone from None

    async def _read(self, link: ServerLink, receive: Receive, tasks: asyncio.TaskGroup) -> None:
        assembly = Assembly()
        reports, uploads = asyncio.Semaphore(REPORTS), asyncio.Semaphore(UPLOADS)

        async def start(work: Coroutine[Any, Any, None], room: asyncio.Semaphore = reports) -> None:
            await room.acquire()
            tasks.create_task(work).add_done_callback(lambda _: room.release())

        while True:
            frame = await self._read_frame(receive, assembly)
            match frame:
                case ReportJob():
                    await start(self._report(link, frame))
                case DeclineJob():
                    await start(self._decline(link, frame))
                case ShowPiece():
                    self._show(link, frame)
                case Beat():
                    await start(self._renew(link, frame.number))
                case GetFile():
                    await start(self._hand_out(link, frame))
                case PutFile():
                    await start(self._keep(link, frame), uploads)
                case Bye() | Hello():
                    await self._end(link, frame)

    async def _end(self, link: ServerLink, frame: Bye | Hello) -> None:
        if isinstance(frame, Hello):
            raise ValueError("a worker says hello once")  # noqa: TRY004 - of the protocol
        await self._foreman.part(link, for_good=True)
        raise _Gone

    def _show(self, link: ServerLink, frame: ShowPiece) -> None:
        piece = Delta(frame.text) if frame.what == "delta" else Thinking(frame.text)
        self._foreman.show(link, JobRef(frame.job, frame.attempt), piece)

    async def _renew(self, link: ServerLink, number: int) -> None:
        link.send(Renewed(number=number, holds=_name(await self._foreman.renew(link))))

    async def _report(self, link: ServerLink, frame: ReportJob) -> None:
        ref = JobRef(frame.job, frame.attempt)
        digest = hashlib.sha256(msgspec.json.encode(frame.commands)).hexdigest()
        key = CommandKey(f"job/{frame.job}/{frame.attempt}/{frame.number}", digest)
        try:
            refused = await self._foreman.report(
                link, ref, key, lambda job: read_commands(frame.commands, job.turn_id, job.member)
            )
        except Fenced:
            link.cancel(ref)
            return
        link.send(Receipt(job=frame.job, attempt=frame.attempt, number=frame.number, refused=_describe(refused)))

    async def _decline(self, link: ServerLink, frame: DeclineJob) -> None:
        reason = frame.reason[:REASON_CHARS]
        logger.warning("worker %s cannot play job %s: %s", link.card.name, frame.job, reason)
        with suppress(Fenced):  # others have it by now
            await self._foreman.decline(link, JobRef(frame.job, frame.attempt), reason)

    async def _hand_out(self, link: ServerLink, frame: GetFile) -> None:
        """Send a file of a session whose job the worker has. The next one is read when this one was taken."""
        async with link.handing:
            reply = FileReply(request=frame.request)
            try:
                session_id = self._foreman.find_session(link, JobRef(frame.job, frame.attempt))
                reply = replace(reply, data=await self._app.log.get_file(session_id, frame.sha256))
            except (Fenced, NotFound) as error:
                reply = replace(reply, refused=_describe_stale(error))
            await link.send(reply).wait()

    async def _keep(self, link: ServerLink, frame: PutFile) -> None:
        """Keep a file with a session whose job the worker has."""
        reply = FileReply(request=frame.request)
        try:
            session_id = self._foreman.find_session(link, JobRef(frame.job, frame.attempt))
            reply = replace(reply, sha256=(await self._app.files.put(session_id, frame.data, "file")).sha256)
        except Refused as refused:
            reply = replace(reply, refused=_describe(refused))
        except (Fenced, NotFound) as error:
            reply = replace(reply, refused=_describe_stale(error))
        link.send(reply)

    async def _read_frame(self, receive: Receive, assembly: Assembly) -> FromWorker:
        """Raises ValueError for what is no frame, and for parts that together with those of others are too much."""
        self._assemblies.add(assembly)
        try:
            while True:
                message = await receive()
                if message["type"] == "websocket.disconnect":
                    raise _Gone
                text = assembly.take(message.get("text") or "")
                if text is not None:
                    return read_from_worker(text)
                if sum(each.size for each in self._assemblies) > UNFINISHED_CHARS:
                    raise ValueError("the server holds too many unfinished frames")
        finally:
            self._assemblies.discard(assembly)


def _read_card(hello: Hello, principal: Principal) -> WorkerCard:
    """Raises _Forbidden for pools that the token is not for, ValueError for names that nobody should be shown."""
    texts = (hello.worker, hello.name, *hello.pools, *hello.teams)
    if not all(text.isprintable() for text in texts):
        raise ValueError("a name has a character that is not printable")
    if strange := set(hello.pools) - set(principal.pools) if principal.pools else set():
        raise _Forbidden(f"this token is not for pool {', '.join(sorted(strange))}")
    is_named = all(0 < len(text) <= NAME_CHARS for text in texts)
    is_named = is_named and 0 < len(hello.pools) <= NAMES and len(hello.teams) <= NAMES
    if not is_named or not 0 < hello.at_once <= AT_ONCE:
        raise ValueError("a worker has a name, pools, teams and room for at least one job")
    return WorkerCard(
        # what one token may take away from a worker it must have given to it
        id=f"{principal.token_id}/{hello.worker}",
        name=hello.name,
        pools=hello.pools,
        teams=hello.teams,
        at_once=hello.at_once,
    )


def _name(refs: list[JobRef]) -> tuple[Held, ...]:
    return tuple(Held(ref.job, ref.attempt) for ref in refs)


def _describe(refused: Refused | None) -> Refusal | None:
    if refused is None:
        return None
    return Refusal(code=refused.code, params=msgspec.to_builtins(refused.params))


def _describe_stale(error: Exception) -> Refusal:
    return Refusal(code="stale_turn", params={"detail": str(error)})
