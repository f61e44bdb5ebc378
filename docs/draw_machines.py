"""`make docs`: draws docs/machines.md from the tables, so that text and code cannot part ways."""

from pathlib import Path

from moot.core.machines.catalogue import MACHINES, to_mermaid

INTRO = """\
# State machines

Drawn from the tables in `src/moot/core/machines` by `make docs`; a test holds this page to them. `(+)` marks what the
original design left open and Moot settled. `moot machines --json` prints the same tables for programs.
"""


def draw() -> str:
    parts = [f"## {machine.name}\n\n```mermaid\n{to_mermaid(machine)}\n```\n" for machine in MACHINES]
    return "\n".join([INTRO, *parts])


if __name__ == "__main__":
    (Path(__file__).parent / "machines.md").write_text(draw(), encoding="utf-8")
