"""A session on a server, used like one in this process."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from moot.client.tape import Entry, Tape
from moot.core.codec import Event
from moot.core.commands import Answer, HumanCommand, Post
from moot.core.evolve import evolve
from moot.core.state import State
from moot.protocol.unanswered import to_frame
from moot.protocol.view import connection_frame

if TYPE_CHECKING:
    from moot.client.client import Client


class Receipt(Struct, frozen=True):
    """What became of a command: `seq` is the head after it."""

    command_id: str
    seq: int


class RemoteSession:
    """Events and states are the core's own; refusals raise Refused, with the server's sentence.

    It ends, and everything raises, when the server is given up, when the session is removed, and when the server's
    history turns out to be another one (HistoryReset): then ask the client for the session again.
    """

    def __init__(self, session_id: str, tape: Tape, client: "Client") -> None:
        self.id = session_id
        self._tape = tape
        self._client = client

    async def state(self) -> State:
        """As of what was received; everything that `submit` returned for is in it."""
        return self._tape.state

    async def submit(self, command: HumanCommand | str, *, command_id: str | None = None, **fields: Any) -> Receipt:
        """Durable when this returns, and folded into `state`. Raises Refused.

        A command of the core, or the name of a `user.*` event with the fields of its frame. It is done once, however
        often the link breaks meanwhile; with a `command_id` of your own also if you ask again.
        """
        self._tape.state  # noqa: B018 - raises when there is nothing to talk to
        frame = {"event": command, **fields} if isinstance(command, str) else to_frame(command)
        receipt = await self._client.command(frame.pop("event"), frame, self.id, command_id)
        await self._tape.reach(receipt.seq)
        return Receipt(receipt.command_id, receipt.seq)

    def say(self, text: str, by: str | None = None) -> AsyncIterator[Event]:
        """Post a text and follow the session until the floor is back with a human. Raises Refused.

        `by` goes as `[FROM: by]`, and stays in the text that is shown.
        """
        return self._run(Post(text=text, by=by))

    def answer(self, step_id: str, *, by: str | None = None, **said: Any) -> AsyncIterator[Event]:
        """Answer an open step with `confirmed`, `choice`, `answer` or edited `tasks`, and follow like `say`."""
        return self._run(Answer(step_id=step_id, by=by, **said))

    async def settle(self) -> AsyncIterator[Event]:
        """Follow what runs until the floor is back with a human."""
        async for event in self._run(None):
            yield event

    async def _run(self, command: HumanCommand | None) -> AsyncIterator[Event]:
        state, head = self._tape.state, self._tape.head
        accepted_seq = head.seq
        if command is not None:
            accepted_seq = (await self.submit(command)).seq
        if accepted_seq <= head.seq and state.is_settled:
            return
        async with aclosing(self.follow(head.seq)) as batches:
            async for events in batches:
                for event in events:
                    state = evolve(state, event.fact)
                    yield event
                if events[-1].seq >= accepted_seq and state.is_settled:
                    return

    async def follow(self, after: int = 0) -> AsyncGenerator[list[Event], None]:
        """History behind `after`, then live; batches are never empty, no hole and no double between them.

        Events that a newer server logged and this version does not know are left out.
        """
        async with aclosing(self._entries(after)) as batches:
            async for entries in batches:
                events = [entry.event for entry in entries if entry.event]
                if events:
                    yield events

    async def history(self, after: int = 0) -> AsyncIterator[Event]:
        """What is logged behind `after` as of now."""
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
        """For screens: frames to fold with `moot.protocol.view.reduce`.

        Logged ones behind `after`, streaming text, and what becomes of the link.
        """
        passing = self._tape.listen()
        try:
            yield connection_frame(self._client.moved)
            async with aclosing(self._entries(after)) as batches:
                async for entries in batches:
                    for entry in entries:
                        yield entry.logged.fields()
                    while passing:
                        yield passing.popleft()
        finally:
            self._tape.unlisten(passing)

    async def _entries(self, after: int) -> AsyncGenerator[list[Entry], None]:
        """What has left the window comes from the server's log; an empty batch means that something else happened."""
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
