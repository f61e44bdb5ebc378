"""What members write, on a screen: a little Markdown, broken where people would break it."""

import time

import pytest
from rich.text import Text

from moot.tui.prose import break_points, prose, wrap


def lines(said: str, width: int) -> list[str]:
    return [part.plain for line in prose(said) for part in wrap(line.text, width, line.hang, line.below)]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("# A heading", ["A heading"]),
        ("> **Sundays** are for reading.", ["▌ Sundays are for reading."]),
        ("- one\n* two\n  3. three", ["• one", "• two", "  3. three"]),
        ("```py\nx = '**y**'\n```", ["py", "x = '**y**'"]),
        ("use `a*b*c` and [this](https://x.y/z)", ["use a*b*c and this (https://x.y/z)"]),
        ("2 * 3 * 4, snake_case_name, **", ["2 * 3 * 4, snake_case_name, **"]),
        ("[not a link](javascript:x) [bold]x[/]", ["[not a link](javascript:x) [bold]x[/]"]),
        ("---", ["─" * 20]),
    ],
)
def test_a_little_markdown(said: str, shown: list[str]) -> None:
    """Marks become styles; whatever is no such mark is shown as it was written."""
    assert lines(said, 80) == shown


def test_styles() -> None:
    """Strong is bold, code has a colour of its own."""
    (line,) = prose("a **b** `c`")
    assert [(line.text.plain[span.start : span.end], span.style) for span in line.text.spans] == [
        ("b", "bold"),
        ("c", "cyan"),
    ]


def test_broken_lines_stand_below_their_words() -> None:
    """What follows stands below the words, not below the bullet; a quote keeps its bar."""
    assert lines("- one two three four", 12) == ["• one two", "  three four"]
    assert lines("> one two three four", 12) == ["▌ one two", "▌ three four"]


def test_chinese_is_broken_between_characters() -> None:
    """A Chinese sentence fills its line; no line begins with a comma or ends with an opening bracket."""
    said = "周日开放（五月起），欢迎读者来喝咖啡。Welcome 欢迎"
    for width in range(10, 40):
        parts = [part.plain for part in wrap(Text(said), width)]
        assert "".join(parts).replace(" ", "") == said.replace(" ", "")
        assert all(part.cell_len <= width for part in wrap(Text(said), width))
        assert not any(part[0] in "，。）" or part[-1] == "（" for part in parts)


@pytest.mark.parametrize("mark", ["**a `b [x ", "[", "`", "> ", "_a", "~~a", "*"])
def test_hostile_text_is_shown_in_time(mark: str) -> None:
    """Time in proportion to the length; what is squared would take minutes here."""
    began = time.process_time()
    lines(mark * (100_000 // len(mark)), 60)
    assert time.process_time() - began < 20


def test_a_word_that_is_too_long_is_broken_anywhere() -> None:
    """Nothing stands beyond the edge."""
    assert break_points("x" * 5, 2) == [2, 4]
