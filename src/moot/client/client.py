"""`moot.connect`: sessions on a server. The client reconnects by itself; commands wait and are executed once."""

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from moot.client.address import Address, read_address
from moot.client.link import Link, now
from moot.client.link_errors import (
    HistoryReset,
    Unauthenticated,
    Unreachable,
    cannot_reach,
    not_taken,
    to_error,
)
from moot.client.rest import Rest
from moot.client.session import RemoteSession
from moot.client.tape import Entry, Tape
from moot.core.codec import Head, place
from moot.core.errors import Corrupt, MootError
from moot.core.machines.connection import State as ConnectionState
from moot.core.session.attachments import Attachment
from moot.core.session.team import Language
from moot.core.session.workspace_view import Changes, FileDiff
from moot.protocol.client import GIVE_UP_S, ClientHalf
from moot.protocol.following import Following, Verdict
from moot.protocol.frames import ViewChanged
from moot.protocol.happenings import (
    VIEW_CHANGED,
    Denied,
    Done,
    Ended,
    Exported,
    Happening,
    Logged,
    Moved,
    Passing,
    Reset,
    Sever,
    link_frame,
)

logger = logging.getLogger(__name__)

OPEN_S = 10.0
PAGE_EVENTS = 1_000
READ_AGAIN_S = 1.0


class Client:
    """A connection to a server; created by `connect`. `moved` is the last change of the link."""

    def __init__(self, address: Address, language: Language | None, give_up_s: float) -> None:
        self.address = address
        self.moved = Moved(state=ConnectionState.DISCONNECTED)
        self._half = ClientHalf(give_up_s=give_up_s)
        self._link = Link(address, self._half, self._note, language)
        self._rest = Rest(address)
        self._tapes: dict[str, Tape] = {}
        self._answers: dict[str, asyncio.Future[Any]] = {}
        self._change = asyncio.Event()

    @property
    def state(self) -> ConnectionState:
        return self._half.state

    def cut(self) -> None:
        """Break the link, as a bad network would: for demonstrations and tests."""
        self._link.cut()

    async def moves(self) -> AsyncGenerator[Moved, None]:
        """Yield the current state of the link, then each change. A slow reader may miss some."""
        seen = None
        while True:
            if self.moved is not seen:
                seen = self.moved
                yield seen
                continue
            await self._change.wait()

    async def session(
        self,
        id: str | None = None,  # noqa: A002 - the word of the protocol
        *,
        team: str | None = None,
        title: str = "",
    ) -> RemoteSession:
        """Create a session, or open the one with this id.

        Args:
            id: an existing session.
            team: the team of a new session; the server's first one by default.
            title: the title of a new session.

        Raises:
            NotFound: there is no such session.
            Refused: the server has no such team.
        """
        if id is None:
            wanted = {"team": team, "title": title} if team is not None else {"title": title}
            done = await self.command("user.create_session", wanted, None)
            session_id = done.session_id
            if session_id is None:
                raise MootError(f"{self.address} created a session and did not say which; is it a Moot server?")
            tape = self._tapes.setdefault(session_id, Tape())
            await tape.reach(done.seq)
            return RemoteSession(session_id, tape, self)
        exported: Exported = await self._ask("user.request_state", {}, id)
        tape = self._tapes.get(id) or Tape()
        if id in self._tapes and not tape.is_ended:
            await tape.reach(exported.head.seq)
        else:
            tape = self._tapes[id] = Tape(exported.view, exported.head)
            self._half.follow(id, now(), exported.head)
            self._link.wake()
        return RemoteSession(id, tape, self)

    async def sessions(self) -> list[dict[str, Any]]:
        """List the sessions as REST does: session_id, seq, hash, title, team, status, waiting_for …, newest first."""
        return await self._rest.sessions()

    async def inbox(self) -> list[dict[str, Any]]:
        """List what waits for the holder of the token in all sessions, as `GET /api/inbox` does, oldest first."""
        return await self._rest.inbox()

    async def search(self, query: str, session_id: str | None = None) -> list[dict[str, Any]]:
        """Find what was said with all words of a query, as `GET /api/search` does, the newest first."""
        return await self._rest.search(query, session_id)

    async def teams(self) -> list[dict[str, Any]]:
        """List the teams that the server offers, as `GET /api/teams` does."""
        return await self._rest.teams()

    async def changes(self, session_id: str, **query: str | int | None) -> Changes:
        """List the files that the work of a session changed, as `GET /api/sessions/{id}/changes` does."""
        return await self._rest.changes(session_id, **query)

    async def diff(self, session_id: str, **query: str | int | None) -> FileDiff:
        """Read the diff of one of them, as `GET /api/sessions/{id}/diff` does."""
        return await self._rest.diff(session_id, **query)

    async def attach(self, session_id: str, data: bytes, name: str) -> Attachment:
        """Upload a file to a session. Raises Refused if the server does not take it."""
        return await self._rest.upload(session_id, data, name)

    async def command(
        self, event: str, fields: dict[str, Any], session_id: str | None, command_id: str | None = None
    ) -> Done:
        """Have a command executed once. Raises Refused, NotFound, or Unreachable if the connection is given up."""
        done: Done = await self._ask(event, fields, session_id, command_id)
        return done

    async def _ask(
        self, event: str, fields: dict[str, Any], session_id: str | None, command_id: str | None = None
    ) -> Any:
        if self.state is ConnectionState.DISCONNECTED:
            raise self._given_up()
        command_id = command_id or uuid.uuid4().hex
        self._half.send(command_id, event, fields, now(), session_id=session_id)
        answer = self._answers[command_id] = asyncio.get_running_loop().create_future()
        self._link.wake()
        try:
            return await answer
        finally:
            self._answers.pop(command_id, None)

    async def read_back(self, session_id: str, after: int, until: int) -> AsyncGenerator[list[Entry], None]:
        """Yield verified pages of history after `after`, up to `until`."""
        following = Following(session_id, Head(after))
        while following.head.seq < until:
            try:
                page = await self._rest.events(session_id, following.head.seq, PAGE_EVENTS)
            except Unauthenticated:
                raise
            except Unreachable:
                if self.state is ConnectionState.DISCONNECTED:
                    raise
                await asyncio.sleep(READ_AGAIN_S)  # try for as long as the link does
                continue
            if not page:
                raise HistoryReset(f"the server has no event {following.head.seq + 1} of {session_id}; open it again")
            yield [_take(following, frame) for frame in page]

    async def run(self) -> None:
        await self._link.run()

    async def wait_until_open(self, deadline_s: float) -> None:
        """Wait for the first connection. Raises Unreachable or Unauthenticated."""
        try:
            async with asyncio.timeout(deadline_s):
                while self.state is not ConnectionState.CONNECTED:
                    if self.state is ConnectionState.DISCONNECTED and self.moved.reason:
                        raise self._given_up()
                    await self._change.wait()
        except TimeoutError:
            raise cannot_reach(self.address, self._link.trouble) from None

    def _given_up(self) -> Unreachable:
        if self.moved.reason == "unauthenticated":
            return not_taken(self.address)
        return Unreachable(f"the link to {self.address} was given up ({self.moved.reason or 'never opened'})")

    # Called by the link

    def _note(self, happenings: list[Happening]) -> None:
        for happening in happenings:
            match happening:
                case Logged():
                    self._tapes.setdefault(happening.session_id, Tape()).add(happening)
                case Passing(frame=frame):
                    self._show(frame)
                case Done() | Exported():
                    self._answer(happening.command_id, happening)
                case Denied():
                    self._deny(happening)
                case Moved():
                    self._move(happening)
                case Reset() | Ended():
                    self._end(happening)
                case Sever(reason=reason):
                    logger.info("cutting the link to %s: %s", self.address, reason)

    def _answer(self, command_id: str, answer: Done | Exported) -> None:
        future = self._answers.get(command_id)
        if future and not future.done():
            future.set_result(answer)

    def _deny(self, denied: Denied) -> None:
        future = self._answers.get(denied.command_id or "")
        if future and not future.done():
            future.set_exception(to_error(denied))
        elif denied.command_id is None:
            logger.warning("%s complains: %s", self.address, denied.sentence)

    def _show(self, frame: dict[str, Any]) -> None:
        tape = self._tapes.get(frame.get("session_id") or "")
        if tape and frame["event"] == VIEW_CHANGED:
            tape.change_view(msgspec.convert(frame["metadata"], ViewChanged))
        elif tape:
            tape.show(frame)

    def _end(self, ending: Reset | Ended) -> None:
        """End the tape of a session. The history that follows a reset goes to a new tape."""
        tape = self._tapes.pop(ending.session_id, None)
        if isinstance(ending, Reset):
            self._tapes[ending.session_id] = Tape()
            why = f"session {ending.session_id} has another history on the server ({ending.reason})"
            error: MootError = HistoryReset(f"{why}; open it again")
        else:
            error = to_error(ending)
        if tape:
            tape.end(error)

    def _move(self, moved: Moved) -> None:
        self.moved = moved
        frame = link_frame(moved)
        for tape in self._tapes.values():
            tape.show(frame)
        if moved.state is ConnectionState.DISCONNECTED:
            self._give_up()
        self._change.set()
        self._change = asyncio.Event()

    def _give_up(self) -> None:
        error = self._given_up()
        for tape in self._tapes.values():
            tape.end(error)
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(error)


