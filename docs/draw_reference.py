"""`make docs`: writes the reference from the code: keys of the team file, commands with their options, events.

A page holds what is made between `<!-- made: NAME -->` and `<!-- end -->`; what stands around it is written by hand.
"""

import re
from collections.abc import Callable
from pathlib import Path

from docs.command_options import draw_options
from docs.event_tables import draw_commands, draw_logged, draw_unlogged
from docs.team_keys import draw_keys

PAGES = [Path(__file__).parent / name for name in ("team-file.md", "options.md", "events.md")]
PARTS: dict[str, Callable[[], str]] = {
    "options": draw_options,
    "logged events": draw_logged,
    "other events": draw_unlogged,
    "commands": draw_commands,
}
MADE = re.compile(r"(<!-- made: ([^>]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def draw(page: Path) -> str:
    """The page with everything in it that is made from the code."""

    def make(found: re.Match[str]) -> str:
        part = PARTS[found[2]]() if found[2] in PARTS else draw_keys(found[2].removeprefix("keys of "))
        return f"{found[1]}\n{part}\n{found[3]}"

    return MADE.sub(make, page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(draw(page), encoding="utf-8")
