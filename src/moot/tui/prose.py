"""Messages as styled lines: a subset of Markdown, line by line, so that nothing is reflowed or lost.

Everything else is shown as it was written. Copying a message gives its original text.
"""

import re
from collections.abc import Iterator

from msgspec import Struct
from rich.cells import cell_len, get_character_cell_size
from rich.text import Text

_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})\s*([\w+#.-]*)\s*\Z")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)[\s#]*\Z")
_RULE = re.compile(r"\s{0,3}([-*_])(?:\s*\1){2,}\s*\Z")
_QUOTE = re.compile(r"\s{0,3}((?:>\s?)+)")
_ITEM = re.compile(r"(\s*)([-*+]|\d{1,9}[.)])\s+(?=\S)")
_SPANS = re.compile(
    r"(?<!`)(?P<ticks>`++)(?P<code>[^`]+)(?P=ticks)(?!`)"
    r"|\[(?P<label>[^\[\]]+)\]\((?P<url>(?:https?://|mailto:)[^()\s]+)\)"
    r"|\*\*(?P<strong>[^\s*](?:[^*]*[^\s*])?)\*\*"
    r"|(?<![\w*])\*(?P<em>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*])"
    r"|(?<!\w)_(?P<em2>[^\s_](?:[^_]*[^\s_])?)_(?!\w)"
    r"|~~(?P<strike>[^\s~](?:[^~]*[^\s~])?)~~"
)
_STYLES = {"code": "cyan", "strong": "bold", "em": "italic", "em2": "italic", "strike": "strike"}
CLOSING = frozenset("，。、；：！？）】」』”’》〉…,.;:!?)]}")
OPENING = frozenset("（【「『“‘《〈([{")
MIN_COLUMNS = 10
QUOTE_BAR, RULE_LINE = "▌ ", "─" * 20
QUOTES = 4  # nested quotes that are shown


class ProseLine(Struct, frozen=True):
    """When the line is wrapped, the first `hang` characters indent it, and `below` precedes the lines that follow."""

    text: Text
    hang: int = 0
    below: str = ""


def prose(message: str) -> Iterator[ProseLine]:
    """Yield the styled lines of a message, which must be printable (`plain.printable`)."""
    fence = ""
    for line in message.split("\n"):
        match = _FENCE.match(line)
        if match and (not fence or match[1].startswith(fence)):
            fence = "" if fence else match[1]
            if fence and match[2]:
                yield ProseLine(Text(match[2], "dim"))
        elif fence:
            yield ProseLine(Text(line, "cyan"), _leading(line))
        else:
            yield _line(line)


def _line(line: str) -> ProseLine:
    if _RULE.match(line):
        return ProseLine(Text(RULE_LINE, "dim"))
    heading = _HEADING.match(line)
    if heading:
        return ProseLine(_inline(heading[1], "bold underline"))
    quote = _QUOTE.match(line)
    if quote:
        bars = QUOTE_BAR * min(quote[1].count(">"), QUOTES)
        return ProseLine(Text.assemble((bars, "dim"), _inline(line[quote.end() :])), len(bars), bars)
    item = _ITEM.match(line)
    if item:
        mark = f"{item[1]}{'•' if item[2] in '-*+' else item[2]} "
        return ProseLine(Text.assemble(mark, _inline(line[item.end() :])), len(mark))
    return ProseLine(_inline(line), _leading(line))


def _leading(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _inline(line: str, style: str = "") -> Text:
    text, at = Text(style=style), 0
    for match in _SPANS.finditer(line):
        text.append(line[at : match.start()])
        kind = match.lastgroup or ""
        if kind == "url":
            text.append(match["label"], "underline")
            text.append(f" ({match['url']})", "dim")
        else:
            text.append(match[kind], _STYLES[kind])
        at = match.end()
    text.append(line[at:])
    return text


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
