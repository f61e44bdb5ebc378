"""A session on a server, used like one in this process."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from moot.client.tape import Entry, Tape
from moot.core.codec import Event
from moot.core.session.commands import Answer, HumanCommand, Post
from moot.core.view import View
from moot.protocol.commands import write_command
from moot.protocol.happenings import link_frame, view_frame

if TYPE_CHECKING:
    from moot.client.client import Client


class Receipt(Struct, frozen=True):
    """Confirms that a command was logged; `seq` is the head after it."""

    command_id: str
    seq: int


class RemoteSession:
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

    def say(self, text: str, by: str | None = None, *, inputs: Mapping[str, Any] | None = None) -> AsyncIterator[Event]:
        """Post a text and yield events until the session waits for a human again. Raises Refused.

        `by` is sent as `[FROM: by]` and stays in the text. `inputs` are values of keys that people give in the
        supervisor flow.
        """
        return self._run(Post(text=text, by=by, inputs=dict(inputs) if inputs else None))

    def answer(self, step_id: str, *, by: str | None = None, **fields: Any) -> AsyncIterator[Event]:
        """Answer an open question with `confirmed`, `choice`, `answer` or edited `tasks`; yield events like `say`."""
        return self._run(Answer(step_id=step_id, by=by, **fields))

    async def settle(self) -> AsyncIterator[Event]:
        """Yield events until the session waits for a human."""
        async for event in self._run(None):
            yield event

    async def _run(self, command: HumanCommand | None) -> AsyncIterator[Event]:
        tape, head = self._tape, self._tape.head
        accepted_seq = head.seq
        if command is not None:
            accepted_seq = (await self.submit(command)).seq
        if accepted_seq <= head.seq and tape.view.is_settled:
            return
        async with aclosing(self._entries(head.seq)) as batches:
            async for entries in batches:
                for entry in entries:
                    if entry.event:
                        yield entry.event
                    head = entry.logged.head
                if accepted_seq <= head.seq == tape.view_seq and tape.view.is_settled:
                    return

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
                        yield passing.popleft()
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
