"""`make mutants`: every mutant must be caught by the tests that it names. Prints one line each; exit 1 if one lives."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.mutants.mutants import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
FAILED = 1  # pytest: tests were run, and some failed


def is_caught(mutant: Mutant, source: Path) -> bool:
    path = source / "moot" / mutant.file
    sound = path.read_text(encoding="utf-8")
    path.write_text(sound.replace(mutant.old, mutant.new, 1), encoding="utf-8")
    tests = [f"tests/{each}" for each in mutant.tests.split()]
    quiet = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--tb=no"]
    environment = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *quiet, *tests],
            cwd=ROOT,
            env=environment,
            timeout=120,
            stdout=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return True  # it hangs: somebody would notice
    finally:
        path.write_text(sound, encoding="utf-8")
    return done.returncode == FAILED


def main() -> int:
    alive = 0
    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        for mutant in MUTANTS:
            if wanted and not any(each in mutant.name for each in wanted):
                continue
            before = time.perf_counter()
            caught = is_caught(mutant, source)
            alive += not caught
            print(
                f"{'caught' if caught else 'LIVES '} {time.perf_counter() - before:5.1f} s  {mutant.name}", flush=True
            )
    print(f"{alive} of {len(MUTANTS)} live")
    return int(alive > 0)


if __name__ == "__main__":
    sys.exit(main())
