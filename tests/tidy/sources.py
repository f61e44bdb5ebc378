"""The files of this repository, and their syntax trees."""

import ast
import subprocess
from functools import cache, lru_cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "moot"
NOT_OURS = {".git", ".venv", "__pycache__", "build", "dist"}


@lru_cache
def list_files() -> tuple[Path, ...]:
    """What git tracks or would track; without git, everything but what tools leave behind."""
    asked = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*") if not NOT_OURS & set(path.relative_to(ROOT).parts)]
    return tuple(sorted(path for path in paths if path.is_file()))


def list_python_files(folder: Path = ROOT) -> list[Path]:
    return [path for path in list_files() if path.suffix == ".py" and path.is_relative_to(folder)]


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def place(path: Path) -> str:
    """A path as people know it, from the root of the repository."""
    return path.relative_to(ROOT).as_posix()
