"""Running the terminal UI, and what it leaves on the normal screen when it is closed."""

import logging
import os
import tempfile
from argparse import Namespace
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import QueueHandler
from pathlib import Path

from moot.cli import exits
from moot.cli.data import data_folder, own_data_folder
from moot.cli.hosting import find_team
from moot.cli.leaving import resume_command, say_where
from moot.cli.trusting import folder_of
from moot.cli.user_settings import read_settings
from moot.tui.hosts import Host
from moot.tui.keys import Keys
from moot.tui.remembered import Memory
from moot.tui.terminal import MootApp
from moot.tui.viewer_state import ViewerState
from moot.tui.words import Words

PRINTED_LINES = 200  # a longer transcript goes into a file
HELD_RECORDS = 50  # of the log, while the screen is drawn


async def show_session(host: Host, session_id: str, options: Namespace, keys: Keys) -> int:
    memory = Memory(own_data_folder() / "terminal")
    alerts = read_settings().notify.terminal
    files = None if options.connect else folder_of(options.file or find_team())
    app = MootApp(host, await host.open(session_id), options.speaks_as, keys, memory, files, alerts)
    with hold_log():
        await app.run_async()
    folder = Path(tempfile.gettempdir()) if options.connect else data_folder(options) / "transcripts"
    if app.talk.id != session_id and not options.connect:  # they went over to another session
        options.file = next((entry.file for entry in app.entries if entry.session_id == app.talk.id), options.file)
    say_goodbye(app.viewer_state, app.talk.id, resume_command(app.talk.id, options), folder)
    return app.return_code or exits.OK


class _Holder(QueueHandler):
    """Keeps the newest records, as text with their tracebacks."""

    def __init__(self) -> None:
        self.held = deque[logging.LogRecord](maxlen=HELD_RECORDS)
        super().__init__(self.held)  # type: ignore[arg-type] # `enqueue` is what uses it

    def enqueue(self, record: logging.LogRecord) -> None:
        self.held.append(record)


@contextmanager
def hold_log() -> Iterator[None]:
    """Hold back what is logged while the screen is drawn, and write it when the screen is gone.

    The traceback of a member that raised is in the log only: written at once, it would be painted over.
    """
    root, holder = logging.getLogger(), _Holder()
    handlers = root.handlers
    root.handlers = [holder]
    try:
        yield
    finally:
        root.handlers = handlers
        for record in holder.held:
            root.callHandlers(record)


def say_goodbye(viewer_state: ViewerState, session_id: str, resume: str | None, folder: Path) -> None:
    """Print the transcript, which vanished with the screen, the id of the session, and how to resume it.

    A session in which nothing happened is not kept: of that one nothing is printed.
    """
    if all(item.seq <= 1 for item in viewer_state.story.items):
        return
    words = Words(viewer_state.view.language)
    lines = transcript_lines(viewer_state, words)
    if len(lines) <= PRINTED_LINES:
        print("\n".join(lines))
    else:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{session_id}.txt"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        print(words("goodbye.transcript", path=path))
    say_where(session_id, resume, words)


def transcript_lines(viewer_state: ViewerState, words: Words) -> list[str]:
    """Return what was said, by whom and to whom: `Ann → Bob: hello`."""
    lines: list[str] = []
    for item in viewer_state.story.items:
        first, *rest = item.text.rstrip("\n").split("\n")
        to = f" → {', '.join(item.to)}" if item.to else ""
        mark = f" ({words('partial')})" if item.kind == "partial" else ""
        said = f"{item.name}{to}{mark}: {first}" if item.name else first
        lines += [said, *(f"  {line}" if line else "" for line in rest)]
    return lines
