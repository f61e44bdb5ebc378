"""Lines broken as people read them: at spaces, between Chinese characters, never before a closing mark. Pure."""

from rich.cells import cell_len, get_character_cell_size
from rich.text import Text

CLOSING = frozenset("，。、；：！？）】」』”’》〉…,.;:!?)]}")
OPENING = frozenset("（【「『“‘《〈([{")
LEAST = 10  # columns


def wrap(text: Text, width: int, hang: int = 0, below: str = "") -> list[Text]:
    """The first `hang` characters stand before the first line only; `below`, as wide, before those that follow."""
    if text.cell_len <= width:
        return [Text.assemble(text)]  # its style as a span: Rich renders no other
    before, said = text[:hang], text[hang:]
    lines = said.divide(break_points(said.plain, max(LEAST, width - before.cell_len)))
    for line in lines:
        line.rstrip()
    others = Text(below, "dim") if below else Text(" " * before.cell_len)
    return [Text.assemble(before if number == 0 else others, line) for number, line in enumerate(lines)]


def break_points(line: str, width: int) -> list[int]:
    """Where to break so that no part is wider; spaces at the end of a part do not count."""
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
