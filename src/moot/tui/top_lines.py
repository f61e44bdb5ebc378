"""The lines at the top (queue, status) and at the bottom (link, keys) of the screen."""

from datetime import UTC, datetime, timedelta

from moot.core.machines.connection import State as Connection
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.session import Status
from moot.core.machines.task import TaskState
from moot.core.view import View
from moot.tui.conversation import local_time
from moot.tui.keys import Keys
from moot.tui.plain import Content, plain_line
from moot.tui.viewer_state import ViewerState
from moot.tui.words import Words

# In display order: action, text, and rank; the highest rank is left out first if the line is too short.
KEYS = (
    ("quit", "key.quit", 1),
    ("pause", "key.pause", 2),
    ("question", "key.card", 0),
    ("next_pane", "key.focus", 4),
    ("timeline", "tab.timeline", 6),
    ("tasks", "tab.tasks", 7),
    ("state", "tab.state", 8),
    ("palette", "key.palette", 5),
    ("help", "key.help", 3),
)


def elapsed(since: str, now: datetime) -> str:
    seconds = max(0, int((now - datetime.fromisoformat(since)) / timedelta(seconds=1))) if since else 0
    return f"{seconds // 60}:{seconds % 60:02}"


def utc_now() -> datetime:
    return datetime.now(UTC)


def queue_line(view: View, viewer: str | None, words: Words, now: datetime) -> Content:
    """`📋 Queue: [Claude ⏳ 0:42] → Bob → You`, with running tasks in a plan; the title while nothing runs."""
    names = [_name(view, member, viewer, words) for member in view.pending]
    acting = [
        f"[{_name(view, turn.member, viewer, words)} ⏳ {elapsed(turn.started_at, now)}]" for turn in view.running
    ]
    working = view.work.rows if view.work else []
    acting += [f"[{view.name(row.member)}: {row.title} ⏳]" for row in working if row.state == TaskState.RUNNING]
    if acting or names:
        together = [" ".join(acting)] if acting else []
        return plain_line(words("queue.line", names=" → ".join([*together, *names])))
    return plain_line(view.title or view.team, "bold")


def _name(view: View, member: str, viewer: str | None, words: Words) -> str:
    return words("you") if member == viewer else view.name(member)


def status_line(view: View, viewer: str | None, words: Words) -> Content:
    parts = [_status(view, viewer, words)]
    if view.max_hops and view.flow == "chat":
        parts.append(words("hops", hops=view.hops, max=view.max_hops))
    if view.counters.cost_usd:
        parts.append(f"${view.counters.cost_usd:.2f}")
    elif view.counters.tokens:
        parts.append(words("tokens", n=view.counters.tokens))
    return plain_line(" · ".join(parts), "bold yellow" if view.questions else "bold")


def _status(view: View, viewer: str | None, words: Words) -> str:
    if view.status is Status.COMPLETED:
        return words("status.completed")
    if view.questions:
        return words("card.title")
    if view.status is Status.ACTIVE:
        return words("pausing" if view.interrupt == Interrupt.PAUSING else "status.active")
    if view.waiting_for is None:
        return words("status.new")
    if view.pause_reason in ("user_pause", "stopped"):
        return words("status.paused")
    if view.waiting_for == viewer:
        return words("status.you")
    return words("status.waiting", name=view.name(view.waiting_for))


def link_line(viewer_state: ViewerState, url: str | None, since: str, left_s: float, words: Words) -> Content:
    """State of the link, last received seq and its time, number of unsent messages.

    `since` is the time when the link was lost, `left_s` the time until the next attempt.
    """
    unsent = f" · {words('unsent', count=len(viewer_state.unsent))}" if viewer_state.unsent else ""
    link = viewer_state.link
    if url is None:
        return plain_line(f"● {words('here', seq=viewer_state.seq)}{unsent}", "green")
    reset = f" · {words('reconnect_reset')}" if viewer_state.is_reset else ""
    match link.state:
        case Connection.CONNECTED:
            shown = words("link.connected", seq=viewer_state.seq, at=local_time(viewer_state.at))
            return plain_line(f"● {shown}{reset}{unsent} · {url}", "green")
        case Connection.CONNECTING:
            return plain_line(f"◌ {words('link.connecting')}{unsent}", "yellow")
        case Connection.RECONNECTING:
            shown = words("link.reconnecting", attempt=link.attempt, seconds=max(0, round(left_s)))
            return plain_line(f"◌ {shown}{unsent}", "yellow")
        case _:
            return plain_line(f"○ {words('link.offline', at=since)}{unsent}", "red")


def key_line(words: Words, keys: Keys, has_question: bool, width: int) -> Content:
    """Show as many keys as fit into `width`. The key that leads to a question has the lowest rank."""
    entries = [entry for entry in KEYS if has_question or entry[0] != "question"]
    while True:
        shown = [
            plain_line(keys.short(action), "bold") + Content(" ") + plain_line(words(word), "dim")
            for action, word, _ in entries
        ]
        line = Content("  ").join(shown)
        if line.cell_length <= width or len(entries) == 1:
            return line
        entries.remove(max(entries, key=lambda entry: entry[2]))
