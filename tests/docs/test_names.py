"""The documentation names what is there: files, what is defined in them, folders, targets of make."""

import re
from pathlib import Path

import pytest

from tests.docs.blocks import PAGES, ROOT
from tests.tidy.sources import PACKAGE, list_files, place

FILES = [path.relative_to(ROOT).as_posix() for path in list_files()]
FILE = re.compile(r"(?<![\w/.-])(?:\.\./)*((?:\w[\w.-]*/)*\w+\.py)\b(?:: (\w[\w.]*)(?:\(.*?\))?`)?")
FOLDER = re.compile(r"`((?:src|tests|docs|examples)(?:/[\w.-]+)+)/?`")
TARGET = re.compile(r"`make ([a-z-]+)")
DEFINED = r"^\s*(?:(?:async )?def |class |type )?{}\b"
WRITTEN_BY_READERS = re.compile(r"<!-- file: (\S+) -->")


def find_missing(name: str, attribute: str) -> str | None:
    """What is wrong with a file's name, or with what is said to be in it."""
    found = [ROOT / file for file in FILES if f"/{file}".endswith(f"/{name}")]
    if not found:
        return f"no file {name}"
    for word in attribute.split(".") if attribute else []:
        if not any(re.search(DEFINED.format(word), path.read_text(encoding="utf-8"), re.MULTILINE) for path in found):
            return f"no {word} in {name}"
    return None


@pytest.mark.parametrize("page", PAGES, ids=place)
def test_what_is_named_exists(page: Path) -> None:
    """A file that a page names exists, and defines what the page says it does."""
    text = page.read_text(encoding="utf-8")
    of_readers = set(WRITTEN_BY_READERS.findall(text))
    named = [(name, attribute) for name, attribute in FILE.findall(text) if name not in of_readers]
    assert [missing for name, attribute in named if (missing := find_missing(name, attribute))] == []
    assert [folder for folder in FOLDER.findall(text) if not (ROOT / folder).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=place)
def test_targets_of_make_exist(page: Path) -> None:
    """`make x` is a target of the Makefile."""
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name in TARGET.findall(page.read_text(encoding="utf-8")) if name not in targets] == []


def test_the_map_shows_every_room() -> None:
    """CONTRIBUTING.md: the map has every folder of the package."""
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [room for room in sorted(rooms) if f" {room}/ " not in text] == []
