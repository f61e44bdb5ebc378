"""Rules of the house that a test can check (style.md)."""

import ast
import re
from pathlib import Path

import pytest

from tests.tidy.sources import PACKAGE, ROOT, list_files, list_python_files, parse, place

MAX_FILE_LINES, MAX_FUNCTION_LINES = 400, 60
PYTHON = list_python_files()
TESTS = [path for path in list_python_files(ROOT / "tests") if path.name.startswith("test_")]
VAGUE = re.compile(r"(.*_)?(utils?|helpers?|managers?|common|misc)|base_.*")
FOLDERS_OF_A_MACHINE = tuple(f"/{name}/" for name in ("work", "farm"))
PACKAGE_INDEX = re.compile(r"--(extra-)?index-url|--trusted-host|--find-links|https?://[^\s\"']+/simple\b")


def functions_of(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(parse(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def read_text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None  # a picture, a database


@pytest.mark.parametrize("path", PYTHON, ids=place)
def test_files_stay_small(path: Path) -> None:
    """House style: a file that reaches 400 lines hides a noun."""
    assert len(path.read_text(encoding="utf-8").splitlines()) < MAX_FILE_LINES


@pytest.mark.parametrize("path", PYTHON, ids=place)
def test_functions_stay_small(path: Path) -> None:
    """House style: functions stay under 60 lines."""
    long = [
        f"{place(path)}:{function.lineno} {function.name}"
        for function in functions_of(path)
        if (function.end_lineno or 0) - function.lineno + 1 >= MAX_FUNCTION_LINES
    ]
    assert long == []


def test_modules_are_named_after_what_they_hold() -> None:
    """House style: no utils, helpers, manager, base_."""
    assert [place(path) for path in PYTHON if VAGUE.fullmatch(path.stem)] == []


@pytest.mark.parametrize("path", list_python_files(PACKAGE), ids=place)
def test_modules_say_what_they_are(path: Path) -> None:
    """House style: every module with code has a docstring; an empty __init__.py needs none."""
    tree = parse(path)
    assert ast.get_docstring(tree) or not tree.body


@pytest.mark.parametrize("path", TESTS, ids=place)
def test_tests_state_their_rule(path: Path) -> None:
    """House style: each test has a docstring that states the rule."""
    silent = [
        f"{place(path)}:{function.lineno} {function.name}"
        for function in functions_of(path)
        if function.name.startswith("test_") and not ast.get_docstring(function)
    ]
    assert silent == []


def test_no_file_knows_the_machine_it_was_written_on() -> None:
    """House style: no path of a machine and no package index of a network in the repository."""
    found = []
    for path in list_files():
        for number, line in enumerate((read_text(path) or "").splitlines(), start=1):
            if any(re.search(rf"(?<![\w.~}}]){folder}", line) for folder in FOLDERS_OF_A_MACHINE):
                found.append(f"{place(path)}:{number} {line.strip()[:80]}")
            if PACKAGE_INDEX.search(line) and path != Path(__file__):
                found.append(f"{place(path)}:{number} {line.strip()[:80]}")
    assert found == []
