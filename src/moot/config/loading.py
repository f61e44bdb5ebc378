"""Loads and checks a team from a file, an object, or the name of a built-in team."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from moot.config.agent_specs import decode_agent
from moot.config.message_format import join_choices, shorten
from moot.config.object_source import read_object
from moot.config.problem import Problem
from moot.config.prompts import Prompts, read_prompt
from moot.config.source import Source
from moot.config.team_file import TeamFile
from moot.config.validation import find_problems
from moot.core import limits
from moot.core.errors import ConfigError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

TeamTarget = str | os.PathLike[str] | Mapping[str, Any]


class InvalidTeam(ConfigError):
    """A team file has problems; the message lists them all, one per line: `FILE:LINE: path: sentence`."""

    def __init__(self, origin: str, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(problem.format(origin) for problem in problems))
        self.origin = origin
        self.problems = tuple(problems)


def load_team(target: TeamTarget) -> TeamFile:
    """Load a team. Raises InvalidTeam with all its problems, or ConfigError if it cannot be read."""
    source = _read(target)
    problems = find_problems(source)
    if problems:
        raise InvalidTeam(_name_origin(target), problems)
    team = msgspec.convert(source.data, TeamFile, dec_hook=decode_agent)
    prompts = {phase: read_prompt(written, source.folder) for phase, written in team.prompts.by_phase().items()}
    return msgspec.structs.replace(team, prompts=Prompts(**prompts)) if prompts else team


def list_problems(target: TeamTarget) -> list[Problem]:
    """Return all problems, as `moot validate` prints them. Raises ConfigError if there is nothing to read."""
    return find_problems(_read(target))


def list_built_in_teams() -> list[str]:
    return sorted(file.name.removesuffix(".yaml") for file in _teams().iterdir() if file.name.endswith(".yaml"))


def _teams() -> "Traversable":
    from importlib import resources  # slow to import, and rarely needed

    return resources.files("moot").joinpath("teams")


def _name_origin(target: TeamTarget) -> str:
    return "team" if isinstance(target, Mapping) else os.fspath(target)


def _read(target: TeamTarget) -> Source:
    if isinstance(target, Mapping):
        # what only files need may be left out here
        return msgspec.structs.replace(read_object({"moot": 1, "name": "team", **target}), folder=Path())
    from moot.config.yaml_source import read_yaml  # only now: starting the program must not wait for PyYAML

    # a bare name means the built-in team, whatever lies in the current folder; `./name` means the file
    if isinstance(target, str) and target in list_built_in_teams():
        return read_yaml(_teams().joinpath(f"{target}.yaml").read_bytes())
    path = Path(target)
    return msgspec.structs.replace(read_yaml(_read_file(path)), folder=path.parent)


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(limits.TEAM_FILE_BYTES + 1)  # one more tells that it is too large
    except FileNotFoundError:
        known = join_choices(list_built_in_teams())
        raise ConfigError(f"no team file {shorten(str(path))}; built-in teams: {known}") from None
    except IsADirectoryError:
        inside = shorten(str(path / "moot.yaml"))
        raise ConfigError(f"{shorten(str(path))} is a folder; name a team file in it, such as {inside}") from None
    except (OSError, ValueError) as error:  # ValueError: a name that no file system takes
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"cannot read team file {shorten(str(path))}: {reason}") from error
