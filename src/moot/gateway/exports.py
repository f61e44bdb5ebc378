"""The export of a session over HTTP: one HTML file, written piece by piece."""

import asyncio
from collections.abc import AsyncGenerator

from starlette.responses import StreamingResponse

from moot.core.session.team import Language
from moot.runtime.ports import Log
from moot.runtime.snapshots import load_state
from moot.telling.page import PageWriter

READ_EVENTS = 200  # at a time


def export(log: Log, session_id: str, language: Language | None) -> StreamingResponse:
    """Return a session as a file."""
    disposition = f'attachment; filename="moot-{session_id}.html"'
    pieces = write_pieces(log, session_id, language)
    return StreamingResponse(pieces, media_type="text/html", headers={"content-disposition": disposition})


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
