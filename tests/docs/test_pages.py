"""The documentation tells the truth: its commands run, its files are valid, its links and pictures are there."""

import re
import shutil
from pathlib import Path

import pytest

from moot.core.intake.slash import COMMANDS
from moot.tui.attaching import ATTACH
from tests.docs.blocks import PAGES, ROOT, find_blocks
from tests.docs.reader import Reader
from tests.docs.shell import Shell
from tests.tidy.sources import place

LINK = re.compile(r"\]\((?!https?:)([^)]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
PATHS = {"/healthz", "/metrics", "/ws", "/data", "/team"}  # of the server and its image, on the how-tos about them
TWINS = [page for page in PAGES if page.parent.name == "how-to" and page.name.endswith(".zh.md")]


@pytest.mark.parametrize("page", [page for page in PAGES if page not in TWINS], ids=place)
def test_every_block_is_true(page: Path, tmp_path: Path) -> None:
    """Each fenced block is played, run or validated, or says why it is only an illustration."""
    blocks = find_blocks(page)
    if any("curl" in block.body for block in blocks) and not shutil.which("curl"):
        pytest.skip("curl is missing; apt-get install curl")
    with Shell(tmp_path) as shell:
        reader = Reader(shell)
        for block in blocks:
            reader.read(block)
        reader.close()


@pytest.mark.parametrize("page", TWINS, ids=place)
def test_a_translation_has_the_blocks_of_its_original(page: Path) -> None:
    """Only the prose of a how-to is translated, so that what is played there holds for both."""
    original = page.with_name(page.name.replace(".zh.md", ".md"))
    assert [block.body for block in find_blocks(page)] == [block.body for block in find_blocks(original)]


def test_the_chinese_readme_is_the_english_one() -> None:
    """The same parts, rows of tables, kinds of blocks and links; only pictures of the page have a language."""
    parts = []
    for name in ("README.md", "README.zh.md"):
        page = ROOT / name
        text = page.read_text(encoding="utf-8")
        links = {link.replace(".zh.md", ".md") for link in LINK.findall(text) if not link.endswith(".png")}
        rows = [line.count("|") for line in text.splitlines() if line.startswith("|")]
        shape = [re.match("#*", line)[0] for line in text.splitlines() if line.startswith("#")]  # type: ignore[index]
        parts.append((shape, sorted(rows), [block.language for block in find_blocks(page)], links - {"README.md"}))
    assert parts[0] == parts[1]


@pytest.mark.parametrize("page", PAGES, ids=place)
def test_links_lead_somewhere(page: Path) -> None:
    """A relative link names a file that exists, and a heading that is there."""
    broken = []
    for target, _, heading in (link.partition("#") for link in LINK.findall(page.read_text(encoding="utf-8"))):
        file = page.parent / target if target else page
        if not file.exists() or (heading and heading not in list_anchors(file)):
            broken.append(f"{target}#{heading}")
    assert broken == []


def list_anchors(page: Path) -> set[str]:
    """What headings are called in links: lower case, without punctuation, spaces as hyphens."""
    headings = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=place)
def test_slash_commands_exist(page: Path) -> None:
    """A page tells people to type only what a session or the terminal understands."""
    written = set(re.findall(r"(?<![\w.])`(/[a-z]+)(?=[ `])", page.read_text(encoding="utf-8")))
    paths = {"/readyz"} | (PATHS if page.parent.name == "how-to" else set())
    assert written - paths <= {command.split()[0] for command in COMMANDS} | {ATTACH, "/mock"}
