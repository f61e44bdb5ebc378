"""The lines at the edges: the queue on top, the link at the bottom, the keys below it. Pure."""

from datetime import UTC, datetime, timedelta

from moot.core.machines.connection import State as Connection
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.session import Status
from moot.core.machines.task import State as TaskState
from moot.protocol.view import View
from moot.tui.conversation import local_time
from moot.tui.keys import Keys
from moot.tui.plain import Content, plain_line
from moot.tui.words import Words

# in the order in which they stand: the action, its word, and what is left out first where there is no room
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
    """`📋 Queue: [Claude ⏳ 0:42] → Bob → You`, elsewhere who works on what; the title while nothing runs."""
    names = [_name(view, member, viewer, words) for member in view.pending]
    acting = [
        f"[{_name(view, turn.member, viewer, words)} ⏳ {elapsed(turn.started_at, now)}]" for turn in view.running
    ]
    working = view.work.tasks.values() if view.work else ()
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
    if view.waiting_for == viewer:
        return words("status.you")
    return words("status.waiting", name=view.name(view.waiting_for))


def link_line(view: View, url: str | None, unsent: int, since: str, left_s: float, words: Words) -> Content:
    """State, how far, last confirmed time, what is unsent; `since` is when the link was lost."""
    waiting = f" · {words('unsent', count=unsent)}" if unsent else ""
    link = view.connection
    if url is None:
        return plain_line(f"● {words('here', seq=view.seq)}{waiting}", "green")
    reset = f" · {words('reconnect_reset')}" if link.reset is not None else ""
    match link.state:
        case Connection.CONNECTED:
            shown = words("link.connected", seq=view.seq, at=local_time(view.at))
            return plain_line(f"● {shown}{reset}{waiting} · {url}", "green")
        case Connection.CONNECTING:
            return plain_line(f"◌ {words('link.connecting')}{waiting}", "yellow")
        case Connection.RECONNECTING:
            shown = words("link.reconnecting", attempt=link.attempt, seconds=max(0, round(left_s)))
            return plain_line(f"◌ {shown}{waiting}", "yellow")
        case _:
            return plain_line(f"○ {words('link.offline', at=since)}{waiting}", "red")


def key_line(words: Words, keys: Keys, has_question: bool, width: int) -> Content:
    """As many as fit; the one that leads to a question always does."""
    wanted = [each for each in KEYS if has_question or each[0] != "question"]
    while True:
        shown = [
            plain_line(keys.short(action), "bold") + Content(" ") + plain_line(words(word), "dim")
            for action, word, _ in wanted
        ]
        line = Content("  ").join(shown)
        if line.cell_length <= width or len(wanted) == 1:
            return line
        wanted.remove(max(wanted, key=lambda each: each[2]))
