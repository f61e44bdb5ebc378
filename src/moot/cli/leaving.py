"""What people read when they leave a session: its id, and the command to resume it."""

import os
import shlex
import sys
from argparse import Namespace

from moot.tui.words import Words


def resume_command(session_id: str, options: Namespace) -> str:
    where = ["--connect", options.connect.partition("#")[0]] if options.connect else []
    where += ["--data", options.data] if options.data else []
    where += ["--store", options.store] if options.store else []
    who = ["--as", options.speaks_as] if options.speaks_as else []
    how = ["--plain"] if options.plain else []
    file = [options.file] if options.file else []
    command = shlex.join(["moot", "chat", *file, "--session", session_id, *who, *how, *where])
    needs_token = options.connect and not os.environ.get("MOOT_TOKEN")
    return f"MOOT_TOKEN=… {command}" if needs_token else command  # the token itself is not shown


def say_where(session_id: str, resume: str | None, words: Words) -> None:
    """Print the id and how to resume, on stderr. Without a command say that nothing is kept."""
    print(words("goodbye.session", id=session_id), file=sys.stderr)
    print(words("goodbye.resume", command=resume) if resume else words("goodbye.kept_not"), file=sys.stderr)
