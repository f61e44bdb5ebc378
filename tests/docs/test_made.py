"""What `make docs` writes is fresh: text and code cannot part ways."""

from pathlib import Path

import pytest

from docs import draw_coding, draw_demo, draw_machines, draw_reference

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


def test_the_coding_team_does_what_its_picture_shows(tmp_path: Path) -> None:
    """Two tasks edit one file, the conflict is resolved, the whole is shown as a diff and taken over."""
    lines = list(draw_coding.play(tmp_path))
    story = [
        "⇥ discount is merged",
        "⚡ tax conflicts with work that is already merged, in shop.py",
        "⇥ tax is merged",
        "■ All tasks are done",
        "+def discount(cents, percent):",
        "+def with_tax(cents, percent):",
        "?? shop.py",
    ]
    found = [next((at for at, line in enumerate(lines) if line.startswith(start)), None) for start in story]
    assert None not in found, "\n".join(lines)
    assert found == sorted(found, key=lambda at: at or 0)
    picture = draw_coding.PICTURE.read_text(encoding="utf-8")
    assert all(start.split(" ", 1)[1] in picture for start in story[:4])


def test_the_coding_team_comes_to_its_end_whoever_is_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine Cody may be done before Clara: then the conflict is hers, and she keeps both functions too."""
    said = "text: Added discount() and its test.\n"
    team = tmp_path / "slow.yaml"
    team.write_text(draw_coding.TEAM.read_text(encoding="utf-8").replace(said, f"{said}            delay_s: 3\n"))
    monkeypatch.setattr(draw_coding, "TEAM", team)
    lines = list(draw_coding.play(tmp_path))
    assert any(line.startswith("■ All tasks are done") for line in lines), "\n".join(lines)
    assert {"+def discount(cents, percent):", "+def with_tax(cents, percent):"} <= set(lines)
