"""What can be added to Moot from outside: stores, agent types and presets of command-line agents.

Each of the three is a table from names to `module:attribute`. Moot's own entries stand here; a package that is
installed beside Moot adds one by an entry point of the table's group, for example in its `pyproject.toml`:

    [project.entry-points."moot.stores"]
    postgresql = "my_package.store:PostgresStore"

Nothing is imported before it is looked up, and the metadata of installed packages is not read for a built-in name.
The pages `docs/python.md#extensions` and `docs/agents.md` say what an entry must be.
"""

import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from moot.core.errors import ConfigError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


@lru_cache(maxsize=8)
def _read_entry_points(group: str, path: tuple[str, ...]) -> "list[EntryPoint]":
    """The entries of a group in the metadata of every package on `path`."""
    from importlib import metadata  # slow to import, and rarely needed

    packages = metadata.distributions(path=list(path))
    return [entry for package in packages for entry in package.entry_points.select(group=group)]


class Extensions:
    """The built-in entries of one group and those of installed packages. A built-in name cannot be replaced."""

    def __init__(self, group: str, built_in: Mapping[str, str]) -> None:
        self._group = group
        self._built_in = built_in

    def find(self, name: str) -> Any | None:
        """Import the entry called `name`; None if there is none.

        Raises ConfigError if an installed package declares the entry and it cannot be imported.
        """
        if name in self._built_in:
            module, _, attribute = self._built_in[name].partition(":")
            return getattr(importlib.import_module(module), attribute)
        for entry in self._installed():
            if entry.name == name:
                return self._load(entry)
        return None

    def is_built_in(self, name: str) -> bool:
        return name in self._built_in

    def names(self) -> list[str]:
        """The built-in names in their order, then the installed ones in the order of the alphabet."""
        return list(dict.fromkeys([*self._built_in, *sorted(entry.name for entry in self._installed())]))

    def items(self) -> Iterator[tuple[str, Any]]:
        """Every name with its imported entry. Raises ConfigError like `find`."""
        for name in self.names():
            yield name, self.find(name)

    def _installed(self) -> "list[EntryPoint]":
        # what lies in the current folder is not installed: it may have come with a team file that nobody trusts
        here = os.getcwd()
        path = tuple(place for place in sys.path if place and os.path.abspath(place) != here)
        return _read_entry_points(self._group, path)

    def _load(self, entry: "EntryPoint") -> Any:
        try:
            return entry.load()
        except Exception as error:  # whatever the other package does wrong
            package = entry.dist.name if entry.dist else "an installed package"
            raise ConfigError(
                f"{package} declares {self._group} entry {entry.name!r}, which cannot be loaded "
                f"({type(error).__name__}: {error}); update or uninstall it"
            ) from error


AGENTS = Extensions(
    "moot.agents",
    {
        "script": "moot.agents.script:ScriptAgent",
        "llm": "moot.agents.llm.llm_agent:LlmAgent",
        "cli": "moot.agents.cli.cli_agent:CliAgent",
        "acp": "moot.agents.acp.acp_agent:AcpAgent",
        "python": "moot.agents.python:PythonAgent",
    },
)
PRESETS = Extensions(
    "moot.presets",
    {
        "claude": "moot.agents.cli.claude_live:CLAUDE",
        "codex": "moot.agents.cli.codex_live:CODEX",
        "gemini": "moot.agents.cli.acp_presets:GEMINI",
        "qwen": "moot.agents.cli.acp_presets:QWEN",
        "opencode": "moot.agents.cli.acp_presets:OPENCODE",
    },
)
STORES = Extensions(
    "moot.stores",
    {
        "memory": "moot.runtime.stores.memory:MemoryStore",
        "sqlite": "moot.runtime.stores.sqlite:SqliteStore",
        "postgresql": "moot.runtime.stores.postgres.store:PostgresStore",
        "postgres": "moot.runtime.stores.postgres.store:PostgresStore",
    },
)
