"""What trees cost beside plain git: making one, and recording a turn, as ratios.

    python -m bench.workspaces [FILES]

Both sides work on the same repository, one after the other, several times; the median counts. The bounds are those of
docs/workspaces.md: 1.5 times what git itself takes.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from moot.runtime.workspaces.recordings import Author, write_message
from moot.runtime.workspaces.trees import SessionTrees

FILES, ROUNDS, CHANGED = 50_000, 5, 20
BOUND = 1.5
AUTHOR = Author(name="Bench", id="bench", at="2026-01-01T00:00:00.000Z")
IDENTITY = ("-c", "user.name=Bench", "-c", "user.email=bench@example.org")


def run_git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *IDENTITY, *arguments], cwd=folder, check=True, capture_output=True)  # noqa: S607 - on the path


def make_repository(top: Path, files: int) -> None:
    for number in range(files):
        path = top / f"d{number // 500:03}" / f"f{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"file {number}\n" * 20)
    run_git(top, "init", "--quiet")
    run_git(top, "add", "--all")
    run_git(top, "commit", "--quiet", "--message", "start")


def measure(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def change(folder: Path, number: str) -> None:
    """What a turn does: edit some files, add one."""
    for at in range(CHANGED):
        (folder / f"d{at % 5:03}" / f"f{(at % 5) * 500 + at}.txt").write_text(f"changed {number} {at}\n")
    (folder / f"new-{number}.txt").write_text("new\n")


def compare(top: Path, root: Path) -> dict[str, tuple[float, float]]:
    """Return seconds of git and of Moot, for making a tree and for recording a turn."""
    trees = SessionTrees(root / "moot", "s_bench", top)
    with trees.hold():
        clone = measure(trees.open_clone)
    print(f"the clone, once for a session: {clone:.2f} s")
    rounds = [_play_round(top, trees, root / f"plain-{number}", f"t{number}") for number in range(ROUNDS)]
    return {
        "making a tree": _median([made for made, _ in rounds]),
        "recording a turn": _median([recorded for _, recorded in rounds]),
    }


def _play_round(
    top: Path, trees: SessionTrees, plain: Path, name: str
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Make a tree and record a turn in it, both ways."""
    made = (
        measure(lambda: run_git(top, "worktree", "add", "--quiet", "-b", f"plain-{name}", str(plain))),
        measure(lambda: _make_tree(trees, name)),
    )
    time.sleep(1.1)  # git looks twice at files that changed in the second of its index
    run_git(plain, "status")
    _record(trees, name, "warm")
    change(plain, name)
    change(trees.path(name), name)
    return made, (measure(lambda: _commit(plain)), measure(lambda: _record(trees, name, "turn")))


def _make_tree(trees: SessionTrees, name: str) -> None:
    with trees.hold():
        trees.make_tree(name)
        trees.finish_tree(name)


def _record(trees: SessionTrees, name: str, what: str) -> None:
    with trees.hold():
        trees.record(name, AUTHOR, write_message(what, session="s_bench"), f"turns/{what}-{name}", moves_branch=True)


def _commit(folder: Path) -> None:
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "--quiet", "--message", "turn")


def _median(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)


def main() -> int:
    files = int(sys.argv[1]) if len(sys.argv) > 1 else FILES
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder) / "repo"
        top.mkdir()
        make_repository(top, files)
        results = compare(top, Path(folder))
    worst = 0.0
    for name, (by_git, by_moot) in results.items():
        ratio = by_moot / by_git
        worst = max(worst, ratio)
        print(f"{name}, {files:,} files: git {by_git:.3f} s, Moot {by_moot:.3f} s, {ratio:.2f} times (bound {BOUND})")
    return int(worst > BOUND)


if __name__ == "__main__":
    sys.exit(main())
