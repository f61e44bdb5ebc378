"""`python -m docs.draw_coding`: draws docs/coding.svg, the moving picture of the README.

The team of examples/10_coding_team.yaml works in a repository that is made for it: request, plan, two tasks that
edit the same file, a conflict that is resolved, the diff, and the work taken over.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from docs.draw_demo import draw_lines

PICTURE = Path(__file__).parent / "coding.svg"
TEAM = Path(__file__).parents[1] / "examples" / "10_coding_team.yaml"
WANTED = "Add a discount and a tax to shop.py, each with a test."
IDENTITY = ("-c", "user.name=You", "-c", "user.email=you@example.org", "-c", "init.defaultBranch=main")


def play(folder: Path) -> Iterator[str]:
    """Yield what a person types and sees."""
    repository = folder / "shop"
    repository.mkdir()
    (repository / "moot.yaml").write_bytes(TEAM.read_bytes())
    folders = {"HOME": folder, "MOOT_DATA": folder / "data", "XDG_CACHE_HOME": folder / "cache"}
    environment = {**os.environ, **{name: str(path) for name, path in folders.items()}}

    def run(*command: str) -> list[str]:
        done = subprocess.run(  # noqa: S603 - the commands below
            command,
            cwd=repository,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines()

    moot = (sys.executable, "-m", "moot")
    run("git", *IDENTITY, "init", "--quiet")
    run("git", *IDENTITY, "add", ".")
    run("git", *IDENTITY, "commit", "--quiet", "--message", "start")
    run(*moot, "trust", "moot.yaml", "--yes")
    yield f"$ moot run moot.yaml --say '{WANTED}' --answer approve"
    yield from run(*moot, "run", "moot.yaml", "--say", WANTED, "--answer", "approve")
    session_id = run(*moot, "sessions", "list")[0].split()[0]
    yield f"$ moot sessions diff {session_id[:6]}"
    yield from run(*moot, "sessions", "diff", session_id)[:15]
    yield "…"
    yield f"$ moot sessions take {session_id[:6]} --apply"
    yield from run(*moot, "sessions", "take", session_id, "--apply")
    yield "$ git status --short"
    yield from run("git", "status", "--short")


def draw() -> str:
    with tempfile.TemporaryDirectory() as folder:
        lines = list(play(Path(folder)))
    return draw_lines(
        lines, "A team in a repository: a plan, two agents at one file, a conflict resolved, the diff taken"
    )


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
