"""What members write, on a screen: Markdown, code and diffs in colour, broken where people would break it."""

import time

import pytest
from rich.text import Text

from moot.tui.text.code_lines import code_lines, diff_lines
from moot.tui.text.markdown_lines import markdown_lines
from moot.tui.text.wrapping import break_points, wrap


def lines(said: str, width: int = 80, *, is_growing: bool = False) -> list[str]:
    return [line.plain for line in markdown_lines(said, width, is_growing=is_growing)]


def styles(line: Text) -> list[tuple[str, str]]:
    return [(line.plain[span.start : span.end], str(span.style)) for span in line.spans if span.style]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("# A heading", ["A heading"]),
        ("> **Sundays** are for reading.", ["▌ Sundays are for reading."]),
        ("- one\n* two", ["• one", "• two"]),
        ("1. one\n2. two\n   - three", ["1. one", "2. two", "   • three"]),
        ("7) seven", ["7) seven"]),
        ("```py\nx = '**y**'\n```", ["╭ py", "│ x = '**y**'", "╰"]),
        ("use `a*b*c` and [this](https://x.y/z)", ["use a*b*c and this (https://x.y/z)"]),
        ("2 * 3 * 4, snake_case_name, **", ["2 * 3 * 4, snake_case_name, **"]),
        ("[not a link](javascript:x) [bold]x[/]", ["[not a link](javascript:x) [bold]x[/]"]),
        ("<b>text</b> ![a](https://x.y/z.png)", ["<b>text</b> [a] (https://x.y/z.png)"]),
        ("**注意：**请看，2 ** 3 ** 4", ["注意：请看，2 ** 3 ** 4"]),
        ("one\ntwo\n\nthree", ["one", "two", "", "three"]),
        ("---", ["─" * 20]),
        ("", []),
    ],
)
def test_markdown(said: str, shown: list[str]) -> None:
    """Marks become styles, line breaks stay; HTML and whatever is no mark is shown as it was written."""
    assert lines(said) == shown


def test_styles() -> None:
    """Strong is bold, code has a colour of its own, keywords of a language too."""
    (line,) = markdown_lines("a **b** `c`", 80)
    assert styles(line) == [("b", "bold"), ("c", "cyan")]
    (code,) = code_lines("return 1", "python")
    assert ("return", "magenta") in styles(code)
    assert styles(code_lines("return 1", "no such language")[0]) == []


def test_a_table_has_columns() -> None:
    """Columns are aligned, also with Chinese; a cell that is too long is broken, a table too wide is cut."""
    said = "| File | What |\n|---|---|\n| app.py | one two three four |\n| 文件.py | 周日 |"
    assert lines(said, 26) == [
        "┌─────────┬──────────────┐",
        "│ File    │ What         │",
        "├─────────┼──────────────┤",
        "│ app.py  │ one two      │",
        "│         │ three four   │",
        "│ 文件.py │ 周日         │",
        "└─────────┴──────────────┘",
    ]
    wide = "|" + "a|" * 30 + "\n|" + "-|" * 30 + "\n|" + "b|" * 30
    assert all(line.cell_len <= 40 for line in markdown_lines(wide, 40))


def test_a_diff_is_in_colour() -> None:
    """Added lines are green, removed ones red, with their numbers; a line that begins with -- is no head."""
    diff = "--- a/x\n+++ b/x\n@@ -7,2 +7,2 @@\n same\n--- old\n+new"
    shown = list(diff_lines(diff))
    assert [line.plain for line in shown[3:]] == ["   7  same", "   8 --- old", "   8 +new"]
    assert styles(shown[4])[-1] == ("--- old", "red")
    assert styles(shown[5])[-1] == ("+new", "green")


def test_broken_lines_stand_below_their_words() -> None:
    """What follows stands below the words, not below the bullet; a quote keeps its bar, code its frame."""
    assert lines("- one two three four", 12) == ["• one two", "  three four"]
    assert lines("> one two three four", 12) == ["▌ one two", "▌ three four"]
    assert lines("```\n  one two three four\n```", 14) == ["╭", "│   one two", "│   three four", "╰"]


def test_what_grows_looks_like_what_is_finished() -> None:
    """Text that is being written is read paragraph by paragraph, with the same result."""
    said = "# One\n\n- two\n\n```py\nx\n\ny\n```\n\nthree\n\n4. four\n\n5. five"
    assert lines(said, is_growing=True) == lines(said)


def test_chinese_is_broken_between_characters() -> None:
    """A Chinese sentence fills its line; no line begins with a comma or ends with an opening bracket."""
    said = "周日开放（五月起），欢迎读者来喝咖啡。Welcome 欢迎"
    for width in range(10, 40):
        parts = [part.plain for part in wrap(Text(said), width)]
        assert "".join(parts).replace(" ", "") == said.replace(" ", "")
        assert all(part.cell_len <= width for part in wrap(Text(said), width))
        assert not any(part[0] in "，。）" or part[-1] == "（" for part in parts)


@pytest.mark.parametrize(
    "mark", ["**a `b [x ", "[", "![", "`", "> ", "_a", "~~a", "*", "- ", "|a", "<", "\n\n![", "```x\n"]
)
def test_hostile_text_is_shown_in_time(mark: str) -> None:
    """Time in proportion to the length; what is squared would take minutes here."""
    began = time.process_time()
    lines(mark * (100_000 // len(mark)), 60)
    assert time.process_time() - began < 20


def test_a_word_that_is_too_long_is_broken_anywhere() -> None:
    """Nothing stands beyond the edge."""
    assert break_points("x" * 5, 2) == [2, 4]
