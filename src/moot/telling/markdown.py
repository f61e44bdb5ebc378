"""A session as Markdown, for reading elsewhere: a heading for each message, everything else as quotes.

What people and models wrote is untrusted: it may be emphasised, listed, linked and fenced as they wrote it, but it
cannot make a heading, which would look like another message, nor HTML, nor an image, which would be loaded when
somebody reads it. Entities take the meaning from a character, because an escape could itself be escaped.
"""

import re
from collections.abc import Iterable, Iterator

from moot.core.codec import Event
from moot.core.session import events
from moot.core.session.state import State
from moot.telling.teller import Teller, Told
from moot.telling.tool_calls import ToolCall, ToolLines, is_tool_step, tell_calls

# A transcript that is read later needs neither the queue nor the steps that agents took.
_LEFT_OUT = ("queue.changed", "turn.step", "session.paused", "session.team_task_set")
# Fences count in the first column only: one further in may be part of a list, and end with it.
_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_CONTAINERS = r"(?P<before>[ \t]*(?:(?:>|[-+*]|\d{1,9}[.)])[ \t]*)*)"
_HEADING = re.compile(rf"{_CONTAINERS}#(?=#{{0,5}}(?:[ \t]|$))")
_UNDERLINE = re.compile(rf"{_CONTAINERS}(?P<mark>[=-])(?=(?P=mark)*[ \t]*$)")
_INNER_FENCE = re.compile(rf"{_CONTAINERS}(?P<mark>[`~])(?=(?P=mark){{2}})")
_DEFINITION = re.compile(rf"{_CONTAINERS}\[(?=[^\]]*\]:)")


def to_markdown(log: Iterable[Event]) -> str:
    """Return the whole document, under the last title of the session."""
    teller, tools = Teller(is_whole=True), ToolLines()
    parts = [part for event in log for part in _tell(event, teller, tools) if part]
    if teller.state:
        parts += [_tell_tools(calls, teller.state) for calls in tools.end()]
        parts.insert(0, f"# {_plain(teller.state.shown_title or teller.state.team.name)}")
    return "\n\n".join(parts) + "\n"


def _tell(event: Event, teller: Teller, tools: ToolLines) -> Iterator[str]:
    """Yield the uses of tools that are over, and the part of an event."""
    told = teller.tell(event.fact)
    yield from (_tell_tools(calls, told.state) for calls in tools.take(event.fact, event.timestamp, told))
    if not is_tool_step(event.fact):
        yield _tell_event(event, told)


def _tell_tools(calls: tuple[ToolCall, ...], state: State) -> str:
    """Return the line of a use of a tool, with its diff below it as code."""
    who = state.team.member(calls[0].member).display_name if calls[0].member else "Moot"
    line = f"> {_plain_line(f'{who}: {tell_calls(calls, state.language)}')}"
    diff = calls[0].diff if len(calls) == 1 else ""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", diff)), default=0))
    return f"{line}\n\n{fence}diff\n{diff.rstrip()}\n{fence}" if diff else line


def _tell_event(event: Event, told: Told) -> str:
    fact = event.fact
    if told.member:
        heading = f"### {_plain(told.name)} · #{event.seq} · {event.timestamp}"
        return f"{heading}\n\n{_quote_text(told.text)}" if told.text else ""
    if isinstance(fact, events.SessionCreated):
        members = ", ".join(f"{_plain(member.display_name)} ({member.kind})" for member in fact.members)
        return f"{event.session_id} · {event.timestamp} · {members}"
    if isinstance(fact, events.SessionCompleted):
        return f"*{_plain(told.lines[0])} · {event.timestamp}*"
    if fact.event in _LEFT_OUT:
        return ""
    # Every line stays a line. Results are indented by four spaces, which would make them code.
    return "  \n".join(f"> {_plain_line(line.removeprefix('  '))}" for line in told.lines)


def _quote_text(text: str) -> str:
    """Return a message with its Markdown, without headings, HTML and images. A fence that is left open is closed."""
    lines, fence = [], ""
    for line in text.split("\n"):
        if fence:
            is_end = re.fullmatch(rf" {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*", line)
            lines.append(line)
            fence = "" if is_end else fence
        elif match := _FENCE.match(line):
            fence = match[1] or match[2]
            lines.append(line if match[1] else _plain(line))
        else:
            lines.append(_plain_line(line))
    return "\n".join([*lines, fence] if fence else lines)


def _plain_line(line: str) -> str:
    """Take the meaning from what begins a heading, underlines one, opens a fence, or defines the target of a link."""
    line = _HEADING.sub(r"\g<before>&#35;", line, count=1)
    for beginning in (_UNDERLINE, _INNER_FENCE):
        line = beginning.sub(lambda match: f"{match['before']}&#{ord(match['mark'])};", line, count=1)
    return _plain(_DEFINITION.sub(r"\g<before>&#91;", line, count=1))


def _plain(text: str) -> str:
    """Take the meaning from HTML and images."""
    return text.replace("<", "&lt;").replace("![", "!&#91;")
