"""The public interface: what it has, what it costs, and that examples and pages use nothing else."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import moot
from moot.core.flows import registry
from tests.docs.blocks import PAGES, find_blocks
from tests.tidy.sources import ROOT, place

PUBLIC = {"moot", "moot.commands", "moot.errors", "moot.events", "moot.testing"}
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def list_imports(source: str) -> set[str]:
    """The modules of Moot that some code imports."""
    nodes = list(ast.walk(ast.parse(source)))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    named = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name for name in plain | named if name.split(".")[0] == "moot"}


@pytest.mark.parametrize("path", EXAMPLES, ids=place)
def test_examples_use_the_public_interface(path: Path) -> None:
    """What an example imports is stable."""
    assert list_imports(path.read_text(encoding="utf-8")) - PUBLIC == set()


@pytest.mark.parametrize("page", PAGES, ids=place)
def test_pages_use_the_public_interface(page: Path) -> None:
    """Code on a page imports what is stable; so does Python on a command line."""
    blocks = find_blocks(page)
    for block in blocks:
        if block.language == "python":
            assert list_imports(block.body) - PUBLIC == set(), block.place
        elif block.language == "console":
            assert set(re.findall(r"(?:from|import) (moot[\w.]*)", block.body)) - PUBLIC == set(), block.place


@pytest.mark.parametrize("name", moot.__all__)
def test_every_public_name_is_there(name: str) -> None:
    """A lazily imported name leads somewhere."""
    assert getattr(moot, name) is not None
    assert name in dir(moot)


@pytest.mark.parametrize("module", sorted(PUBLIC - {"moot"}))
def test_public_modules_say_what_they_have(module: str) -> None:
    """Every name of `__all__` exists."""
    loaded = importlib.import_module(module)
    assert [name for name in loaded.__all__ if not hasattr(loaded, name)] == []


def test_every_kind_of_event_is_public() -> None:
    """Whatever `event.fact` may be can be imported from moot.events."""
    assert [kind.__name__ for kind in registry.FACTS if getattr(moot.events, kind.__name__, None) is not kind] == []


def test_every_command_of_people_is_public() -> None:
    """Whatever `session.submit` takes can be imported from moot.commands."""
    kinds = moot.commands.HumanCommand.__subclasses__()
    assert [kind.__name__ for kind in kinds if kind.__name__ not in moot.commands.__all__] == []


def test_importing_moot_imports_nothing_else() -> None:
    """`import moot` must not slow down a program that may not need it."""
    code = "import sys, moot; print([name for name in sys.modules if name.startswith('moot.') or name == 'msgspec'])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"


def test_a_name_that_is_not_there_is_named() -> None:
    """The error lists what there is."""
    with pytest.raises(AttributeError, match="has no attribute 'opne'; it has open, connect"):
        moot.opne  # type: ignore[attr-defined] # noqa: B018
