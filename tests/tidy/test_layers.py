"""The direction of imports and the purity of the core (ARCHITECTURE.md)."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tidy.sources import PACKAGE, list_python_files, parse, place

# core ← runtime ← {agents, gateway, cli}; config is beside runtime; protocol and telling are shared by gateway and
# clients; only app and cli wire. "moot" is the package's front page.
MAY_IMPORT: dict[str, set[str]] = {
    "languages": set(),
    "core": {"core", "languages"},
    "extensions": {"core"},
    "runtime": {"core", "extensions", "runtime"},
    "config": {"core", "extensions", "languages", "config"},
    "agents": {"core", "extensions", "runtime", "config", "agents"},
    "testing": {"core", "runtime", "config", "agents", "app", "protocol", "testing"},
    "conversation": {"core"},
    "app": {"core", "runtime", "config", "agents", "conversation", "app", "moot"},
    "protocol": {"core", "protocol"},
    "telling": {"core", "telling"},
    "gateway": {"core", "runtime", "config", "app", "protocol", "telling", "gateway", "moot"},
    "client": {"core", "runtime", "conversation", "protocol", "client", "moot"},
    "worker": {"core", "runtime", "protocol", "client", "worker"},
    "tui": {"core", "app", "protocol", "telling", "client", "tui"},
    "cli": {
        *("core", "runtime", "config", "agents", "app", "protocol", "telling", "gateway", "client", "tui", "cli"),
        *("conversation", "worker", "moot"),
    },
    "moot": {
        *("core", "runtime", "config", "agents", "app", "client", "conversation", "testing", "moot"),
    },
    "pytest_plugin": {"config", "testing"},
    "__main__": {"cli"},
}
THIRD_PARTY: dict[str, set[str]] = {
    "languages": set(),
    "core": {"msgspec"},
    "extensions": set(),
    "runtime": {"asyncpg", "msgspec", "opentelemetry"},
    "config": {"msgspec", "yaml"},
    "agents": {"acp", "anyio", "fastmcp", "genai_prices", "mcp", "msgspec", "pydantic", "pydantic_ai"},
    "testing": {"msgspec"},
    "conversation": {"msgspec"},
    "app": {"msgspec"},
    "protocol": {"msgspec"},
    "telling": {"msgspec"},
    "gateway": {"h11", "itsdangerous", "msgspec", "prometheus_client", "starlette", "uvicorn", "websockets"},
    "client": {"msgspec", "websockets"},
    "worker": {"msgspec", "websockets"},
    "tui": {"markdown_it", "msgspec", "pygments", "rich", "textual"},
    "cli": {"msgspec", "uvloop"},
    "moot": set(),
    "pytest_plugin": {"pytest"},
    "__main__": set(),
}
PURE = {  # modules of the standard library without clock, randomness, files, sockets, threads or logging
    *("abc", "bisect", "collections", "contextlib", "dataclasses", "datetime", "difflib", "enum", "functools"),
    *("graphlib", "hashlib", "heapq", "html", "itertools", "json", "math", "operator", "re", "string", "typing"),
    "unicodedata",
}
IMPURE = {
    *("asyncio", "io", "logging", "os", "pathlib", "random", "secrets", "socket", "sqlite3"),
    *("subprocess", "sys", "tempfile", "threading", "time", "uuid"),
}
# The catalogue of texts is package data that a translator edits: it is read once, at import, and constant from then on.
READS_ITS_TEXTS = {"src/moot/core/texts.py": {"pathlib"}}
IMPURE_CALLS = {"open", "print", "input", "exec", "eval", "__import__"}
CLOCK_CALLS = {"now", "utcnow", "today"}  # of datetime; reckoning with instants is pure
WAITING = (ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith)

FRONT_PAGE = ("__init__.py", "commands.py", "errors.py", "events.py")  # the public names, defined elsewhere
MODULES = list_python_files(PACKAGE)
CORE = list_python_files(PACKAGE / "core")
PROTOCOL = list_python_files(PACKAGE / "protocol")
TELLING = list_python_files(PACKAGE / "telling")


def layer_of(path: Path) -> str:
    """The first folder or file below the package: core/draft.py → core, app.py → app, __init__.py → moot."""
    first = path.relative_to(PACKAGE).parts[0]
    return "moot" if first in FRONT_PAGE else first.removesuffix(".py")


LAYERS = {layer_of(path) for path in MODULES}


def imports_of(path: Path) -> Iterator[tuple[int, str]]:
    """Every import with its line, also inside functions and under TYPE_CHECKING: they all are dependencies."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{place(path)}:{node.lineno}: a relative import hides the direction"
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}"


