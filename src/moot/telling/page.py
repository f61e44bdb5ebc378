"""A session as one HTML file that opens anywhere: it has no script and loads nothing."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

import msgspec
from msgspec import Struct

from moot.core.codec import Event
from moot.core.evolve import evolve
from moot.core.session.events import StepAsked
from moot.core.session.state import State
from moot.core.session.team import Language
from moot.core.texts import render
from moot.telling.teller import Teller, Told
from moot.telling.tool_calls import ToolCall, ToolLines, tell_calls

STYLE = """
:root{color-scheme:light dark;--ink:light-dark(#23211c,#e8e6e1);--soft:light-dark(#5c574d,#a9a69e);
--line:light-dark(#dedad2,#34373d);--ground:light-dark(#fbfaf8,#16171a);--mine:light-dark(#f1efea,#202227)}
body{max-width:50rem;margin:2rem auto;padding:0 1rem;background:var(--ground);color:var(--ink);
font:16px/1.55 system-ui,"PingFang SC","Microsoft YaHei","Noto Sans CJK SC",sans-serif;overflow-wrap:anywhere}
h1{margin:0;font-size:1.6rem}h2{margin:2rem 0 .5rem;font-size:1.05rem}
.soft,time,summary{color:var(--soft);font-size:.85rem}
article{margin:.6rem 0;padding:.5rem .8rem;border-radius:8px}article.human{background:var(--mine)}
article p,pre{margin:.2rem 0 0;white-space:pre-wrap}.note{margin:.5rem 0;text-align:center;color:var(--soft);
font-size:.9rem;white-space:pre-wrap}
details{margin:.4rem 0;padding:.3rem .8rem;border:1px solid var(--line);border-radius:8px}
table{border-collapse:collapse;width:100%;font-size:.8rem}
td{padding:.15rem .5rem;border-top:1px solid var(--line);vertical-align:top}
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_RESULT = "    "  # begins the lines of a result


class _Source(Struct, frozen=True):
    member: str = ""


class _Envelope(Struct, frozen=True):
    """The fields of a stored event that the timeline shows."""

    event: str
    source: _Source = _Source()
    timeline: str = ""


class PageWriter:
    """Writes the file in pieces, so that a long session need not be in memory: `open`, `tell`, `turn`, `list`, `close`.

    Every text of the session is escaped, and there is no element that could run or load anything.

    Args:
        state: the session at the end of the export.
        last: its last event.
        language: of the texts for people; the session's own by default.
    """

    def __init__(self, state: State, first: Event, last: Event, language: Language | None = None) -> None:
        self._state = state
        self._first = first
        self._last = last
        self._language = language or state.language
        self._teller = Teller(language=language, is_whole=True)
        self._tools = ToolLines()

    def open(self) -> str:
        title = escape(self._state.shown_title or self._state.team.name or "Moot")
        return "".join(
            [
                f'<!doctype html>\n<html lang="{self._language}">\n<head>\n<meta charset="utf-8">\n',
                f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n',
                '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
                f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n",
                *self._describe(),
                "</header>\n<main>\n",
            ]
        )

    def _describe(self) -> Iterator[str]:
        language, last = self._language, self._last
        count = f"{last.seq} {render('export.events', language)}"
        facts = (last.session_id, count, self._first.timestamp, last.timestamp)
        members = ", ".join(member.display_name for member in self._state.team.members)
        yield f'<p class="soft">{escape(" · ".join(facts))}</p>\n'
        yield f'<p class="soft">{render("export.members", language)}: {escape(members)}</p>\n'
        yield f'<p class="soft">sha256 {escape(last.hash)}</p>\n'

    def tell(self, events: Iterable[Event]) -> str:
        """Write the next events as people read them. All of them come before `turn`."""
        return "".join([part for event in events for part in self._tell(event)])

    def _tell(self, event: Event) -> Iterator[str]:
        told = self._teller.tell(event.fact)
        for calls in self._tools.take(event.fact, event.timestamp, told):
            yield _tell_tools(calls, self._state, self._language)
        yield from _tell(event, told)

    def turn(self) -> str:
        """Begin the list of events."""
        tools = "".join([_tell_tools(calls, self._state, self._language) for calls in self._tools.end()])
        summary = f"{render('export.timeline', self._language)} ({self._last.seq})"
        return f"{tools}</main>\n<details><summary>{summary}</summary>\n<table>\n"

    def list(self, events: Iterable[Event]) -> str:
        """Write the next events as rows of the list."""
        return "".join([_write_row(event) for event in events])

    def close(self) -> str:
        return "</table></details>\n</body>\n</html>\n"


def to_html(log: Sequence[Event], language: Language | None = None) -> str:
    """Return the whole file at once, in `language` or that of the session. Raises ValueError if there are no events."""
    state = None
    for event in log:
        state = evolve(state, event.fact)
    if state is None:
        raise ValueError("a session has at least one event")
    page = PageWriter(state, log[0], log[-1], language)
    return page.open() + page.tell(log) + page.turn() + page.list(log) + page.close()


def _tell(event: Event, told: Told) -> Iterator[str]:
    """Render messages, landmarks and outcomes; steps without a tool are shown in the timeline only."""
    place = f'id="e{event.seq}"'
    if told.member:
        yield from _say(event, told)
    elif told.lines and told.weight != "step":
        head, result = _split_result(told.lines)
        if isinstance(event.fact, StepAsked) and told.text:
            head = told.text  # without the options, as it cannot be answered here
        if told.weight == "outcome":
            yield f"<article {place}><b>{escape(head)}</b><p>{escape(result)}</p></article>\n"
        elif result:
            yield f"<details {place}><summary>{escape(head)}</summary><pre>{escape(result)}</pre></details>\n"
        else:
            yield f'<p class="note" {place}>{escape(head)}</p>\n'


def _tell_tools(calls: tuple[ToolCall, ...], state: State, language: Language) -> str:
    """Render the uses of tools as one folded line, with the diff, the output or the files below it."""
    who = state.team.member(calls[0].member).display_name if calls[0].member else "Moot"
    line = f"{who}: {tell_calls(calls, language)}"
    files = "\n".join(path for call in calls for path in call.tool.paths) if len(calls) > 1 else ""
    more = files or calls[0].diff or calls[0].output
    if not more:
        return f'<p class="note">{escape(line)}</p>\n'
    return f"<details><summary>{escape(line)}</summary><pre>{escape(more)}</pre></details>\n"


def _split_result(lines: list[str]) -> tuple[str, str]:
    """Split lines into the text and the more deeply indented result below it."""
    end = next((at for at, line in enumerate(lines) if not line or line.startswith(_RESULT)), len(lines))
    head = "\n".join(line.removeprefix("  ") for line in lines[:end])
    return head, "\n".join(line.removeprefix(_RESULT) for line in lines[end:]).strip()


def _say(event: Event, told: Told) -> Iterator[str]:
    kind = "human" if told.state.team.member(told.member).is_human else "ai"
    time = f'<time datetime="{escape(event.timestamp)}">{escape(event.timestamp[11:19])}</time>'
    if told.text:
        yield f'<article class="{kind}" id="e{event.seq}"><b>{escape(told.name)}</b> {time}'
        yield f"<p>{escape(told.text)}</p></article>\n"


def _write_row(event: Event) -> str:
    stored = msgspec.json.decode(event.data, type=_Envelope)
    cells = (str(event.seq), event.timestamp[11:23], stored.timeline or stored.event, stored.source.member)
    return "<tr>" + "".join([f"<td>{escape(cell)}</td>" for cell in cells]) + "</tr>\n"