def _take(following: Following, frame: bytes) -> Entry:
    """Verify a frame of history. Raises Corrupt if it is not the next one."""
    verdict, data = following.judge(place(frame), frame)
    if verdict is not Verdict.NEXT:
        raise Corrupt(following.session_id, following.head.seq + 1, f"the server sent {verdict}")
    head = following.head
    logged = Logged(session_id=following.session_id, seq=head.seq, hash=head.hash, data=data, frame=frame)
    return Entry(logged, logged.event())


@asynccontextmanager
async def connect(
    url: str,
    token: str | None = None,
    *,
    language: Language | None = None,
    open_s: float = OPEN_S,
    give_up_s: float = GIVE_UP_S,
) -> AsyncIterator[Client]:
    """Connect to a server for the length of the block.

    Args:
        url: as `moot serve` prints it, with the token after `#token=`.
        token: if it is not in the URL.
        language: of texts for people; the session's own by default.
        open_s: how long to wait for the first connection.
        give_up_s: how long to try to reconnect after a connection was lost.

    Raises:
        Unreachable: no connection in `open_s`.
        Unauthenticated: the server does not accept the token.
    """
    async with open_client(read_address(url, token), language=language, open_s=open_s, give_up_s=give_up_s) as client:
        yield client


@asynccontextmanager
async def open_client(
    address: Address, *, language: Language | None = None, open_s: float = OPEN_S, give_up_s: float = GIVE_UP_S
) -> AsyncIterator[Client]:
    """The same for an address that was read already, or that is no URL."""
    client = Client(address, language, give_up_s)
    failure: BaseException | None = None
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(client.run())
        try:
            await client.wait_until_open(open_s)
            yield client
        except BaseException as error:  # raised below, outside of the group that would wrap it
            failure = error
        running.cancel()
    if failure:
        raise failure
