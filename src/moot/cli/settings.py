"""What a person has settled for all sessions: `$MOOT_CONFIG`, else moot/config.yaml in the folder of configurations."""

import os
from pathlib import Path

from msgspec import Struct, convert

from moot.config.problem import Problem
from moot.config.source import Source
from moot.config.type_check import check, read_type
from moot.config.wording import describe_value, suggest
from moot.config.yaml_source import read_yaml
from moot.core.errors import ConfigError
from moot.tui.keys import DEFAULTS, Keys, Pressed, find_key_problems


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    keys: dict[str, str | tuple[str, ...]] = {}


def settings_path() -> Path:
    if os.environ.get("MOOT_CONFIG"):
        return Path(os.environ["MOOT_CONFIG"])
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "moot" / "config.yaml"


def read_keys() -> Keys:
    """Raises ConfigError with every problem and its line; without a file there is none."""
    path = settings_path()
    try:
        written = path.read_bytes()
    except FileNotFoundError:
        return Keys()
    except OSError as error:
        raise ConfigError(f"cannot read settings {path}: {error.strerror}") from error
    if all(not line.strip() or line.lstrip().startswith(b"#") for line in written.splitlines()):
        return Keys()  # nothing is settled yet
    source = read_yaml(written)
    problems = list(source.problems) or list(_find_problems(source))
    if problems:
        raise ConfigError("\n".join(_place(each, source).format(str(path)) for each in problems))
    return Keys(_changed(source))


def _find_problems(source: Source) -> list[Problem]:
    if not isinstance(source.data, dict):
        return [Problem(text=f"found {describe_value(source.data)}; settings are a mapping", hint="start with keys:")]
    problems = list(check(source.data, read_type(Settings)))
    if problems:
        return problems
    unknown = [each for each in source.data.get("keys") or () if each not in DEFAULTS]
    if unknown:
        hint = "the actions are"
        return [
            Problem(path=("keys", each), text=f"unknown action {each!r}", hint=suggest(each, DEFAULTS, hint))
            for each in unknown
        ]
    return [Problem(path=("keys", action), text=text) for action, text in find_key_problems(_changed(source))]


def _changed(source: Source) -> dict[str, Pressed]:
    settings = convert(source.data, Settings)
    return {action: (keys,) if isinstance(keys, str) else keys for action, keys in settings.keys.items()}


def _place(problem: Problem, source: Source) -> Problem:
    line = problem.line or source.find_line(problem.path)
    return Problem(path=problem.path, text=problem.text, hint=problem.hint, line=line)
