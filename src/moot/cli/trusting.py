"""Opening a team file on the command line: one that starts programs needs trust first (surfaces: agent types)."""

import os
import sys
from pathlib import Path

from moot.agents.starts import list_starts
from moot.config.loading import list_built_in_teams, load_team
from moot.config.team_file import TeamFile
from moot.config.trust import NotTrusted, Start, TrustStore


def load_trusted(file: str, data: Path) -> TeamFile:
    """The team, read once: what was checked is what runs. Asks at a terminal; else raises NotTrusted."""
    team = load_team(file)
    if file in list_built_in_teams():
        return team
    store, folder = TrustStore(data), folder_of(file)
    missing = store.find_untrusted(folder, list_starts(team))
    if missing:
        if not is_attended() or not ask(file, missing):
            raise NotTrusted(file, missing)
        store.add(folder, missing)
    return team


def folder_of(file: str) -> Path:
    """Where a team file's programs run; a built-in team has none."""
    return Path(os.path.abspath(file)).parent


def is_attended() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(file: str, starts: list[Start]) -> bool:
    """No is the default."""
    print(f"{file} would start programs on this machine:", file=sys.stderr)
    for start in starts:
        print(f"  {start}", file=sys.stderr)
    print("Start them now and later? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes", "是")
