"""The job of a supervisor in the panel of tasks: the acting agent, tools, decisions and shared state."""

import json
from collections.abc import Iterator
from typing import Any

from moot.core.flows.supervisor.supervision import Choice, ToolRun
from moot.core.flows.supervisor.supervisor_view import Job
from moot.core.view import View
from moot.tui.text.plain import Content, plain_line
from moot.tui.words import Words

NO_TASK = "#"  # prefix of the keys of entries that are not tasks
SHOWN_CHOICES = 30


def job_head(job: Job, view: View, words: Words) -> Content:
    acting = words("job.acting", name=player_name(job.acting, view), n=job.steps)
    state = words(f"mark.job.{job.outcome}") if job.outcome else acting
    return Content("\n").join([plain_line(job.goal, "bold"), plain_line(state)])


def job_entries(job: Job, view: View, words: Words, width: int) -> Iterator[tuple[str, Content]]:
    for tool in job.tools:
        yield f"{NO_TASK}tool {tool.call_id}", _tool(tool, view, words, width)
    yield from _titled("job.choices", words)
    for choice in job.choices[: -SHOWN_CHOICES - 1 : -1]:
        yield f"{NO_TASK}choice {choice.number}", _choice(choice, view, words, width)
    yield from _titled("job.shared", words)
    for key, value in job.state.items():
        who = f" · {view.name(job.writers[key])}" if job.writers.get(key) else ""
        head = plain_line(f"{key}{who}", "bold")
        yield f"{NO_TASK}key {key}", Content("\n").join([head, _cut(f"  {_show(value)}", width, "dim")])


def _titled(word: str, words: Words) -> Iterator[tuple[str, Content]]:
    yield f"{NO_TASK}{word}", plain_line(f"— {words(word)}", "dim")


def player_name(node: str, view: View) -> str:
    """Return the display name of the member that plays the agent `node` of the team file."""
    return next((member.display_name for member in view.members if node in (member.role, member.id)), node)


def _tool(tool: ToolRun, view: View, words: Words, width: int) -> Content:
    sign = "✗" if tool.error else "✓" if tool.is_done else "⏳"
    head = _cut(f"{sign} {words('job.tools')}: {tool.name} · {player_name(tool.agent, view)}", width, "cyan")
    result = tool.error or (_show(tool.result) if tool.is_done else _show(tool.args))
    return Content("\n").join([head, _cut(f"  {result}", width, "dim")])


def _choice(choice: Choice, view: View, words: Words, width: int) -> Content:
    if choice.fault:
        return _cut(f"✗ {words('job.undecided')}: {choice.fault}", width, "yellow")
    instead_of = player_name(choice.corrected_from, view) if choice.corrected_from else ""
    corrected = words("job.corrected", **{"from": instead_of}) if instead_of else ""
    head = _cut(f"→ {player_name(choice.next, view)} {corrected}", width, "yellow" if corrected else "")
    return Content("\n").join([head, _cut(f"  {choice.guidance}", width, "dim")]) if choice.guidance else head


def _show(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _cut(text: str, width: int, style: str) -> Content:
    return plain_line(text[:500], style).truncate(max(10, width - 2), ellipsis=True)
