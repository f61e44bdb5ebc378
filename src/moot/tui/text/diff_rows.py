"""A unified diff as rows with line numbers, and these as lines of the screen: one below the other, or side by side."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct
from rich.text import Text

from moot.tui.text.code_lines import colour_line, find_lexer_name
from moot.tui.text.plain import printable

Kind = Literal["head", "hunk", "context", "added", "removed", "note"]
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_SIGNS: dict[Kind, str] = {"added": "+", "removed": "-", "context": " "}
_STYLES: dict[Kind, str] = {"added": "green", "removed": "red", "hunk": "cyan", "head": "bold", "note": "dim"}
NUMBER = 5  # columns of a line number with the space behind it


class DiffRow(Struct, frozen=True, kw_only=True):
    """A line of a diff. `old` and `new` are its numbers in the two files; `new` of a removed line is where it was."""

    kind: Kind
    text: str
    old: int = 0
    new: int = 0

    @property
    def is_code(self) -> bool:
        return self.kind in _SIGNS

    @property
    def line(self) -> str:
        """The line as it stands in the diff."""
        return _SIGNS.get(self.kind, "") + self.text


class Shown(Struct, frozen=True):
    """A line of the screen, and the row that a comment on it is about."""

    text: Text
    row: int


def read_rows(diff: str) -> list[DiffRow]:
    """Read a unified diff of one file; one that is cut ends with the last whole line."""
    rows: list[DiffRow] = []
    left_old = left_new = old = new = 0
    for line in diff.removesuffix("\n").split("\n"):
        if hunk := _HUNK.match(line):
            old, left_old, new, left_new = (1 if number is None else int(number) for number in hunk.groups())
            rows.append(DiffRow(kind="hunk", text=line))
        elif line.startswith("\\"):
            rows.append(DiffRow(kind="note", text=line))
        elif left_old <= 0 and left_new <= 0:
            rows.append(DiffRow(kind="head", text=line))
        elif line.startswith("+"):
            rows.append(DiffRow(kind="added", text=line[1:], new=new))
            new, left_new = new + 1, left_new - 1
        elif line.startswith("-"):
            rows.append(DiffRow(kind="removed", text=line[1:], old=old, new=new))
            old, left_old = old + 1, left_old - 1
        else:
            rows.append(DiffRow(kind="context", text=line[1:], old=old, new=new))
            old, new, left_old, left_new = old + 1, new + 1, left_old - 1, left_new - 1
    return rows


def lay_out(rows: Sequence[DiffRow], path: str, width: int, *, is_split: bool) -> list[Shown]:
    """Return the lines of the screen. Lines that are too long are cut at its edge."""
    lexer = find_lexer_name(path)
    return list(_split(rows, lexer, width) if is_split else _unified(rows, lexer))


def _unified(rows: Sequence[DiffRow], lexer: str) -> Iterator[Shown]:
    for number, row in enumerate(rows):
        yield Shown(_side(row, lexer, row.old if row.kind == "removed" else row.new), number)


def _split(rows: Sequence[DiffRow], lexer: str, width: int) -> Iterator[Shown]:
    """Yield removed lines on the left beside the added ones that follow them on the right."""
    half, at = max((width - 3) // 2, NUMBER + 2), 0
    while at < len(rows):
        if not rows[at].is_code or rows[at].kind == "context":
            row = rows[at]
            left = _side(row, lexer, row.old)
            yield Shown(_beside(left, _side(row, lexer, row.new), half) if row.is_code else left, at)
            at += 1
            continue
        removed = _take(rows, at, "removed")
        added = _take(rows, at + len(removed), "added")
        for place in range(max(len(removed), len(added))):
            old = removed[place] if place < len(removed) else None
            new = added[place] if place < len(added) else None
            left = _side(rows[old], lexer, rows[old].old) if old is not None else Text()
            right = _side(rows[new], lexer, rows[new].new) if new is not None else Text()
            yield Shown(_beside(left, right, half), new if new is not None else old or 0)
        at += len(removed) + len(added)


def _take(rows: Sequence[DiffRow], start: int, kind: Kind) -> range:
    end = start
    while end < len(rows) and rows[end].kind == kind:
        end += 1
    return range(start, end)


def _beside(left: Text, right: Text, half: int) -> Text:
    left = left.copy()
    left.truncate(half, overflow="ellipsis", pad=True)
    right = right.copy()
    right.truncate(half, overflow="ellipsis")
    return Text.assemble(left, (" │ ", "dim"), right)


def _side(row: DiffRow, lexer: str, number: int) -> Text:
    """A line with its number and sign: removed ones red, added ones green, with the colours of the language."""
    style, text = _STYLES.get(row.kind, ""), printable(row.text)
    if not row.is_code:
        return Text(text, style)
    code = Text(text, style) if row.kind == "removed" else colour_line(text, lexer, style)
    return Text.assemble((f"{number:>{NUMBER - 1}} ", "dim"), (_SIGNS[row.kind], style), code)


def quote_rows(rows: Sequence[DiffRow], first: int, last: int) -> tuple[tuple[int, int], str]:
    """Return the lines of the new file that these rows are, and the rows as they stand in the diff."""
    chosen = [row for row in rows[first : last + 1] if row.is_code]
    numbers = [max(row.new, 1) for row in chosen]
    return (min(numbers), max(numbers)), "\n".join(row.line for row in chosen)
