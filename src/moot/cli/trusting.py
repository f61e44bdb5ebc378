"""Opening a team file on the command line: one that starts programs needs trust first (docs/agents.md)."""

import os
import sys
from pathlib import Path

from moot.agents.starts import list_starts
from moot.cli.data import own_data_folder
from moot.cli.progress import ERASE
from moot.config.loading import list_built_in_teams, load_team
from moot.config.message_format import show_name
from moot.config.team_file import TeamFile
from moot.config.trust import NotTrusted, Start, TrustStore


def load_trusted(file: str, *, asks: bool = True) -> TeamFile:
    """Load a team whose programs are trusted. Asks at a terminal; raises NotTrusted without one or after a no.

    The file is read only once, so that what was checked is what runs.
    """
    team = load_team(file)
    if file in list_built_in_teams():
        return team
    store, folder = open_store(), folder_of(file)
    missing = store.find_untrusted(folder, list_starts(team))
    if missing:
        if not asks or not is_attended() or not ask(file, missing):
            raise NotTrusted(file, missing)
        store.add(folder, missing)
    return team


def open_store() -> TrustStore:
    """Open the trust store of the user's own data folder: one named by --data may have come with the team file."""
    return TrustStore(own_data_folder())


def folder_of(file: str) -> Path:
    """Return the folder of a team file, in which its programs run."""
    return Path(os.path.abspath(file)).parent


def is_attended() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(file: str, starts: list[Start]) -> bool:
    """List the programs and ask whether to start them; the default is no."""
    print(f"{ERASE}{show_name(file)} would start programs on this machine:", file=sys.stderr)
    for start in starts:
        print(f"  {start}", file=sys.stderr)
    print("Trust these commands in this folder from now on? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes", "是")
