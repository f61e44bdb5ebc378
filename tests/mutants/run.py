"""`make mutants`: every mutant must be caught by the tests that it names. Prints one line each; exit 1 if one lives.

A test that waits for what the mutant never does hangs. That catches it too, but is told apart: on a busy machine a
sound test may take as long.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Literal

from tests.mutants.mutants import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
FAILED = 1  # pytest: tests were run, and some failed
HANGS_S = 120


def judge(mutant: Mutant, source: Path) -> Literal["caught", "hangs", "LIVES"]:
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
            timeout=HANGS_S,
            stdout=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "hangs"
    finally:
        path.write_text(sound, encoding="utf-8")
    return "caught" if done.returncode == FAILED else "LIVES"


def main() -> int:
    verdicts: Counter[str] = Counter()
    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        for mutant in MUTANTS:
            if wanted and not any(each in mutant.name for each in wanted):
                continue
            before = time.perf_counter()
            verdict = judge(mutant, source)
            verdicts[verdict] += 1
            print(f"{verdict:6} {time.perf_counter() - before:5.1f} s  {mutant.name}", flush=True)
    print(f"{verdicts['caught']} caught, {verdicts['hangs']} hang, {verdicts['LIVES']} live")
    return int(verdicts["LIVES"] > 0)


if __name__ == "__main__":
    sys.exit(main())
