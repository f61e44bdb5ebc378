"""Running the terminal UI, and what it leaves on the normal screen when it is closed."""

import os
import tempfile
from argparse import Namespace
from pathlib import Path

from moot.cli import exits
from moot.cli.data import data_folder
from moot.cli.leaving import resume_command, say_where
from moot.tui.app import MootApp
from moot.tui.hosts import Host
from moot.tui.keys import Keys
from moot.tui.viewer_state import ViewerState
from moot.tui.words import Words

PRINTED_LINES = 200  # a longer transcript goes into a file


async def show_session(host: Host, session_id: str, options: Namespace, keys: Keys) -> int:
    app = MootApp(host, await host.open(session_id), options.speaks_as, keys)
    await app.run_async()
    folder = Path(tempfile.gettempdir()) if options.connect else data_folder(options) / "transcripts"
    say_goodbye(app.viewer_state, app.talk.id, resume_command(app.talk.id, options), folder)
    return app.return_code or exits.OK


def say_goodbye(viewer_state: ViewerState, session_id: str, resume: str | None, folder: Path) -> None:
    """Print the transcript, which vanished with the screen, the id of the session, and how to resume it."""
    words = Words(viewer_state.view.language)
    lines = transcript_lines(viewer_state)
    if len(lines) <= PRINTED_LINES:
        print("\n".join(lines))
    else:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{session_id}.txt"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        print(words("goodbye.transcript", path=path))
    say_where(session_id, resume, words)


def transcript_lines(viewer_state: ViewerState) -> list[str]:
    lines: list[str] = []
    for item in viewer_state.story.items:
        first, *rest = item.text.split("\n")
        lines += [f"{item.name}: {first}" if item.name else first, *(f"  {line}" if line else "" for line in rest)]
    return lines
