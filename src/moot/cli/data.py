"""Where sessions are kept: `--data DIR`, else $MOOT_DATA, else the user's data folder."""

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path

from moot.cli.usage import UsageError


def add_data_argument(parser: ArgumentParser, default: str | None = None) -> None:
    parser.add_argument(
        "--data",
        metavar="DIR",
        default=default,
        help="folder of the sessions (default: $MOOT_DATA or your data folder)",
    )


def data_folder(options: Namespace) -> Path:
    """Raises UsageError for what cannot be one."""
    folder = Path(options.data) if options.data else own_data_folder()
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; name the folder of the sessions with --data DIR")
    return folder


def own_data_folder() -> Path:
    """The user's, whatever --data says: what a person decided belongs to the person, not to a folder that was found."""
    if os.environ.get("MOOT_DATA"):
        return Path(os.environ["MOOT_DATA"])
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "moot"