def ours(name: str) -> str | None:
    """The layer that `moot.core.team.Team` belongs to; None for what is not ours."""
    head, _, rest = name.partition(".")
    if head != "moot":
        return None
    first = rest.partition(".")[0]
    return first if first in LAYERS else "moot"


def test_every_layer_has_its_place() -> None:
    """A new room gets a rule before it gets code."""
    assert sorted(LAYERS - set(MAY_IMPORT)) == []


def test_imports_point_inwards() -> None:
    """core ← runtime ← {agents, cli}; nothing but app and cli knows them all."""
    wrong = [
        f"{place(path)}:{line} imports {name}"
        for path in MODULES
        for line, name in imports_of(path)
        if (target := ours(name)) and target not in MAY_IMPORT[layer_of(path)]
    ]
    assert wrong == []


def test_other_packages_are_used_where_they_belong() -> None:
    """Each library has its layer."""
    known = set(sys.stdlib_module_names) | {"moot"}
    wrong = [
        f"{place(path)}:{line} {name}"
        for path in MODULES
        for line, name in imports_of(path)
        if name.split(".")[0] not in known | THIRD_PARTY[layer_of(path)]
    ]
    assert wrong == []


def test_one_package_knows_the_library_for_models() -> None:
    """pydantic-ai and what comes with it stay behind one adapter."""
    libraries = ("pydantic_ai", "fastmcp", "openai", "anthropic", "google")
    users = {place(path) for path in MODULES for _, name in imports_of(path) if name.split(".")[0] in libraries}
    assert users
    assert all(path.startswith("src/moot/agents/llm/") for path in users)


def test_one_module_serves_mcp() -> None:
    """The members' own server is the only user of the library for MCP servers."""
    users = {place(path) for path in MODULES for _, name in imports_of(path) if name.split(".")[0] == "mcp"}
    assert users == {"src/moot/agents/member_sockets.py"}


def test_one_module_knows_the_server_library() -> None:
    """uvicorn's protocols are subclassed in one place, whose page says what it relies on."""
    users = {
        place(path) for path in MODULES for _, name in imports_of(path) if name.split(".")[0] in ("uvicorn", "h11")
    }
    assert users == {"src/moot/gateway/uvicorn_port.py"}


def test_nobody_names_a_store() -> None:
    """Outside of the stores an address is turned into a store by its scheme: a new one changes no other module."""
    users = {
        f"{place(path)}:{line} {name}"
        for path in MODULES
        for line, name in imports_of(path)
        if name.startswith("moot.runtime.stores.")
        and not name.startswith("moot.runtime.stores.store.")
        and not place(path).startswith("src/moot/runtime/stores/")
    }
    assert users == set()


def test_only_app_and_cli_wire() -> None:
    """One place chooses the log, the clock and the workers."""
    parts = ("moot.runtime.stores", "moot.runtime.sessions", "moot.runtime.dispatch", "moot.agents.roster")
    users = {
        layer_of(path)
        for path in MODULES
        for _, name in imports_of(path)
        if name.startswith(parts) and not place(path).startswith("src/moot/runtime/")
    }
    assert users == {"app", "cli"}


@pytest.mark.parametrize("path", [*CORE, *PROTOCOL, *TELLING], ids=place)
def test_core_protocol_and_telling_are_pure(path: Path) -> None:
    """No await, clock, randomness, ids, files, sockets, logging in the core, the protocol and the teller."""
    imported = {name.split(".")[0] for _, name in imports_of(path)} - READS_ITS_TEXTS.get(place(path), set())
    assert imported - PURE - {"moot", "msgspec"} == set()
    for node in ast.walk(parse(path)):
        assert not isinstance(node, WAITING), f"{place(path)}:{node.lineno}: the core does not wait"
        assert not isinstance(node, ast.Global), f"{place(path)}:{node.lineno}: the core holds no state"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in IMPURE_CALLS, f"{place(path)}:{node.lineno}: {node.func.id}()"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            assert node.func.attr not in CLOCK_CALLS, f"{place(path)}:{node.lineno}: {node.func.attr}()"


def test_the_lists_of_modules_do_not_contradict() -> None:
    """What is known to be impure is never on the list of what the core may use."""
    assert set() == PURE & IMPURE
    assert sys.stdlib_module_names >= PURE | IMPURE
    assert len(CORE) > 20  # the files are really found
