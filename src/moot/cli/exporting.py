"""Exports of a session: jsonl (one frame a line, the bytes that clients get), Markdown, or one HTML page."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

from moot.core.codec import Event, frame
from moot.core.errors import Corrupt, MootError
from moot.core.evolve import evolve
from moot.core.session.state import State
from moot.telling.markdown import to_markdown
from moot.telling.page import to_html

Events = AsyncIterator[Event]
Write = Callable[[str], object]


async def write_jsonl(events: Events, write: Write) -> None:
    """Write one frame a line, with texts in the language that the session had at that event."""
    state: State | None = None
    async for event in events:
        state = evolve(state, event.fact)
        write(frame(event, state.language).decode() + "\n")


async def write_markdown(events: Events, write: Write) -> None:
    await _write_document(events, to_markdown, write)


async def write_html(events: Events, write: Write) -> None:
    await _write_document(events, to_html, write)


async def _write_document(events: Events, tell: Callable[[list[Event]], str], write: Write) -> None:
    """Write a document about all events; of a damaged session about those before the damage, then raise Corrupt."""
    intact: list[Event] = []
    try:
        async for event in events:
            intact.append(event)  # noqa: PERF401 - those before the damage are kept
    except Corrupt:
        write(tell(intact))
        raise
    write(tell(intact))


FORMATS = {"jsonl": write_jsonl, "md": write_markdown, "html": write_html}


@contextmanager
def writing(path: str | None) -> Iterator[Write | None]:
    """Yield a function that writes to the named file, or None if there is no name: write to standard output then.

    Raises MootError if the file cannot be opened.
    """
    if path is None:
        yield None
        return
    try:
        file = open(path, "w", encoding="utf-8")  # noqa: SIM115 - closed below; only opening it is explained
    except OSError as error:
        raise MootError(f"{path} cannot be written ({error.strerror}); name a file in a folder that is there") from None
    with file:
        yield file.write
