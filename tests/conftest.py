"""What every test has: a scratch folder to run in, the same hypothesis examples, a repository that stays clean."""

import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[1]
TREE_BEFORE = pytest.StashKey[set[str]]()

settings.register_profile(
    "moot",
    derandomize="MOOT_EXPLORE" not in os.environ,  # the same examples every time, unless new ones are looked for
    deadline=None,  # machines are noisy
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=100,
    database=None,
)
settings.load_profile("moot")


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the tests run that ask for none of their own."""
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture(autouse=True)
def run_in_scratch(request: pytest.FixtureRequest, scratch: Path) -> Generator[None]:
    """Run each test outside of the repository: what it writes by a relative path must not land in a commit."""
    folder = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else scratch
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("MOOT_DATA", str(folder / "data"))
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))  # where members' trees lie
        patch.delenv("MOOT_STORE", raising=False)
        yield


def pytest_sessionstart(session: pytest.Session) -> None:
    """Make the page, once, if its sources changed since `make` did. What cannot be made is told by the tests of it."""
    if not hasattr(session.config, "workerinput"):
        subprocess.run([sys.executable, ROOT / "web" / "make_page.py"], check=False)
    session.config.stash[TREE_BEFORE] = list_changes()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that left files behind in the repository. With xdist the process that collects the results looks."""
    if hasattr(session.config, "workerinput"):
        return
    before = session.config.stash[TREE_BEFORE]
    left = sorted(list_changes() - before)
    if left:
        print("\nthe tests changed the repository (git status):", *left, sep="\n  ")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def list_changes() -> set[str]:
    """The lines of `git status`; none where the repository is not one of git."""
    command = ["git", "--no-optional-locks", "status", "--porcelain", "--untracked-files=all"]
    try:
        status = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return set()
    return set(status.stdout.splitlines())
