"""Loads and checks a team from a file, an object, or the name of a built-in team."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from moot.config.agent_specs import decode_agent
from moot.config.message_format import join_choices, shorten, suggest
from moot.config.object_source import read_object
from moot.config.problem import Problem
from moot.config.prompts import Prompts, read_prompt
from moot.config.short_forms import expand
from moot.config.source import Source
from moot.config.team_file import TeamFile
from moot.config.user_locale import find_locale_language
from moot.config.validation import find_problems
from moot.core import limits
from moot.core.errors import ConfigError
from moot.core.session.team import LANGUAGES

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

TeamTarget = str | os.PathLike[str] | Mapping[str, Any]


class InvalidTeam(ConfigError):
    """A team file has problems; the message lists them all, one per line: `FILE:LINE: path: sentence`."""

    def __init__(self, origin: str, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(problem.format(origin) for problem in problems))
        self.origin = origin
        self.problems = tuple(problems)


def read_team(target: TeamTarget) -> Source:
    """Read the data of a team, with its short forms written out.

    Raises ConfigError if there is nothing to read, TypeError if the target is of another type.
    """
    source = _read(target)
    return msgspec.structs.replace(source, data=expand(source.data))


def load_team(target: TeamTarget) -> TeamFile:
    """Load a team. Raises InvalidTeam with all its problems, or ConfigError if it cannot be read."""
    source = read_team(target)
    problems = find_problems(source)
    if problems:
        raise InvalidTeam(_name_origin(target), problems)
    team = msgspec.convert(source.data, TeamFile, dec_hook=decode_agent)
    prompts = {phase: read_prompt(written, source.folder) for phase, written in team.prompts.by_phase().items()}
    return msgspec.structs.replace(team, prompts=Prompts(**prompts)) if prompts else team


def list_problems(target: TeamTarget) -> list[Problem]:
    """Return all problems, as `moot validate` prints them. Raises ConfigError if there is nothing to read."""
    return find_problems(read_team(target))


def list_built_in_teams() -> list[str]:
    """The names of the built-in teams. Some also exist in another language: `chat-demo.zh.yaml`."""
    files = (file.name.removesuffix(".yaml") for file in _teams().iterdir() if file.name.endswith(".yaml"))
    return sorted(name for name in files if "." not in name)


def _read_built_in(name: str) -> bytes | None:
    """Return a built-in team in the language of the locale, or in the one that its name ends with (`chat-demo.zh`)."""
    plain, _, language = name.partition(".")
    if plain not in list_built_in_teams() or language not in ("", *LANGUAGES):
        return None
    translated = _teams().joinpath(f"{plain}.{language or find_locale_language()}.yaml")
    return (translated if translated.is_file() else _teams().joinpath(f"{plain}.yaml")).read_bytes()


def _teams() -> "Traversable":
    from importlib import resources  # slow to import, and rarely needed

    return resources.files("moot").joinpath("teams")


def _name_origin(target: TeamTarget) -> str:
    return "team" if isinstance(target, Mapping) else os.fspath(target)


def _read(target: TeamTarget) -> Source:
    if isinstance(target, Mapping):
        # what only files need may be left out here
        return msgspec.structs.replace(read_object({"moot": 1, "name": "team", **target}), folder=Path())
    if not isinstance(target, str | os.PathLike):
        raise TypeError(f"a team is a path, the name of a built-in team, or a mapping, not {shorten(target)}")
    from moot.config.yaml_source import read_yaml  # only now: starting the program must not wait for PyYAML

    # a bare name means the built-in team, whatever lies in the current folder; `./name` means the file
    if isinstance(target, str) and (built_in := _read_built_in(target)) is not None:
        return read_yaml(built_in)
    path = Path(target)
    return msgspec.structs.replace(read_yaml(_read_file(path)), folder=path.parent)


def _suggest_file(path: Path) -> str:
    """Return the file beside it, or the built-in team, that is probably meant; else the built-in teams."""
    beside = [file for file in path.parent.glob("*.y*ml") if file.is_file()] if path.parent.is_dir() else []
    by_stem = {file.stem: str(file) for file in beside} | {name: name for name in list_built_in_teams()}
    near = suggest(path.stem, by_stem, "")
    stem = near.removeprefix("did you mean ").removesuffix("?").strip("'\"")
    if stem in by_stem:
        return f"did you mean {by_stem[stem]!r}?"
    return f"built-in teams: {join_choices(list_built_in_teams())}"


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(limits.TEAM_FILE_BYTES + 1)  # one more tells that it is too large
    except FileNotFoundError:
        raise ConfigError(f"no team file {shorten(str(path))}; {_suggest_file(path)}") from None
    except IsADirectoryError:
        inside = shorten(str(path / "moot.yaml"))
        raise ConfigError(f"{shorten(str(path))} is a folder; name a team file in it, such as {inside}") from None
    except (OSError, ValueError) as error:  # ValueError: a name that no file system takes
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"cannot read team file {shorten(str(path))}: {reason}") from error
