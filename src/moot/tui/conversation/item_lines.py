"""The lines of one item of the conversation: a message, the use of a tool, a step, a line of Moot."""

import re
from collections.abc import Iterator
from datetime import datetime

from rich.text import Text

from moot.core.view import View
from moot.telling.tool_calls import ToolCall
from moot.tui.text.code_lines import code_lines
from moot.tui.text.markdown_lines import markdown_lines
from moot.tui.text.plain import printable
from moot.tui.text.wrapping import wrap
from moot.tui.viewer_state import Item
from moot.tui.words import Words

INDENT = "  "
RESULT = "    "  # begins the lines of a result
OPEN_LINES = 300  # of an opened diff or output; the pager shows all of it
LEAST_COLUMNS, MOST_COLUMNS = 10, 120  # of a message: longer lines are hard to read
COLOURS = ("cyan", "green", "magenta", "yellow", "blue", "bright_red")
NOTES = {
    "→": "",
    "📋": "",
    "⚠": "yellow",
    "❌": "red",
    "✗": "red",
    "?": "bold yellow",
    "✓": "green",
    "⏸": "magenta",
    "⏹": "yellow",
    "■": "bold",
}
_MARK = re.compile(r"\s*(?:(?:[^\w\s\"'(\[“「【（]{1,2}|\d{1,3}[.)])\s+)?")  # `  · `, `✓ `, `  1. `


def local_time(at: str) -> str:
    """Return the local time of a timestamp, or "" for none."""
    return datetime.fromisoformat(at).astimezone().strftime("%H:%M:%S") if at else ""


def item_lines(item: Item, view: View, words: Words, width: int, *, is_open: bool = False) -> list[Text]:
    """Return the lines of an item. `is_open`: with what a tool changed or answered, and with all lines of a step."""
    width = max(LEAST_COLUMNS, width)
    match item.kind:
        case "message" | "partial":
            mark = words("partial") if item.kind == "partial" else ""
            return [Text(), *header(item, view, width, mark), *body(item.text, width)]
        case "tool":
            return [_tool_line(item, view, width, is_open), *(_opened_call(item, words, width) if is_open else ())]
        case "step":
            return list(_step(item, words, width, is_open))
        case "note":
            notes = [note(part) for part in printable(item.text).split("\n")]
            return [line for text, hang in notes for line in wrap(text, width, hang)]


def is_foldable(item: Item) -> bool:
    """Return whether there is more to see than the folded line."""
    if item.kind == "tool":
        return len(item.calls) > 1 or any(call.diff or call.output for call in item.calls)
    return item.kind == "step" and "\n" in item.text


def body(message: str, width: int, *, is_growing: bool = False) -> list[Text]:
    """Return a message as indented lines of Markdown."""
    width = min(MOST_COLUMNS, max(LEAST_COLUMNS, width - len(INDENT)))
    lines = markdown_lines(printable(message), width, is_growing=is_growing)
    return [Text.assemble(INDENT, line) if line.plain else line for line in lines]


def colour(member_id: str, view: View) -> str:
    ids = [member.id for member in view.members]
    return COLOURS[ids.index(member_id) % len(COLOURS)] if member_id in ids else "white"


def header(item: Item, view: View, width: int, mark: str = "") -> list[Text]:
    """`Bob → Carol  moot-executor.writer  12:00:01 #7`; what does not fit is left out, the place first."""
    name = " ".join(printable(item.name).split())
    to = f" → {', '.join(' '.join(printable(each).split()) for each in item.to)}" if item.to else ""
    author = Text.assemble((name, f"bold {colour(item.member, view)}"), to, (f"  {mark}" if mark else "", "yellow"))
    when, place = f"  {local_time(item.at)} #{item.seq}", f"  {printable(item.place)}" if item.place else ""
    for more in (place + when, when):
        if author.cell_len + len(more) <= width:
            return [Text.assemble(author, (more, "dim"))]
    return wrap(author, width)


def _tool_line(item: Item, view: View, width: int, is_open: bool) -> Text:
    """`▸ Bob ✎ Edited src/app.py +12 −3` on one line, whatever it is called."""
    fold = ("▾ " if is_open else "▸ ") if is_foldable(item) else "  "
    name = " ".join(printable(item.name).split())
    line = " ".join(printable(item.text).split())
    has_failed = any(call.tool.status == "failed" or call.tool.exit for call in item.calls)
    is_running = not all(call.tool.is_over for call in item.calls)
    style = "red" if has_failed else "bold" if is_running else ""
    text = Text.assemble(INDENT, (fold, "dim"), (f"{name} ", f"dim {colour(item.member, view)}"), (line, style))
    _colour_counts(text)
    text.truncate(width, overflow="ellipsis")
    return text


def _colour_counts(text: Text) -> None:
    for pattern, style in ((r" \+\d+(?= −\d)", "green"), (r"(?<=\d) −\d+", "red"), (r" ✓", "green")):
        text.highlight_regex(pattern, style)


def _opened_call(item: Item, words: Words, width: int) -> Iterator[Text]:
    for call in item.calls:
        if len(item.calls) > 1:
            target = ", ".join(call.tool.paths) or call.tool.title
            yield from wrap(Text(f"{RESULT}{' '.join(printable(target).split())}", "dim"), width, len(RESULT))
        else:
            yield from _framed(_more_of(call), words, width)


def _more_of(call: ToolCall) -> list[Text]:
    if call.diff:
        return code_lines(printable(call.diff), "diff")
    return code_lines(printable(call.output).rstrip("\n"), "")


def _framed(lines: list[Text], words: Words, width: int) -> Iterator[Text]:
    bar = f"{RESULT}│ "
    for line in lines[:OPEN_LINES]:
        yield from wrap(Text.assemble((bar, "dim"), line), width, len(bar), bar)
    if len(lines) > OPEN_LINES:
        yield Text(f"{RESULT}╰ {words('more_lines', count=len(lines) - OPEN_LINES)}", "dim")


def _step(item: Item, words: Words, width: int, is_open: bool) -> Iterator[Text]:
    """Yield what an agent thought or did without a tool: dim, and one line unless it is opened."""
    first, *rest = printable(item.text).split("\n")
    fold = ("▾ " if is_open else "▸ ") if rest else "  "
    text = Text(f"{fold}{first.strip()}", "dim")
    if not is_open:
        more = f" … {words('more_lines', count=len(rest))}" if rest else ""
        line = Text.assemble(INDENT, text, (more, "dim"))
        yield from [line] if line.cell_len <= width or not rest else _cut(text, more, width)
        return
    yield from wrap(Text.assemble(INDENT, text), width, 2 * len(INDENT))
    for part in rest[:OPEN_LINES]:
        yield from wrap(Text(f"{RESULT}{part.strip()}", "dim"), width, len(RESULT))


def _cut(text: Text, more: str, width: int) -> list[Text]:
    shown = Text.assemble(INDENT, text)
    shown.truncate(max(LEAST_COLUMNS, width - Text(more).cell_len), overflow="ellipsis")
    return [Text.assemble(shown, (more, "dim"))]


def note(line: str) -> tuple[Text, int]:
    """Style a line of Moot by its sign; results and tasks are plain. Also returns the indent of wrapped lines."""
    style = next((style for sign, style in NOTES.items() if line.lstrip().startswith(sign)), "dim")
    mark, is_plain = _MARK.match(line), line.startswith(RESULT) or line.lstrip()[:1].isdigit()
    return Text(INDENT + line, "" if is_plain else style), len(INDENT) + (mark.end() if mark else 0)
