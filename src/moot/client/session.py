"""A session on a server, used like one in this process."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from moot.client.tape import Entry, Passing, Tape
from moot.conversation import Conversation, Piece
from moot.core.codec import Event
from moot.core.session.attachments import Attachment
from moot.core.session.commands import HumanCommand
from moot.core.session.workspace_view import Changes, FileDiff
from moot.core.view import View
from moot.protocol.command_table import write_command
from moot.protocol.frames import STREAMED
from moot.protocol.happenings import link_frame, view_frame

if TYPE_CHECKING:
    from moot.client.client import Client


class Receipt(Struct, frozen=True):
    """Confirms that a command was logged; `seq` is the head after it."""

    command_id: str
    seq: int


class RemoteSession(Conversation):
    """A session on the server.

    All methods raise once the connection is given up (Unreachable), the session is removed (NotFound), or the server
    has another history (HistoryReset; ask the client for the session again).
    """

    def __init__(self, session_id: str, tape: Tape, client: "Client") -> None:
        self.id = session_id
        self._tape = tape
        self._client = client

    async def view(self) -> View:
        """Return the view as received so far. It includes every command that `submit` has returned for."""
        return self._tape.view

    async def submit(self, command: HumanCommand | str, *, command_id: str | None = None, **fields: Any) -> Receipt:
        """Have a command executed; it is durable, and part of `view`, when this returns.

        It is executed once, even if the connection breaks meanwhile.

        Args:
            command: a command, or the name of a `user.*` event with the fields of its frame.
            command_id: makes a repeated call with the same id return the first receipt.

        Raises:
            Refused: the server refused it, with the server's sentence.
        """
        self._tape.view  # noqa: B018 - raises when there is nothing to talk to
        frame = {"event": command, **fields} if isinstance(command, str) else write_command(command)
        receipt = await self._client.command(frame.pop("event"), frame, self.id, command_id)
        await self._tape.reach(receipt.seq)
        return Receipt(receipt.command_id, receipt.seq)

    async def changes(self, *, task: str | None = None, turn: str | None = None, offset: int = 0) -> Changes:
        return await self._client.changes(self.id, task=task, turn=turn, offset=offset)

    async def diff(self, path: str, *, task: str | None = None, turn: str | None = None, offset: int = 0) -> FileDiff:
        return await self._client.diff(self.id, path=path, task=task, turn=turn, offset=offset)

    async def attach(self, data: bytes, name: str) -> Attachment:
        self._tape.view  # noqa: B018 - raises when there is nothing to talk to
        return await self._client.attach(self.id, data, name)

    async def _run(self, command: HumanCommand | None) -> AsyncGenerator[Event, None]:
        async with aclosing(self._run_live(command)) as items:
            async for item in items:
                if isinstance(item, Event):
                    yield item

    async def _run_live(self, command: HumanCommand | None) -> AsyncGenerator[Event | Piece, None]:
        tape, head = self._tape, self._tape.head
        passing = tape.listen()
        try:
            accepted_seq = head.seq
            if command is not None:
                accepted_seq = (await self.submit(command)).seq
            if accepted_seq <= head.seq and tape.view.is_settled:
                return
            async with aclosing(self._entries(head.seq)) as batches:
                async for entries in batches:
                    for entry in entries:
                        for piece in _read_pieces(passing, entry.logged.seq):
                            yield piece
                        if entry.event:
                            yield entry.event
                        head = entry.logged.head
                    for piece in _read_pieces(passing, head.seq + 1):
                        yield piece
                    if accepted_seq <= head.seq == tape.view_seq and tape.view.is_settled:
                        return
        finally:
            tape.unlisten(passing)

    async def follow(self, after: int = 0) -> AsyncGenerator[list[Event], None]:
        """Yield the events after `after`, then new ones as they come, in batches that are never empty.

        Events of types that this version does not know are left out.
        """
        async with aclosing(self._entries(after)) as batches:
            async for entries in batches:
                events = [entry.event for entry in entries if entry.event]
                if events:
                    yield events

    async def history(self, after: int = 0) -> AsyncGenerator[Event, None]:
        """Yield the events after `after` that are logged now."""
        until = self._tape.head.seq
        if until <= after:
            return
        async with aclosing(self._entries(after)) as batches:
            async for entries in batches:
                for entry in entries:
                    if entry.event and entry.logged.seq <= until:
                        yield entry.event
                if entries and entries[-1].logged.seq >= until:
                    return

    async def frames(self, after: int = 0) -> AsyncGenerator[dict[str, Any], None]:
        """For screens: logged frames behind `after`, streamed text, what becomes of the link, and the view.

        The view comes in frames of its own (`session.view`, with a View as metadata), after the events it includes.
        """
        passing = self._tape.listen()
        try:
            yield link_frame(self._client.moved)
            view = self._tape.view
            yield view_frame(self.id, view)
            async with aclosing(self._entries(after)) as batches:
                async for entries in batches:
                    for entry in entries:
                        yield entry.logged.fields()
                    if view is not self._tape.view:
                        view = self._tape.view
                        yield view_frame(self.id, view)
                    while passing:
                        yield passing.popleft()[1]
        finally:
            self._tape.unlisten(passing)

    async def _entries(self, after: int) -> AsyncGenerator[list[Entry], None]:
        """Yield entries, older ones from the server's log. An empty batch means that an unlogged frame came."""
        tape = self._tape
        while True:
            if after + 1 < tape.first_seq:
                async with aclosing(self._client.read_back(self.id, after, tape.first_seq - 1)) as pages:
                    async for page in pages:
                        yield page
                        after = page[-1].logged.seq
            elif entries := tape.after(after):
                yield entries
                after = entries[-1].logged.seq
            else:
                await tape.change()
                if tape.head.seq <= after:
                    yield []


def _read_pieces(passing: Passing, before: int) -> Iterator[Piece]:
    """Take the streamed text that came before the event with this seq."""
    while passing and passing[0][0] < before:
        _, frame = passing.popleft()
        if frame["event"] in STREAMED:
            metadata = frame["metadata"]
            is_thinking = frame["event"] == "turn.thinking"
            yield Piece(turn_id=metadata["turn_id"], text=metadata["text"], is_thinking=is_thinking)
