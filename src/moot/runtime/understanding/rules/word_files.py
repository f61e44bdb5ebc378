"""Reads the files of words in `lexicon/`: sections with a name, a mode, a reason and lines."""

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

FOLDER = Path(__file__).with_name("lexicon")
_HEADER = re.compile(r"\[(?P<name>[\w ]+)\] (?P<mode>\w+): (?P<reason>.+)")
_BROKEN_HEADER = re.compile(r"\[[a-z ]+\]")  # a phrase may start with a class of characters: "[做写变]成"


class WordSection(Struct, gc=False):
    """`examples` and `counterexamples` are the lines that start with + and -, `lines` all others."""

    name: str
    mode: str
    reason: str
    examples: list[str]
    counterexamples: list[str]
    lines: list[str]

    @property
    def words(self) -> str:
        return " ".join(self.lines)


def read_sections(file: str) -> dict[str, WordSection]:
    """Read a file of the folder. Raises ValueError with the line that is wrong."""
    return {section.name: section for section in _read(file, (FOLDER / file).read_text(encoding="utf-8"))}


def _read(file: str, text: str) -> Iterator[WordSection]:
    section: WordSection | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.fullmatch(line)
        if header:
            section = WordSection(header["name"], header["mode"], header["reason"], [], [], [])
            yield section
        elif line.strip() and not line.startswith("#"):
            if section is None or _BROKEN_HEADER.match(line):
                raise ValueError(f"{file}:{number}: not a section: {line}")
            _add_line(section, line)


def _add_line(section: WordSection, line: str) -> None:
    if line.startswith(("+ ", "- ")):
        (section.examples if line[0] == "+" else section.counterexamples).append(line[2:])
    elif line.startswith("  ") and section.lines:  # goes on with the line before
        section.lines[-1] += f" {line.strip()}"
    else:
        section.lines.append(line.strip())
