"""The export of a session over HTTP: one HTML file, written piece by piece."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import ExitStack

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from moot.core.session.principal import Principal
from moot.core.session.team import DEFAULT_LANGUAGE, Language
from moot.gateway.bounds import Bounds
from moot.gateway.replies import explain
from moot.protocol.protocol_errors import ProtocolError
from moot.runtime.ports import Log
from moot.runtime.snapshots import load_state
from moot.telling.page import PageWriter

READ_EVENTS = 200  # at a time


class Export(StreamingResponse):
    """A session as a file. A principal has one export at a time, and it counts as a stream."""

    def __init__(
        self, log: Log, session_id: str, language: Language | None, *, principal: Principal, bounds: Bounds
    ) -> None:
        disposition = f'attachment; filename="moot-{session_id}.html"'
        pieces = write_pieces(log, session_id, language)
        super().__init__(pieces, media_type="text/html", headers={"content-disposition": disposition})
        self._language = language or DEFAULT_LANGUAGE
        self._principal = principal
        self._bounds = bounds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with ExitStack() as place:
            try:
                place.enter_context(self._bounds.export(self._principal))
            except ProtocolError as refusal:
                await explain(refusal, self._language)(scope, receive, send)
                return
            await super().__call__(scope, receive, send)


async def write_pieces(log: Log, session_id: str, language: Language | None) -> AsyncGenerator[str, None]:
    """Yield the file in pieces, up to the head as it is now.

    The log is read twice, because its events are listed behind the conversation: so neither is ever in memory as a
    whole. Pieces are made in a thread, so that a long session does not hold others up.
    """
    state, head = await load_state(log, session_id)
    [first], [last] = await log.read(session_id, 0, 1), await log.read(session_id, head.seq - 1, 1)
    page = PageWriter(state, first, last, language)
    yield page.open()
    for write, end in ((page.tell, page.turn), (page.list, page.close)):
        for after in range(0, head.seq, READ_EVENTS):
            events = await log.read(session_id, after, min(READ_EVENTS, head.seq - after))
            yield await asyncio.to_thread(write, events)
        yield end()
