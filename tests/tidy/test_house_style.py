"""Rules of the house that a test can check (CONTRIBUTING.md)."""

import ast
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.tidy.sources import PACKAGE, ROOT, list_files, list_python_files, parse, place

MAX_FILE_LINES, MAX_FUNCTION_LINES = 600, 60
MAX_ARCHITECTURE_WORDS = 1_500
MAX_UNUSED_ARGUMENTS = 4  # lines in src with `noqa: ARG001`; lower it when there are fewer
PYTHON = list_python_files()
TESTS = [path for path in list_python_files(ROOT / "tests") if path.name.startswith("test_")]
VAGUE = re.compile(r"(.*_)?(utils?|helpers?|managers?|common|misc)|base_.*")
FOLDERS_OF_A_MACHINE = tuple(f"/{name}/" for name in ("work", "farm"))
ROOT_ENTRIES = {
    *(".ci", ".dockerignore", ".github", ".gitignore", "Dockerfile", "MANIFEST.in", "compose.yaml", "mkdocs.yml"),
    *("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile"),
    *("README.md", "README.zh.md", "SECURITY.md", "bench", "docs", "examples", "pyproject.toml"),
    *("requirements.lock", "requirements-run.lock"),
    *("sim", "src", "tests", "web"),
}
RUN_ARTEFACT = re.compile(r".*\.(token|db|db-\w+|sqlite\d?|log|pid|sock|pyc|lock)|tokens\.json")
UNKNOWN_DOCUMENT = re.compile(r"(?<!/)\b([Ss]eeds? 00\d|[Ss]pec[/ ]\d|E\d{2}|[Ii]ssue \d+)\b")
PACKAGE_INDEX = re.compile(r"--(extra-)?index-url|--trusted-host|--find-links|https?://[^\s\"']+/simple\b")


def functions_of(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(parse(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def read_lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def read_text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None  # a picture, a database


def test_files_stay_small() -> None:
    """A file holds one noun and has fewer than 600 lines."""
    assert [place(path) for path in PYTHON if len(read_lines(path)) >= MAX_FILE_LINES] == []


def test_functions_stay_small() -> None:
    """A function has fewer than 60 lines."""
    long = [
        f"{place(path)}:{function.lineno} {function.name}"
        for path in PYTHON
        for function in functions_of(path)
        if (function.end_lineno or 0) - function.lineno + 1 >= MAX_FUNCTION_LINES
    ]
    assert long == []


def test_the_page_on_architecture_can_be_read_at_once() -> None:
    """ARCHITECTURE.md has at most 1,500 words; reasons stand in docs/decisions."""
    words = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split()
    assert len(words) <= MAX_ARCHITECTURE_WORDS


def test_modules_are_named_after_what_they_hold() -> None:
    """No utils, helpers, manager, base_."""
    assert [place(path) for path in PYTHON if VAGUE.fullmatch(path.stem)] == []


def test_no_name_is_used_by_three_files() -> None:
    """A line of a stack trace names its file: at most two files of the package share a base name."""
    # the modules of the package itself define nothing but the root of the app: they repeat public names
    inner = [path for path in list_python_files(PACKAGE) if path.name != "__init__.py" and path.parent != PACKAGE]
    names = Counter(path.name for path in inner)
    assert {name for name, count in names.items() if count > 2} == set()


def test_unused_arguments_do_not_grow() -> None:
    """A function that takes what it does not use needs a reason, and the number of such functions only falls."""
    lines = [line for path in list_python_files(PACKAGE) for line in read_lines(path) if "noqa: ARG001" in line]
    assert len(lines) <= MAX_UNUSED_ARGUMENTS


def test_modules_say_what_they_are() -> None:
    """Every module with code has a docstring; an empty __init__.py needs none."""
    trees = {place(path): parse(path) for path in list_python_files(PACKAGE)}
    assert [name for name, tree in trees.items() if tree.body and not ast.get_docstring(tree)] == []


def test_tests_state_their_rule() -> None:
    """Each test has a docstring that states the rule."""
    silent = [
        f"{place(path)}:{function.lineno} {function.name}"
        for path in TESTS
        for function in functions_of(path)
        if function.name.startswith("test_") and not ast.get_docstring(function)
    ]
    assert silent == []


def test_the_root_holds_what_it_is_known_to_hold() -> None:
    """A new entry beside README.md is added to this list on purpose."""
    assert {path.relative_to(ROOT).parts[0] for path in list_files()} - ROOT_ENTRIES == set()


def test_nothing_that_a_run_leaves_behind_is_kept() -> None:
    """No tokens, databases, logs or locks in the repository; the list of pinned packages is no such lock."""
    kept = [place(path) for path in list_files() if RUN_ARTEFACT.fullmatch(path.name)]
    assert kept == ["requirements-run.lock", "requirements.lock"]


def test_what_is_made_is_not_kept() -> None:
    """No file that .gitignore names is in the repository: the built page, caches, results."""
    kept = ["git", "ls-files", "--cached", "--ignored", "--exclude-standard"]  # nothing where there is no git
    assert subprocess.run(kept, cwd=ROOT, capture_output=True, text=True, check=False).stdout.splitlines() == []


def test_what_runs_is_what_is_tested() -> None:
    """`make run` installs a part of what the tests install, in the same versions."""
    tested, run = (
        set(re.findall(r"^\S+==\S+", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE))
        for name in ("requirements.lock", "requirements-run.lock")
    )
    assert run < tested


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-run.lock"])
def test_every_pinned_package_has_hashes(name: str) -> None:
    """A lock gives the hashes of each package's files and names no server that they come from."""
    lock = (ROOT / name).read_text(encoding="utf-8")
    packages = re.split(r"\n(?=\S)", lock.strip())
    assert [package for package in packages if not re.search(r"\n    --hash=sha256:[0-9a-f]{64}", package)] == []
    assert re.findall(r"://|--(?:extra-)?index|--find-links|--trusted", lock) == []


def test_documents_that_are_cited_are_here() -> None:
    """Code, tests and pages cite pages of this repository, never documents that a reader does not have."""
    cited = [
        f"{place(path)}:{number}"
        for path in list_files()
        if path.suffix in (".py", ".js", ".mjs", ".md", ".yaml") and path != Path(__file__)
        for number, line in enumerate((read_text(path) or "").splitlines(), start=1)
        if UNKNOWN_DOCUMENT.search(line)
    ]
    assert cited == []


def test_no_file_knows_the_machine_it_was_written_on() -> None:
    """No path of a machine and no package index of a network in the repository."""
    folder = re.compile(rf"(?<![\w.~}}])(?:{'|'.join(FOLDERS_OF_A_MACHINE)})")
    found = []
    for path in list_files():
        text = read_text(path) or ""
        hits = [*folder.finditer(text), *(PACKAGE_INDEX.finditer(text) if path != Path(__file__) else ())]
        found += [f"{place(path)}:{text.count(chr(10), 0, hit.start()) + 1} {hit[0]}" for hit in hits]
    assert found == []
