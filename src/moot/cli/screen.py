"""Starting the terminal UI, and what is left on the normal screen when it is closed."""

import os
import tempfile
from argparse import Namespace
from pathlib import Path

from moot.cli import exits
from moot.cli.data import data_folder
from moot.cli.leaving import resume_command, say_where
from moot.cli.transcript import Transcript
from moot.tui.app import MootApp
from moot.tui.hosts import Host
from moot.tui.keys import Keys
from moot.tui.seat import Seat
from moot.tui.words import Words

PRINTED_LINES = 200  # a longer transcript goes into a file


async def show_session(host: Host, session_id: str, options: Namespace, keys: Keys) -> int:
    app = MootApp(host, await host.open(session_id), Transcript, options.speaks_as, keys)
    await app.run_async()
    folder = Path(tempfile.gettempdir()) if options.connect else data_folder(options) / "transcripts"
    say_goodbye(app.seat, app.talk.id, resume_command(app.talk.id, options), folder)
    return app.return_code or exits.OK


def say_goodbye(seat: Seat, session_id: str, resume: str | None, folder: Path) -> None:
    """The session's id, how to go on, and what was said: the screen that showed it is gone."""
    words = Words(seat.view.language)
    lines = transcript_lines(seat)
    if len(lines) <= PRINTED_LINES:
        print("\n".join(lines))
    else:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{session_id}.txt"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        print(words("goodbye.transcript", path=path))
    say_where(session_id, resume, words)


def transcript_lines(seat: Seat) -> list[str]:
    lines: list[str] = []
    for item in seat.story.items:
        first, *rest = item.text.split("\n")
        lines += [f"{item.name}: {first}" if item.name else first, *(f"  {line}" if line else "" for line in rest)]
    return lines
