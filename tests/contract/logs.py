"""Events to fill a log with, and the loop that an async test runs in."""

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, ParamSpec, TypeVar

from moot.core.codec import Event, Head, stamp
from moot.core.machines.session import Status
from moot.core.session.events import MessagePosted
from moot.core.session.team import Team, member
from moot.runtime.ports import Log, Summary

P = ParamSpec("P")
AnyLog = TypeVar("AnyLog", bound=Log)
OpenLog = Callable[[], AbstractAsyncContextManager[Log]]

AT = "2025-01-01T00:00:00.000Z"
TEAM = Team(name="pair", members=(member("ann", "human"), member("bot", "ai", position=1)))
SUMMARY = Summary(title="first", team="pair", flow="chat", status=Status.PAUSED, waiting_for="ann", busy=False)
_DEADLINE_S = 180


def run(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """An async test as a plain one; a test that hangs fails."""

    @functools.wraps(test)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), _DEADLINE_S))

    return wrapped


def make_events(session_id: str, head: Head = Head(), count: int = 1, text: str = "hello", at: str = AT) -> list[Event]:  # noqa: B008 - frozen
    return stamp(TEAM, session_id, head, [MessagePosted(member="ann", text=f"{text} {n}") for n in range(count)], at)


async def append(log: Log, session_id: str, count: int = 1, text: str = "hello", at: str = AT) -> list[Event]:
    """Append behind the head; the first append makes the session."""
    known = {listing.session_id: listing.head for listing in await log.sessions()}
    head = known.get(session_id, Head())
    events = make_events(session_id, head, count, text, at)
    await log.append(session_id, head, events, summary=None if head.seq else SUMMARY)
    return events


@asynccontextmanager
async def closing(log: AnyLog) -> AsyncIterator[AnyLog]:
    try:
        yield log
    finally:
        await log.close()


async def verify(log: Log, session_id: str) -> Head:
    """Read the whole log and return its head. Raises Corrupt if an event is not what was written, NotFound."""
    head = Head()
    while events := await log.read(session_id, head.seq):
        head = events[-1].head
    return head
