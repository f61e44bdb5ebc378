"""Messages as styled lines: Markdown read by markdown-it-py. Line breaks stay where they were written.

Anything that is not Markdown is shown as it was written. HTML is text. Copying a message gives its original text.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct
from rich.text import Text

from moot.tui.text.code_lines import code_lines
from moot.tui.text.wrapping import wrap

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

PIECE_CHARS = 8_000  # read at once; the parser takes much longer for hostile texts beyond that
QUOTE_BAR, RULE_LINE, BULLET = "▌ ", "─" * 20, "• "
QUOTES = 4  # nested quotes that are shown
LINK_SCHEMES = ("http://", "https://", "mailto:")
LEAST_COLUMN = 5  # of a table
_INLINE = {"strong_open": "bold", "em_open": "italic", "s_open": "strike"}
_CLOSE = {"strong_close", "em_close", "s_close"}
_STRONG = re.compile(r"\*\*([^\s*](?:[^*]*[^\s*])?)\*\*")


class Laid(Struct, frozen=True):
    """A line before it is wrapped: its first `hang` characters are not repeated, `below` begins the next lines."""

    text: Text
    hang: int = 0
    below: str = ""


class TableBlock(Struct, frozen=True):
    """A table, whose columns are as wide as the screen allows."""

    rows: tuple[tuple[Text, ...], ...]
    indent: Text


Block = Laid | TableBlock


def markdown_lines(message: str, width: int, *, is_growing: bool = False) -> list[Text]:
    """Return the lines of a message, which must be printable (`plain.printable`), at most `width` cells wide.

    With `is_growing` the message is read paragraph by paragraph: only the last one is read again when it grows.
    """
    lines: list[Text] = []
    for piece in _split(message, 0 if is_growing else PIECE_CHARS):
        laid_out = _lay_out(piece, width)
        lines += [Text(), *laid_out] if lines and laid_out else laid_out
    return lines


def _split(message: str, least: int) -> Iterator[str]:
    """Split a message at blank lines outside of code, into pieces of more than `least` characters where possible."""
    if least and len(message) <= least:
        yield message
        return
    piece: list[str] = []
    size, fence = 0, ""
    lines = message.split("\n")
    for at, line in enumerate(lines):
        piece.append(line)
        size += len(line) + 1
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~") and (not fence or fence == mark):
            fence = "" if fence else mark
        after = lines[at + 1] if at + 1 < len(lines) else ""
        if not line.strip() and not fence and size > least and after[:1] not in ("", " ", "\t"):
            yield "\n".join(piece)
            piece, size = [], 0
    yield "\n".join(piece)


@lru_cache(maxsize=1_024)
def _lay_out(piece: str, width: int) -> list[Text]:
    lines: list[Text] = []
    for block in _read(piece):
        lines += (
            _lay_out_table(block, width)
            if isinstance(block, TableBlock)
            else wrap(block.text, width, block.hang, block.below)
        )
    return lines


@lru_cache(maxsize=1_024)
def _read(piece: str) -> tuple[Block, ...]:
    """Return the blocks of a piece of Markdown. A piece that is too long to be read is shown as it is."""
    if len(piece) > 2 * PIECE_CHARS and not piece.lstrip().startswith(("```", "~~~")):
        return tuple(Laid(Text(line)) for line in piece.rstrip("\n").split("\n"))
    return tuple(_Reader(piece).read(_parser().parse(piece)))


@lru_cache(maxsize=1)
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # not at start: it takes a tenth of a second

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


class _Reader:
    """Turns the tokens of one text into blocks. `_margin` is what stands before each line: bars and bullets."""

    def __init__(self, source: str) -> None:
        self._lines = source.split("\n")
        self._margins: list[tuple[str, str]] = []  # what begins the first and the other lines of a quote or an item
        self._numbers: list[int | None] = []  # of the next item of each open list; None for bullets
        self._heading = ""
        self._spaced_at = 0  # the last line of the source before which an empty line was considered

    def read(self, tokens: "Sequence[Token]") -> Iterator[Block]:
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.map and token.type not in ("inline", "list_item_open", "tr_open", "th_open", "td_open"):
                yield from self._space(token.map[0])
            if token.type == "table_open":
                end = next(i for i in range(at, len(tokens)) if tokens[i].type == "table_close")
                yield TableBlock(_read_rows(tokens[at:end]), self._margin())
                at = end
            else:
                yield from self._take(token)
            at += 1

    def _space(self, line: int) -> Iterator[Laid]:
        """Yield an empty line if there is one in the source before this one."""
        if self._spaced_at < line <= len(self._lines) and not self._lines[line - 1].strip(" >\t"):
            margin = self._margin(is_empty=True)
            margin.rstrip()
            yield Laid(margin)
        self._spaced_at = max(self._spaced_at, line)

    def _take(self, token: "Token") -> Iterator[Laid]:
        if token.type == "hr":
            yield self._line(Text(RULE_LINE, "dim"))
        elif token.type == "inline":
            for text in _read_inline(token.children or (), self._heading):
                yield self._line(text)
        elif token.type in ("fence", "code_block"):
            yield from self._code(token)
        elif token.nesting > 0:
            self._enter(token)
        elif token.nesting < 0:
            self._leave(token)

    def _enter(self, token: "Token") -> None:
        match token.type:
            case "blockquote_open":
                bar = QUOTE_BAR if len([each for each in self._margins if each[0] == QUOTE_BAR]) < QUOTES else ""
                self._margins.append((bar, bar))
            case "bullet_list_open":
                self._numbers.append(None)
            case "ordered_list_open":
                start = token.attrGet("start")
                self._numbers.append(1 if start is None else int(start))
            case "list_item_open":
                self._begin_item(token)
            case "heading_open":
                self._heading = "bold underline" if token.tag in ("h1", "h2") else "bold"

    def _leave(self, token: "Token") -> None:
        match token.type:
            case "blockquote_close" | "list_item_close":
                self._margins.pop()
            case "bullet_list_close" | "ordered_list_close":
                self._numbers.pop()
            case "heading_close":
                self._heading = ""

    def _begin_item(self, token: "Token") -> None:
        number = self._numbers[-1]
        mark = BULLET if number is None else f"{number}{token.markup} "
        if number is not None:
            self._numbers[-1] = number + 1
        self._margins.append((mark, " " * len(mark)))

    def _margin(self, *, is_empty: bool = False) -> Text:
        """Return what stands before the next line. The mark of an item is used once."""
        margin = Text()
        for at, (first, others) in enumerate(self._margins):
            margin.append(others if is_empty else first, "dim" if first == QUOTE_BAR else "")
            if not is_empty and first != others:
                self._margins[at] = (others, others)
        return margin

    def _line(self, text: Text) -> Laid:
        margin = self._margin()
        below = "".join(others for _, others in self._margins)
        return Laid(Text.assemble(margin, text), len(margin), below if below.strip() else "")

    def _code(self, token: "Token") -> Iterator[Laid]:
        language = token.info.split()[0] if token.info.split() else ""
        yield self._line(Text(f"╭ {language}".rstrip(), "dim"))
        below = "".join(others for _, others in self._margins) + "│ "
        for line in code_lines(token.content.removesuffix("\n"), language):
            margin = Text.assemble(self._margin(), ("│ ", "dim"))
            indent = len(line.plain) - len(line.plain.lstrip(" "))
            yield Laid(Text.assemble(margin, line), len(margin), below + " " * min(indent, 20))
        yield self._line(Text("╰", "dim"))


def _read_inline(tokens: "Sequence[Token]", style: str) -> Iterator[Text]:
    """Yield the lines of a paragraph."""
    line, styles, links = Text(), [style], []
    for token in tokens:
        shown = " ".join(filter(None, styles))
        if token.type in _INLINE:
            styles.append(_INLINE[token.type])
        elif token.type in _CLOSE:
            styles.pop()
        elif token.type in ("softbreak", "hardbreak"):
            yield line
            line = Text()
        elif token.type == "code_inline":
            line.append(token.content, f"{shown} cyan".strip())
        elif token.type == "link_open":
            links.append((str(token.attrGet("href") or ""), len(line)))
            styles.append("underline")
        elif token.type == "link_close":
            styles.pop()
            href, start = links.pop()
            if href != line.plain[start:] and href.startswith(LINK_SCHEMES):
                line.append(f" ({href})", "dim")
        elif token.type == "image":
            line.append(f"[{token.content}] ", shown)
            line.append(f"({token.attrGet('src')})", "dim")
        else:
            _append_text(line, token.content, shown)
    yield line


def _append_text(line: Text, text: str, style: str) -> None:
    """Append text in which CommonMark sees no emphasis: beside Chinese punctuation it sees none in `**注意：**请看`."""
    at = 0
    for match in _STRONG.finditer(text):
        line.append(text[at : match.start()], style)
        line.append(match[1], f"{style} bold".strip())
        at = match.end()
    line.append(text[at:], style)


def _read_rows(tokens: "Sequence[Token]") -> tuple[tuple[Text, ...], ...]:
    rows: list[list[Text]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows:
            style = "bold" if len(rows) == 1 else ""
            rows[-1].append(Text(" ").join(_read_inline(token.children or (), style)))
    return tuple(tuple(row) for row in rows)


def _lay_out_table(table: TableBlock, width: int) -> list[Text]:
    columns = max(len(row) for row in table.rows)
    widths = _share(
        [max((row[at].cell_len for row in table.rows if at < len(row)), default=0) for at in range(columns)],
        width - table.indent.cell_len - 3 * columns - 1,
    )
    lines = [_rule("┌┬┐", widths)]
    for number, row in enumerate(table.rows):
        cells = [wrap(cell, widths[at]) for at, cell in enumerate(row)]
        for at in range(max(len(cell) for cell in cells)):
            line = Text("│", "dim")
            for column, cell in enumerate(cells):
                part = cell[at] if at < len(cell) else Text()
                line = Text.assemble(line, " ", part, " " * (widths[column] - part.cell_len), (" │", "dim"))
            lines.append(line)
        lines.append(_rule("├┼┤" if number == 0 and len(table.rows) > 1 else "", widths))
    lines = [line for line in lines if line.plain]
    indented = [Text.assemble(table.indent, line) for line in [*lines, _rule("└┴┘", widths)]]
    return [line[: _fitting(line, width)] if line.cell_len > width else line for line in indented]


def _rule(corners: str, widths: Sequence[int]) -> Text:
    if not corners:
        return Text()
    left, middle, right = corners[0], corners[1], corners[2]
    return Text(left + middle.join("─" * (width + 2) for width in widths) + right, "dim")


def _share(wanted: list[int], room: int) -> list[int]:
    """Return the widths of columns: as wanted if there is room; else the widest ones are made narrower."""
    widths = [max(1, width) for width in wanted]
    while sum(widths) > room and max(widths) > LEAST_COLUMN:
        widths[widths.index(max(widths))] -= 1
    return widths


def _fitting(line: Text, width: int) -> int:
    """Return how many characters of a line fit: a table with too many columns is cut."""
    plain, used = line.plain, 0
    for at, _ in enumerate(plain):
        used = Text(plain[: at + 1]).cell_len
        if used > width:
            return at
    return len(plain)
