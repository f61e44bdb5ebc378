"""What `make docs` writes is fresh: text and code cannot part ways."""

from pathlib import Path

import pytest

from docs import draw_demo, draw_machines, draw_reference

MACHINES = Path(draw_machines.__file__).parent / "machines.md"


@pytest.mark.parametrize("page", draw_reference.PAGES, ids=lambda page: page.name)
def test_the_reference_is_fresh(page: Path) -> None:
    """Keys, options and events stand on their pages as the code has them."""
    assert page.read_text(encoding="utf-8") == draw_reference.draw(page)


def test_the_page_of_machines_is_fresh() -> None:
    """The page shows the tables as they are."""
    assert MACHINES.read_text(encoding="utf-8") == draw_machines.draw()


def test_the_picture_is_fresh() -> None:
    """docs/demo.svg shows the demo as it is."""
    assert draw_demo.PICTURE.read_text(encoding="utf-8") == draw_demo.draw()
