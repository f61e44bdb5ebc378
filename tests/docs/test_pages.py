"""The documentation tells the truth: its commands run, its files are valid, its links and pictures are there."""

import re
import shutil
from pathlib import Path

import pytest

from docs import draw_demo
from tests.docs.blocks import PAGES, find_blocks
from tests.docs.reader import Reader
from tests.docs.shell import Shell

LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_is_true(page: Path, tmp_path: Path) -> None:
    """Documentation: each fenced block is played, run or validated, or says why it is only an illustration."""
    blocks = find_blocks(page)
    if any("curl" in block.body for block in blocks) and not shutil.which("curl"):
        pytest.skip("curl is missing; apt-get install curl")
    with Shell(tmp_path) as shell:
        reader = Reader(shell)
        for block in blocks:
            reader.read(block)
        reader.close()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Documentation: a relative link names a file that exists."""
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_picture_is_fresh() -> None:
    """docs/demo.svg shows the demo as it is; `python docs/draw_demo.py` draws it again."""
    assert draw_demo.PICTURE.read_text(encoding="utf-8") == draw_demo.draw()
