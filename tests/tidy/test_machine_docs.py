"""docs/machines.md is drawn from the tables."""

from pathlib import Path

from docs.draw_machines import draw


def test_the_page_of_machines_is_fresh() -> None:
    """The page shows the tables as they are; `make docs` draws it again."""
    page = Path(__file__).parents[2] / "docs" / "machines.md"
    assert page.read_text(encoding="utf-8") == draw()
