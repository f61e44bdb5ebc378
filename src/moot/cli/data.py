"""Where sessions are kept: `--store URL` or $MOOT_STORE, else in the data folder.

The data folder is `--data DIR`, else $MOOT_DATA, else the user's own.
"""

import os
from argparse import SUPPRESS, ArgumentParser, Namespace
from pathlib import Path

from moot.cli.usage import UsageError
from moot.cli.wording import say
from moot.config.own_folders import find_data_folder
from moot.runtime.ports import Store
from moot.runtime.stores.store import find_store


def add_data_argument(parser: ArgumentParser) -> None:
    """Add `--data` to a command or to one of its actions.

    The option has no default here, so that an action does not overwrite what stands before it, as in
    `moot token --data DIR list`. The parser of `moot` sets `data` to None.
    """
    parser.add_argument(
        "--data",
        metavar="DIR",
        default=SUPPRESS,
        help=say("help.data"),
    )


def add_store_arguments(parser: ArgumentParser, *, is_inner: bool = False) -> None:
    """Add `--data` and `--store`; `is_inner`: to an action of a command that has them, too."""
    add_data_argument(parser)
    parser.add_argument(
        "--store",
        metavar="URL",
        default=SUPPRESS if is_inner else None,
        help=say("help.store"),
    )


def find_sessions(options: Namespace) -> Store:
    """Return the store that the options or the environment name. Raises ConfigError if there is no such kind."""
    return find_store(options.store or os.environ.get("MOOT_STORE") or data_folder(options))


def data_folder(options: Namespace) -> Path:
    """Return the folder that the command line names, which need not exist yet.

    Raises UsageError if the name is a file's or cannot be meant as a folder's.
    """
    folder = _read_folder(options.data) if options.data else own_data_folder()
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; name the folder of the sessions with --data DIR")
    return folder


def own_data_folder() -> Path:
    """Return the user's own folder, whatever `--data` says; a folder from elsewhere must not bring its own trust."""
    if os.environ.get("MOOT_DATA"):
        _read_folder(os.environ["MOOT_DATA"])
    return find_data_folder()


def _read_folder(name: str) -> Path:
    """Raise UsageError for names that are typing errors: an option, a line break, argparse's placeholder."""
    if name == SUPPRESS or name.startswith("-") or not name.isprintable() or not name.strip():
        raise UsageError(f"{name!r} is not the name of a folder; write ./ before it if it is")
    return Path(name)
