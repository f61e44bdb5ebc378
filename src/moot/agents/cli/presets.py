"""The command-line agents that are known by name. Each is one value, a `Preset`, beside the reader of its output.

`moot.extensions.PRESETS` lists them; a package adds one by an entry point of the group `moot.presets`. The prompt is
passed by stdin, so that no message becomes part of a command line. The id of a conversation comes from the program
itself and is used only if it is a UUID, as all of them use.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from moot.agents.answer_shapes import Shape
from moot.agents.cli.dialect import Dialect
from moot.agents.live.live_member import LiveProtocol
from moot.agents.permits import Permissions
from moot.core.errors import ConfigError
from moot.core.session.attachments import HandedFile
from moot.core.session.usage import Usage
from moot.extensions import PRESETS


class Login(Struct, frozen=True, kw_only=True):
    """Where a program keeps a login: a file in a folder of the home directory, or of the one that a variable names."""

    folder: str
    file: str
    variable: str = ""


class Preset(Struct, frozen=True, kw_only=True):
    """How one program is started without a terminal, read, and found on a machine.

    Args:
        name: What team files call it, and the program itself.
        argv: Makes the command line from a model, the permissions, and the id of a conversation to resume.
        reader: Makes a reader of one turn's output, given what the conversation had spent before.
        names: Environment variables that are passed on if they are set.
        keys: Those of `names` that hold a key; any of them counts as a login. The first is recommended.
        login: Where a login is kept.
        environment: Set for every turn.
        install: The command that installs it.
        tested_with: The version that the reader was written for.
        attach: Makes further arguments from the files of a turn, whose paths the prompt tells.
        shape: Makes further arguments for an answer of a form; the file holds its strict schema.
        live: How it is talked to over a program that stays between turns, if it can be.
        provider: Whose models it uses, by the name in OpenTelemetry's GenAI conventions; empty if there are several.
    """

    name: str
    argv: Callable[[str | None, Permissions, str | None], tuple[str, ...]]
    reader: Callable[[Usage], Dialect]
    names: tuple[str, ...]
    keys: tuple[str, ...]
    login: Login
    install: str
    tested_with: str
    environment: dict[str, str] = {}
    attach: Callable[[Sequence[HandedFile]], tuple[str, ...]] = lambda _: ()
    shape: Callable[[Shape, Path], tuple[str, ...]] = lambda *_: ()
    live: LiveProtocol | None = None
    provider: str = ""


def find_preset(name: str) -> Preset:
    """Return the preset of this name. Raises ConfigError if there is none, or a package's entry is not a Preset."""
    entry = PRESETS.find(name)
    if not isinstance(entry, Preset):
        known = ", ".join(PRESETS.names())
        raise ConfigError(
            f"no preset {name!r}; there are {known}" if entry is None else f"{name!r} is no Preset: {entry!r}"
        )
    return entry


def list_presets() -> list[Preset]:
    return [find_preset(name) for name in PRESETS.names()]


def option(flag: str, value: str | None) -> tuple[str, ...]:
    """Return a flag with its value; nothing without a value."""
    return (flag, value) if value else ()
