"""The fenced blocks of the documentation, and what the comments above one say about it.

    <!-- file: NAME -->           the reader saves it; a command further down the page uses it
    <!-- before: COMMAND -->      what made the state that the block is about
    <!-- exit: 3 -->              each command of the block ends with this code, not with 0
    <!-- part of: FILE -->        a piece of that team file
    <!-- illustration: why -->    neither run nor checked, and why

Without a comment the language says how a block is checked: `tests/docs/reader.py`.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "README.zh.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    ROOT / "examples" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
_FENCE = re.compile(
    r"^(?P<marks>(?:<!-- [^\n]+ -->\n)*)```(?P<language>\w*)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE
)
_MARK = re.compile(r"<!-- (file|before|exit|part of|illustration): (.*\S) -->")


class Block(NamedTuple):
    place: str  # page:line
    language: str
    body: str
    marks: dict[str, str]

    @property
    def commands(self) -> Iterator[tuple[str, str]]:
        """Of a console: what is typed (`> ` goes on with it) and what is shown below it."""
        for part in self.body.removeprefix("$ ").split("\n$ "):
            typed, *lines = part.rstrip("\n").split("\n")
            while lines and lines[0].startswith("> "):
                typed += "\n" + lines.pop(0)[2:]
            yield typed, "".join(f"{line}\n" for line in lines)


def find_blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [_read(page, text, found) for found in _FENCE.finditer(text)]


def _read(page: Path, text: str, found: re.Match[str]) -> Block:
    place = f"{page.relative_to(ROOT).as_posix()}:{text.count(chr(10), 0, found.start('language')) + 1}"
    marks = [_MARK.fullmatch(line) for line in found["marks"].splitlines()]
    assert all(marks), f"{place}: a mark that nobody knows: {found['marks']}"
    return Block(place, found["language"], found["body"], {mark[1]: mark[2] for mark in marks if mark})
