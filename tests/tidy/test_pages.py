"""The pages about the code name what the code has."""

import re
from functools import cache
from pathlib import Path

import pytest

from tests.tidy.sources import ROOT, list_files

# `core/decide.py: decide`, `runtime/stores/`, `web/js/view/rows.js`
NAMED = re.compile(r"`(?P<path>(?:[\w.-]+/)*[\w-]+\.(?:py|js)|(?:[\w-]+/)+)(?:: (?P<name>[\w.]+))?`")
PAGES = [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs" / "decisions").glob("*.md"))]


@cache
def list_places() -> dict[str, set[Path]]:
    """Return every file and folder by each end of its path; that of a folder ends with a slash."""
    places: dict[str, set[Path]] = {}
    for file in list_files():
        parts = file.relative_to(ROOT).parts
        for until in range(1, len(parts) + 1):
            known, slash = ROOT.joinpath(*parts[:until]), "/" if until < len(parts) else ""
            for start in range(until):
                places.setdefault("/".join(parts[start:until]) + slash, set()).add(known)
    return places


def has_name(file: Path, name: str) -> bool:
    return re.search(rf"\b{name.rpartition('.')[2]}\b", file.read_text(encoding="utf-8")) is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_name_files_and_names_that_exist(page: Path) -> None:
    """A file, folder, class or function that a page names is there; whoever moves it changes the page."""
    wrong = []
    for match in NAMED.finditer(page.read_text(encoding="utf-8")):
        places = list_places().get(match["path"], set())
        if not places or (
            match["name"] and not any(has_name(file, match["name"]) for file in places if file.is_file())
        ):
            wrong.append(match[0])
    assert wrong == []


def test_the_page_on_architecture_names_the_code() -> None:
    """The test above has something to look at."""
    assert len(NAMED.findall((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))) > 40
