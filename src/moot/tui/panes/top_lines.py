"""The lines at the top (queue, status) and at the bottom (link, keys) of the screen."""

from datetime import UTC, datetime, timedelta

from textual.reactive import reactive
from textual.widget import Widget

from moot.core.machines.connection import State as Connection
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.session import Status
from moot.core.machines.task import TaskState
from moot.core.view import View
from moot.tui.conversation.item_lines import local_time
from moot.tui.keys import Keys
from moot.tui.text.plain import Content, plain_line
from moot.tui.viewer_state import ViewerState
from moot.tui.words import Words, default_words

# In display order: action, text, and rank; the highest rank is left out first if the line is too short.
KEYS = (
    ("quit", "key.quit", 1),
    ("pause", "key.pause", 2),
    ("resume", "key.resume", 0),
    ("question", "key.card", 0),
    ("inbox", "key.inbox", 3),
    ("sessions", "key.sessions", 5),
    ("next_pane", "key.focus", 7),
    ("panes", "key.panes", 6),
    ("palette", "key.palette", 8),
    ("help", "key.help", 4),
)
STOPPED = ("user_pause", "stopped")  # reasons of a pause that somebody asked for


def elapsed(since: str, now: datetime) -> str:
    seconds = max(0, int((now - datetime.fromisoformat(since)) / timedelta(seconds=1))) if since else 0
    return f"{seconds // 60}:{seconds % 60:02}"


def utc_now() -> datetime:
    return datetime.now(UTC)


def queue_line(view: View, viewer: str | None, words: Words, now: datetime, *, is_scripted: bool = False) -> Content:
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
    title = plain_line(view.title or view.team, "bold")
    return Content.assemble(title, plain_line(f" · {words('scripted')}", "dim")) if is_scripted else title


def _name(view: View, member: str, viewer: str | None, words: Words) -> str:
    return words("you") if member == viewer else view.name(member)


def status_line(view: View, viewer: str | None, words: Words) -> Content:
    parts = [_status(view, viewer, words)]
    if view.max_hops:
        parts.append(words("hops", hops=view.hops, max=view.max_hops))
    if view.counters.cost_usd:
        parts.append(f"${view.counters.cost_usd:.2f}")
    elif view.counters.tokens:
        parts.append(words("tokens", n=view.counters.tokens))
    return plain_line(" · ".join(parts), "bold yellow" if view.questions else "bold")


def is_paused(view: View) -> bool:
    """Whether people stopped it: it goes on when somebody says so."""
    return view.status is Status.PAUSED and view.pause_reason in STOPPED and not view.questions


def name_escape(view: View) -> str:
    """Return the text for what Esc does to the work: `stop`, `pause`, `stop_now`; empty if nothing runs."""
    if is_paused(view) or not (view.running or (view.work and view.work.is_active)):
        return ""
    if not view.is_steered:
        return "stop"
    return "stop_now" if view.interrupt == Interrupt.PAUSING else "pause"


def _status(view: View, viewer: str | None, words: Words) -> str:
    if view.status is Status.COMPLETED:
        return words("status.completed")
    if view.questions:
        return words("card.title")
    if view.status is Status.ACTIVE:
        if view.interrupt == Interrupt.PAUSING:
            return words("pausing" if view.is_steered else "pausing_after")
        return words("status.active")
    if view.waiting_for is None:
        return words("status.new")
    if is_paused(view):
        return words("status.paused")
    if view.waiting_for == viewer:
        return words("status.you")
    return words("status.waiting", name=view.name(view.waiting_for))


def link_line(viewer_state: ViewerState, since: str, left_s: float, words: Words, *, is_linked: bool) -> Content:
    """State of the link, last received seq and its time, number of unsent messages.

    `since` is the time when the link was lost, `left_s` the time until the next attempt.
    """
    unsent = f" · {words('unsent', count=len(viewer_state.unsent))}" if viewer_state.unsent else ""
    link = viewer_state.link
    if not is_linked:
        return plain_line(f"● {words('here', seq=viewer_state.seq)}{unsent}", "green")
    reset = f" · {words('reconnect_reset')}" if viewer_state.is_reset else ""
    match link.state:
        case Connection.CONNECTED:
            shown = words("link.connected", seq=viewer_state.seq, at=local_time(viewer_state.at))
            return plain_line(f"● {shown}{reset}{unsent}", "green")
        case Connection.CONNECTING:
            return plain_line(f"◌ {words('link.connecting')}{unsent}", "yellow")
        case Connection.RECONNECTING:
            shown = words("link.reconnecting", attempt=link.attempt, seconds=max(0, round(left_s)))
            return plain_line(f"◌ {shown}{unsent}", "yellow")
        case _:
            return plain_line(f"○ {words('link.offline', at=since)}{unsent}", "red")


def key_line(words: Words, keys: Keys, view: View, width: int) -> Content:
    """Show as many keys as fit into `width`. The keys of a question and of a pause have the lowest rank."""
    escape = name_escape(view)
    absent = {"question"} if not view.questions else set()
    absent |= {"pause"} if not escape else set()
    absent |= {"resume"} if not is_paused(view) else set()
    named = {"pause": f"key.{escape}"}
    entries = [(action, named.get(action, word), rank) for action, word, rank in KEYS if action not in absent]
    while True:
        shown = [
            plain_line(keys.short(action), "bold") + Content(" ") + plain_line(words(word), "dim")
            for action, word, _ in entries
        ]
        line = Content("  ").join(shown)
        if line.cell_length <= width or len(entries) == 1:
            return line
        entries.remove(max(entries, key=lambda entry: entry[2]))


class QueueLine(Widget):
    """Who acts and who is next. `seconds` ticks, so that elapsed times do."""

    view: reactive[View] = reactive(View)
    viewer: reactive[str | None] = reactive(None)
    words: reactive[Words] = reactive(default_words)
    is_scripted: reactive[bool] = reactive(False)
    now: reactive[datetime] = reactive(datetime.fromtimestamp(0, UTC))

    def render(self) -> Content:
        return queue_line(self.view, self.viewer, self.words, self.now, is_scripted=self.is_scripted)


class StatusLine(Widget):
    view: reactive[View] = reactive(View, layout=True)
    viewer: reactive[str | None] = reactive(None, layout=True)
    words: reactive[Words] = reactive(default_words, layout=True)

    def render(self) -> Content:
        return status_line(self.view, self.viewer, self.words)


class KeyLine(Widget):
    view: reactive[View] = reactive(View)
    words: reactive[Words] = reactive(default_words)

    def __init__(self, keys: Keys, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._keys = keys

    def render(self) -> Content:
        return key_line(self.words, self._keys, self.view, self.size.width)
