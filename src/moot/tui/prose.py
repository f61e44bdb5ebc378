"""What members write, as styled lines: a little Markdown, line by line, so that nothing is reflowed or lost. Pure.

What is no Markdown of this kind is shown as it was written. Copying gives the text itself.
"""

import re
from collections.abc import Iterator

from msgspec import Struct
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
QUOTE_BAR, RULE_LINE = "▌ ", "─" * 20
QUOTES = 4  # inside each other, as far as it is shown


class ProseLine(Struct, frozen=True):
    """`hang` characters stand before the first line when it is broken, `below` before the others."""

    text: Text
    hang: int = 0
    below: str = ""


def prose(said: str) -> Iterator[ProseLine]:
    """`said` is printable (`plain.printable`)."""
    fence = ""
    for line in said.split("\n"):
        found = _FENCE.match(line)
        if found and (not fence or found[1].startswith(fence)):
            fence = "" if fence else found[1]
            if fence and found[2]:
                yield ProseLine(Text(found[2], "dim"))
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
    for found in _SPANS.finditer(line):
        text.append(line[at : found.start()])
        kind = found.lastgroup or ""
        if kind == "url":
            text.append(found["label"], "underline")
            text.append(f" ({found['url']})", "dim")
        else:
            text.append(found[kind], _STYLES[kind])
        at = found.end()
    text.append(line[at:])
    return text
