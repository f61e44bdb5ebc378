"""`make agents-table`: what each agent that is installed here can do in Moot. Writes docs/agents-table.md.

Every check starts the real program in a home of its own, against a model on loopback, behind a wall that lets nothing
else through. What was found is kept in build/agents-table.json, so that a run for some of the agents keeps the others.
"""

import argparse
import asyncio
import json
import os
import platform
import tempfile
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.agents.fake_models import fake_models
from tests.agents.real_clis import a_wall, answer, settle
from tests.agents.table.checks import CHECKS, Check, Mark, Marks, N, Place, lose_the_network
from tests.agents.table.columns import BEFORE, COLUMNS, Column

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "agents-table.md"
FOUND = ROOT / "build" / "agents-table.json"
CHECK_S = 240
NOBODY = "http://127.0.0.1:9"  # where nobody listens
Results = dict[str, dict[str, object]]  # by agent: its version, the date, and its marks


def try_out(column: Column, check: Check) -> Marks:
    """Run one check in a home and a project of its own. Raises what goes wrong in it."""
    with (
        tempfile.TemporaryDirectory(prefix="table-", ignore_cleanup_errors=True) as name,
        pytest.MonkeyPatch.context() as monkeypatch,
        a_wall() as wall,
        fake_models(answer) as models,
    ):
        folder = Path(name)
        if check is lose_the_network:
            models.root, models.url = NOBODY, f"{NOBODY}/v1"
        settle(folder / "home", models, wall, monkeypatch)
        if column.name == "qwen":
            monkeypatch.delenv("HTTPS_PROXY")  # it would send requests to loopback there, too
        monkeypatch.setenv("IS_SANDBOX", "1")  # else Claude Code lets root do nothing unasked
        for each in ("project", "tmp"):
            (folder / each).mkdir()
        monkeypatch.setenv("TMPDIR", str(folder / "tmp"))
        tempfile.tempdir = None  # look at TMPDIR again
        try:
            return asyncio.run(asyncio.wait_for(check(Place(column, models, folder)), CHECK_S))
        finally:
            tempfile.tempdir = None


def try_all(column: Column, rows: Collection[str] = ()) -> Marks:
    """Run the checks that fill these rows, or all of them."""
    marks: Marks = {}
    for check in [check for check in CHECKS if not rows or not set(rows).isdisjoint(check.rows)]:
        try:
            found = try_out(column, check)
        except Exception as error:
            found = {row: Mark(N, f"{type(error).__name__}: {error}") for row in check.rows}
        for row, mark in found.items():
            print(f"  {mark.mark:4} {row}: {mark.seen}", flush=True)
        marks |= found
    return marks


def write_page(results: Results) -> str:
    """Return the page: a table of marks, and what was seen where something does not work or works in part."""
    names = [column.name for column in COLUMNS if column.name in results]
    rows, notes = [], []
    for row in [row for check in CHECKS for row in check.rows]:
        cells = []
        for name in names:
            marks = results[name]["marks"]
            mark, seen = marks.get(row, ("", ""))  # type: ignore[attr-defined]
            before = BEFORE.get(row, {}).get(name, "")
            cells.append(f"{mark} (was {before})" if before and before != mark else mark)
            if mark in ("N", "P") and seen:
                notes.append(f"- {name}, {row}: {' '.join(seen.split())[:200]}")
        rows.append(f"| {row} | {' | '.join(cells)} |")
    versions = "; ".join(f"{name} {results[name]['version']}".strip() + f" ({results[name]['date']})" for name in names)
    machine = f"Python {platform.python_version()}, {os.cpu_count()} processors, shared with other work"
    head = f"| | {' | '.join(names)} |\n|---|{'---|' * len(names)}"
    table, seen = "\n".join(rows), "\n".join(notes)
    return _PAGE.format(versions=versions, machine=machine, head=head, rows=table, notes=seen)


_PAGE = """\
# Agents and what they can do in Moot

<!-- `make agents-table` writes this page -->

`make agents-table` runs every agent that is installed, and a model, in Moot against a server on loopback that answers
at once, and looks at what happens ([tests/agents/table](../tests/agents/table)). No real model answered anything.
Tried: {versions}. {machine}.

W works · P partly · N no · – does not apply. "Was" is what the same agent did when it was first tried in Moot.

{head}
{rows}

- **First turn** has the start of the program in it, **second turn** is the best of several with a program that stays:
  what Moot and the agent add to a model that answers at once.
- **Memory** is that of everything that the agent started, shared parts divided.
- **401** and the like are what the model's server answers. W: the turn fails in less than 100 s, with the right kind of
  error. P: the agent tries again by itself for longer, and people see a sign of it at least every minute.

What was seen where there is no W:

{notes}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("agents", nargs="*", help="names of columns; all of them if there is none")
    parser.add_argument("--row", action="append", default=[], help="try this row only, and keep the others")
    options = parser.parse_args()
    FOUND.parent.mkdir(exist_ok=True)
    for column in COLUMNS:
        if options.agents and column.name not in options.agents:
            continue
        version = column.version
        print(column.name, version or "is not installed" if version is None else version, flush=True)
        if version is None:
            continue
        marks = try_all(column, options.row)
        results: Results = json.loads(FOUND.read_text()) if FOUND.exists() else {}
        if options.row:
            marks = {**results.get(column.name, {}).get("marks", {}), **marks}  # type: ignore[dict-item]
        results[column.name] = {"version": version, "date": f"{datetime.now(UTC):%Y-%m-%d}", "marks": marks}
        FOUND.write_text(json.dumps(results, indent=1))
        PAGE.write_text(write_page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
