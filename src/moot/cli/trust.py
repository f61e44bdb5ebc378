"""`moot trust`: which programs team files may start, folder by folder."""

import json
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from moot.agents.starts import list_starts
from moot.cli import exits
from moot.cli.trusting import ask, folder_of, is_attended, open_store
from moot.cli.usage import UsageError
from moot.cli.wording import say
from moot.config.loading import InvalidTeam, load_team
from moot.config.message_format import show_name
from moot.config.trust import NotTrusted, Start, TrustStore
from moot.core.errors import ConfigError, NotFound

ACTIONS = ("add", "list", "remove")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="*",
        metavar="[add|list|remove] [PATH]",
        help=say("help.trust.words"),
    )
    parser.add_argument("--yes", action="store_true", help=say("help.trust.yes"))
    parser.add_argument("--json", action="store_true", help=say("help.json_lines"))


def run(options: Namespace) -> int:
    words = list(options.words)
    action = words.pop(0) if words and words[0] in ACTIONS else "add"
    if len(words) > 1:
        raise UsageError(f"one path at a time, not {len(words)}: moot trust [add|list|remove] [PATH]")
    path, store = Path(words[0] if words else "."), open_store()
    match action:
        case "list":
            return list_trusted(store, options)
        case "remove":
            return remove(store, path)
        case _:
            return add(store, path, options)


def list_trusted(store: TrustStore, options: Namespace) -> int:
    """Print every trusted folder and the programs that it may start."""
    entries = store.read()
    for entry in entries:
        if options.json:
            commands = [{"argv": start.argv, "cwd": start.folder, "env": start.names} for start in entry.starts]
            print(json.dumps({"folder": entry.folder, "commands": commands}, ensure_ascii=False))
            continue
        print(show_name(entry.folder))
        for start in entry.starts:
            print(f"  {start}")
    if not entries:
        print("no folder is trusted yet; `moot trust FOLDER` shows what its team files would start", file=sys.stderr)
    return exits.OK


def add(store: TrustStore, path: Path, options: Namespace) -> int:
    """Trust the programs that the team files of a folder name now. Raises NotTrustedYet if nobody agrees."""
    folder, files = find_team_files(path)
    starts = [start for file in files for start in list_starts(load_team(file))]
    missing = store.find_untrusted(folder, starts)
    if not missing:
        print(
            f"{show_name(str(path))}: {'trusted already' if starts else 'starts no program, needs no trust'}",
            file=sys.stderr,
        )
        return exits.OK
    if not options.yes and not (is_attended() and ask(str(path), missing)):
        raise NotTrustedYet(str(path), missing)
    store.add(folder, missing)
    for start in missing:
        print(f"trusted: {start}", file=sys.stderr)
    return exits.OK


def remove(store: TrustStore, path: Path) -> int:
    """Remove the trust of a folder. Raises NotFound if it is not trusted."""
    folder = path if path.is_dir() or not path.exists() else folder_of(str(path))
    if not store.remove(folder):
        raise NotFound(f"{show_name(str(path))} is not trusted; `moot trust list` shows what is")
    return exits.OK


def find_team_files(path: Path) -> tuple[Path, list[Path]]:
    """Return a folder with its team files, or the folder of a file with that file alone. Raises ConfigError."""
    if path.is_file():
        return folder_of(str(path)), [path]
    if not path.is_dir():
        raise ConfigError(f"no folder or team file {str(path)!r}; `moot trust list` shows what is trusted")
    files = [file for file in sorted(path.glob("*.y*ml")) if _is_team(file)]
    if not files:
        raise ConfigError(
            f"no team file in {str(path)!r}; `moot init` writes one, `moot trust list` shows what is trusted"
        )
    return path, files


def _is_team(file: Path) -> bool:
    """Whether a file is a valid team file; other YAML files, and invalid ones, start nothing."""
    try:
        load_team(file)
    except (InvalidTeam, ConfigError):
        return False
    return True


class NotTrustedYet(NotTrusted):
    """The programs of `moot trust add` were not agreed to; the message suggests --yes."""

    def __init__(self, file: str, starts: list[Start]) -> None:
        super().__init__(file, starts)
        self.args = (f"{self.args[0]} --yes",)
