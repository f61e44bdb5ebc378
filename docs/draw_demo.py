"""`python docs/draw_demo.py`: plays `moot demo --plain` and draws docs/demo.svg.

Lines appear one after the other, and the screen scrolls, by CSS alone. Where motion is not wanted the end is shown.
"""

import io
import re
import unicodedata
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from html import escape
from pathlib import Path

from moot.cli.main import main

PICTURE = Path(__file__).parent / "demo.svg"
COLUMNS = 96
CELL_WIDTH, LINE_HEIGHT, MARGIN, TITLE_HEIGHT = 8.4, 20, 20, 40
WIDTH = MARGIN * 2 + COLUMNS * CELL_WIDTH
VISIBLE_LINES = 26
LINE_S, READING_S, END_S = 0.35, 0.9, 5.0  # a line; one that is said or explains something; before it begins again
STYLE = """\
.screen { fill: #10141a; } .title { fill: #8b96a5; }
text { font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d6dde6; white-space: pre; }
.command { fill: #ffffff; font-weight: bold; } .hint { fill: #7cb7ff; } .queue { fill: #8fd694; }
.notice { fill: #f5c46b; } .floor { fill: #d7a6ff; } .step { fill: #8b96a5; }"""
# the first that fits says what a line is; what none fits is said by a member
KINDS = (
    ("command", "$ "),
    ("hint", "» "),
    ("queue", "📋"),
    ("notice", "⚠"),
    ("floor", "⏸"),
    ("floor", "■"),
    ("step", "  · "),
    ("queue", "✓"),
    ("queue", "⇥"),
    ("queue", "+"),
    ("notice", "⚡"),
    ("notice", "? "),
    ("step", "  "),
    ("step", "◦"),
    ("step", "→"),
    ("step", "▸"),
    ("step", "▶"),
)


def play() -> list[str]:
    """What `moot demo --plain` writes to the terminal, stdout and stderr together."""
    screen = io.StringIO()
    with redirect_stdout(screen), redirect_stderr(screen):
        main(["demo", "--plain"])
    return ["$ moot demo --plain", *screen.getvalue().splitlines()]


def cells(char: str) -> int:
    """Columns of a character, roughly as terminals count them."""
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def wrap(line: str) -> Iterator[str]:
    """Pieces of at most COLUMNS cells, broken at spaces; what follows is indented."""
    piece, width = "", 0
    for word in re.findall(r"\s*\S+", line) or [""]:
        size = sum(map(cells, word))
        if piece and width + size > COLUMNS:
            yield piece
            piece, width, word = "  ", 2, word.lstrip()
            size = sum(map(cells, word))
        piece, width = piece + word, width + size
    yield piece


def draw_line(line: str, kind: str, y: int) -> Iterator[str]:
    """One text element for each run of Latin text and one for each other character, so that columns stay in line."""
    column = 0
    for run in re.findall(r"[\u0020-\u024f]+|.\ufe0f?", line):
        x = MARGIN + column * CELL_WIDTH
        yield f'<text class="{kind}" x="{x:.1f}" y="{y}" xml:space="preserve">{escape(run)}</text>'
        column += 2 if run.endswith("\ufe0f") else sum(map(cells, run))  # shown as an emoji: wide


def draw() -> str:
    return draw_lines(
        play(), "moot demo in a terminal: a human, three scripted AIs, the queue, and the floor coming back"
    )


def draw_lines(lines: list[str], title: str) -> str:
    """Draw a terminal in which these lines appear, as SVG."""
    rows = [(piece, kind_of(line)) for line in lines for piece in wrap(line)]
    height = TITLE_HEIGHT + MARGIN + LINE_HEIGHT * VISIBLE_LINES
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:.0f} {height}" width="{WIDTH:.0f}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>\n{STYLE}\n{animate(rows)}\n</style>",
        f'<rect class="screen" width="{WIDTH:.0f}" height="{height}" rx="10"/>',
        *(f'<circle class="title" cx="{MARGIN + 4 + 18 * number}" cy="20" r="5"/>' for number in range(3)),
        f'<svg y="{TITLE_HEIGHT}" width="{WIDTH:.0f}" height="{LINE_HEIGHT * VISIBLE_LINES}"><g class="page">',
    ]
    for number, (line, kind) in enumerate(rows):
        parts += draw_line(line, kind, LINE_HEIGHT * (number + 1) - 6)
    curtain = f'<rect class="screen curtain" width="{WIDTH:.0f}" height="{LINE_HEIGHT * (len(rows) + VISIBLE_LINES)}"/>'
    return "\n".join([*parts, curtain, "</g></svg>", "</svg>", ""])


def animate(rows: list[tuple[str, str]]) -> str:
    """The curtain over what is not yet there goes down line by line; the page goes up when the screen is full."""
    moments, now_s = [], 0.0
    for _, kind in rows:
        moments.append(now_s)
        now_s += READING_S if kind in ("said", "hint") else LINE_S
    whole_s = now_s + END_S
    curtain = [(at_s, LINE_HEIGHT * (number + 1)) for number, at_s in enumerate(moments)]
    page = [(at_s, LINE_HEIGHT * min(0, VISIBLE_LINES - number - 1)) for number, at_s in enumerate(moments)]
    still = "@media (prefers-reduced-motion: reduce) { .curtain, .page { animation: none; } }"
    return "\n".join([_move("curtain", curtain, whole_s), _move("page", page, whole_s), still])


def _move(name: str, steps: list[tuple[float, int]], whole_s: float) -> str:
    frames = (f"{100 * at_s / whole_s:.2f}% {{ transform: translateY({y}px); }}" for at_s, y in steps)
    at_end = f"transform: translateY({steps[-1][1]}px)"
    return (
        f".{name} {{ {at_end}; animation: {name} {whole_s:.2f}s step-end infinite; }}\n"
        f"@keyframes {name} {{ {' '.join(frames)} }}"
    )


def kind_of(line: str) -> str:
    return next((kind for kind, start in KINDS if line.startswith(start)), "said")


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
