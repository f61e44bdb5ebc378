"""Breaking lines where people would: at spaces or between Chinese characters, never before a closing mark."""

from rich.cells import cell_len, get_character_cell_size
from rich.text import Text

CLOSING = frozenset("，。、；：！？）】」』”’》〉…,.;:!?)]}")
OPENING = frozenset("（【「『“‘《〈([{")
MIN_COLUMNS = 10


def wrap(text: Text, width: int, hang: int = 0, below: str = "") -> list[Text]:
    """Break a line at spaces or between Chinese characters, never before a closing mark.

    The first `hang` characters precede the first line only; `below`, or as many spaces, precedes the others.
    """
    if text.cell_len <= width:
        return [Text.assemble(text)]  # Rich renders the style only as a span
    before, body = text[:hang], text[hang:]
    lines = body.divide(break_points(body.plain, max(MIN_COLUMNS, width - before.cell_len)))
    for line in lines:
        line.rstrip()
    others = Text(below, "dim") if below else Text(" " * before.cell_len)
    return [Text.assemble(before if number == 0 else others, line) for number, line in enumerate(lines)]


def break_points(line: str, width: int) -> list[int]:
    """Return where to break a line so that no part is wider than `width`, not counting spaces at its end."""
    points: list[int] = []
    start, best, used = 0, 0, 0
    for at, char in enumerate(line):
        if at > start and _may_break(line[at - 1], char):
            best = at
        cells = get_character_cell_size(char)
        if used + cells > width and char != " ":
            start = best if best > start else at
            points.append(start)
            used = cell_len(line[start:at])
        used += cells
    return points


def _may_break(before: str, after: str) -> bool:
    if after == " " or after in CLOSING or before in OPENING:
        return False
    return before == " " or get_character_cell_size(before) > 1 or get_character_cell_size(after) > 1
