"""The user's settings for all sessions: `$MOOT_CONFIG`, else moot/config.yaml in the configuration folder."""

from msgspec import Struct, convert

from moot.config.message_format import describe_value, suggest
from moot.config.own_folders import find_settings_file
from moot.config.problem import Problem
from moot.config.source import Source
from moot.config.type_check import check, read_type
from moot.config.yaml_source import read_yaml
from moot.core.errors import ConfigError
from moot.tui.keys import DEFAULTS, Keys, Pressed, find_key_problems


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    keys: dict[str, str | tuple[str, ...]] = {}


def read_keys() -> Keys:
    """Return the keys that the settings change. Raises ConfigError with every problem and its line."""
    path = find_settings_file()
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Keys()
    except OSError as error:
        raise ConfigError(f"cannot read settings {path}: {error.strerror}") from error
    if all(not line.strip() or line.lstrip().startswith(b"#") for line in data.splitlines()):
        return Keys()  # no settings but comments
    source = read_yaml(data)
    problems = list(source.problems) or list(_find_problems(source))
    if problems:
        raise ConfigError("\n".join(_place(problem, source).format(str(path)) for problem in problems))
    return Keys(_changed(source))


def _find_problems(source: Source) -> list[Problem]:
    if not isinstance(source.data, dict):
        return [Problem(text=f"found {describe_value(source.data)}; settings are a mapping", hint="start with keys:")]
    problems = list(check(source.data, read_type(Settings)))
    if problems:
        return problems
    unknown = [action for action in source.data.get("keys") or () if action not in DEFAULTS]
    if unknown:
        hint = "the actions are"
        return [
            Problem(path=("keys", action), text=f"unknown action {action!r}", hint=suggest(action, DEFAULTS, hint))
            for action in unknown
        ]
    return [Problem(path=("keys", action), text=text) for action, text in find_key_problems(_changed(source))]


def _changed(source: Source) -> dict[str, Pressed]:
    settings = convert(source.data, Settings)
    return {action: (keys,) if isinstance(keys, str) else keys for action, keys in settings.keys.items()}


def _place(problem: Problem, source: Source) -> Problem:
    line = problem.line or source.find_line(problem.path)
    return Problem(path=problem.path, text=problem.text, hint=problem.hint, line=line)
