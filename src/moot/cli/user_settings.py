"""The user's settings for all sessions: `$MOOT_CONFIG`, else moot/config.yaml in the configuration folder."""

import re
from itertools import pairwise
from typing import Annotated, TypedDict
from urllib.parse import urlsplit

from msgspec import Meta, Struct, convert
from msgspec.structs import replace

from moot.agents.live.pool import IDLE_S, MAX_PROCESSES
from moot.config.message_format import describe_value, suggest
from moot.config.own_folders import find_settings_file
from moot.config.problem import Problem
from moot.config.source import Source
from moot.config.type_check import check, read_type
from moot.config.yaml_source import read_yaml
from moot.core.errors import ConfigError
from moot.tui.alerts import DEFAULT_ALERTS, Alert
from moot.tui.keys import DEFAULTS, Keys, Pressed, find_key_problems

PLACE = re.compile(r"\{(session|title|kind|question|link)\}")  # in an argument of `notify.command`
_RUNS_TEXT = ("-c", "-e", "-E", "-lc", "-ic", "-Command", "--command", "--eval", "/c", "/C")  # of shells and languages


class Notify(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How this person is told that a session needs them: a command, a URL that is posted JSON, the terminal itself."""

    command: tuple[str, ...] = ()
    url: str = ""
    debounce_s: Annotated[float, Meta(ge=0, le=3_600)] = 3.0  # what is answered sooner is not told
    terminal: tuple[Alert, ...] = DEFAULT_ALERTS


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`idle_s` and `max_processes` are about members' programs that stay between turns."""

    keys: dict[str, str | tuple[str, ...]] = {}
    notify: Notify = Notify()
    idle_s: Annotated[float, Meta(ge=0, le=86_400)] = IDLE_S
    max_processes: Annotated[int, Meta(ge=0, le=1_000)] = MAX_PROCESSES


class KeptPrograms(TypedDict):
    """How long members' programs are kept between turns, and how many: for `open_app`."""

    idle_s: float
    max_processes: int


def read_keys() -> Keys:
    """Return the keys that the settings change. Raises ConfigError with every problem and its line."""
    return Keys(_list_changed(read_settings()))


def read_kept_programs() -> KeptPrograms:
    """Return what the settings say about members' programs. Raises ConfigError like `read_settings`."""
    settings = read_settings()
    return {"idle_s": settings.idle_s, "max_processes": settings.max_processes}


def read_settings() -> Settings:
    """Return the settings of this person. Raises ConfigError with every problem and its line."""
    path = find_settings_file()
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise ConfigError(f"cannot read settings {path}: {error.strerror}") from error
    if all(not line.strip() or line.lstrip().startswith(b"#") for line in data.splitlines()):
        return Settings()  # no settings but comments
    source = _expand(read_yaml(data))
    problems = list(source.problems) or list(_find_problems(source))
    if problems:
        raise ConfigError("\n".join(_place(problem, source).format(str(path)) for problem in problems))
    return convert(source.data, Settings)


def _expand(source: Source) -> Source:
    """Take `notify: [argv]` and `notify: URL` for a mapping with only that."""
    if not isinstance(source.data, dict):
        return source
    match source.data.get("notify"):
        case list(command):
            notify: object = {"command": command}
        case str(url):
            notify = {"url": url}
        case None:
            return replace(source, data={key: value for key, value in source.data.items() if key != "notify"})
        case other:
            notify = other
    return replace(source, data={**source.data, "notify": notify})


def _find_problems(source: Source) -> list[Problem]:
    if not isinstance(source.data, dict):
        return [Problem(text=f"found {describe_value(source.data)}; settings are a mapping", hint="start with keys:")]
    problems = list(check(source.data, read_type(Settings)))
    if problems:
        return problems
    settings = convert(source.data, Settings)
    unknown = [action for action in settings.keys if action not in DEFAULTS]
    if unknown:
        hint = "the actions are"
        return [
            Problem(path=("keys", action), text=f"unknown action {action!r}", hint=suggest(action, DEFAULTS, hint))
            for action in unknown
        ]
    found = [Problem(path=("keys", action), text=text) for action, text in find_key_problems(_list_changed(settings))]
    return found + _find_notify_problems(settings.notify)


def _find_notify_problems(notify: Notify) -> list[Problem]:
    parts = urlsplit(notify.url)
    if notify.url and (parts.scheme not in ("http", "https") or not parts.hostname):
        return [Problem(path=("notify", "url"), text="expected a URL that begins with https:// or http://")]
    if notify.command and not notify.command[0].strip():
        return [Problem(path=("notify", "command"), text="the program has no name")]
    return [
        Problem(
            path=("notify", "command"),
            text=f"what stands in {{title}} would be run as a part of the program behind {option}",
            hint='give it as an argument of its own: [sh, -c, notify-send "$1", sh, "{title}"]',
        )
        for option, program in pairwise(notify.command)
        if option in _RUNS_TEXT and PLACE.search(program)
    ][:1]


def _list_changed(settings: Settings) -> dict[str, Pressed]:
    return {action: (keys,) if isinstance(keys, str) else keys for action, keys in settings.keys.items()}


def _place(problem: Problem, source: Source) -> Problem:
    line = problem.line or source.find_line(problem.path)
    return Problem(path=problem.path, text=problem.text, hint=problem.hint, line=line)
