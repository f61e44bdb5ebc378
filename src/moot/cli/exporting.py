"""A session as a file: jsonl (one frame a line, byte for byte what clients get), Markdown, or one HTML page."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import msgspec

from moot.cli.transcript import Transcript, as_markdown
from moot.core.codec import Event, frame
from moot.core.errors import Corrupt, MootError
from moot.core.evolve import evolve
from moot.core.state import State
from moot.core.team import Language
from moot.protocol.one_file import to_html

Events = AsyncIterator[Event]
Write = Callable[[str], object]
T = TypeVar("T")


async def write_jsonl(events: Events, write: Write) -> None:
    async for line, _ in _frames(events):
        write(line.decode() + "\n")


async def write_markdown(events: Events, write: Write) -> None:
    """Under the title that the session has in the end."""
    transcript = Transcript(is_whole=True)
    found, damage = await _collect(events)
    parts = [part for event in found for part in as_markdown(event, transcript)]
    if transcript.state:
        parts.insert(0, f"# {transcript.state.title or transcript.state.team.name}")
    write("\n\n".join(parts) + "\n")
    if damage:
        raise damage


async def write_html(events: Events, write: Write) -> None:
    found, damage = await _collect(_frames(events))
    write(to_html([msgspec.json.decode(line) for line, _ in found], found[-1][1] if found else "en"))
    if damage:
        raise damage


FORMATS = {"jsonl": write_jsonl, "md": write_markdown, "html": write_html}


@contextmanager
def writing(path: str | None) -> Iterator[Write | None]:
    """Into the named file; without one, standard output is the caller's."""
    if path is None:
        yield None
        return
    try:
        file = open(path, "w", encoding="utf-8")  # noqa: SIM115 - closed below; only opening it is explained
    except OSError as error:
        raise MootError(f"{path} cannot be written ({error.strerror}); name a file in a folder that is there") from None
    with file:
        yield file.write


async def _collect(items: AsyncIterator[T]) -> tuple[list[T], Corrupt | None]:
    """All of them; of a damaged session those that are intact, and why they are not all."""
    found = []
    try:
        async for item in items:
            found.append(item)  # noqa: PERF401 - those before the damage are kept
    except Corrupt as error:
        return found, error
    return found, None


async def _frames(events: Events) -> AsyncIterator[tuple[bytes, Language]]:
    """Each with its texts in the language that the session spoke then."""
    state: State | None = None
    async for event in events:
        state = evolve(state, event.fact)
        yield frame(event, state.language), state.language
