"""Tells a person by a command or a URL of their own settings that a session needs them, once for each need.

Only the settings file of the user decides what is called; nothing that is received or stored can change it.
"""

import asyncio
import http.client
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from moot.app import App
from moot.cli.user_settings import PLACE, Notify
from moot.core.errors import LogError, MootError
from moot.core.session.state import State
from moot.core.view import project
from moot.runtime.ports import Summary
from moot.runtime.summaries import find_need, name_question, summarise

logger = logging.getLogger(__name__)

LOOK_S = 0.5
SEND_S = 10.0  # for a command to end, or a server to answer
FIELD_CHARS = 500

Key = tuple[object, ...]


class Need(Struct, frozen=True, kw_only=True):
    """What is sent: who is needed where, and for what. `kind` is the inbox's; `link` is on the page."""

    session: str
    title: str
    kind: str
    question: str
    link: str | None = None


class NotSent(MootError):
    """A notification did not arrive; the message says why."""


def list_needs(session_id: str, state: State, link: str | None) -> Iterator[tuple[Key, Need]]:
    """Yield what a session needs of people, each with a key that no later need of it has.

    Each open question is a need. Without one, a floor that waits for a human is, unless a person stopped the work.
    """
    view = project(state)
    title = view.title or session_id
    for question in view.questions:
        kind = name_question(question.kind)
        yield (
            (session_id, question.step_id),
            Need(session=session_id, title=title, kind=kind, question=question.text[:FIELD_CHARS], link=link),
        )
    if view.questions or state.pause_reason in ("user_pause", "stopped"):
        return
    summary = summarise(state)
    if need := find_need(summary):
        last = f"{summary.last.by}: {summary.last.text}" if summary.last else ""
        yield (
            _floor_key(session_id, need, summary),
            Need(session=session_id, title=title, kind=need, question=last[:FIELD_CHARS], link=link),
        )


def _floor_key(session_id: str, need: str, summary: Summary) -> Key:
    return session_id, need, summary.messages, summary.waiting_for


class Waiting:
    """Decides which needs are told now: those that have lasted for the debounce, each once."""

    def __init__(self, debounce_s: float) -> None:
        self._debounce_s = debounce_s
        self._since: dict[Key, float] = {}
        self._told: set[Key] = set()

    def mark_told(self, key: Key) -> None:
        self._told.add(key)

    def take(self, needs: Mapping[Key, Need], now: float) -> list[Need]:
        """Return what is to be told, given all needs of this moment. A need that has gone is forgotten."""
        self._since = {key: self._since.get(key, now) for key in needs}
        due = [key for key, since in self._since.items() if now - since >= self._debounce_s and key not in self._told]
        self._told.update(due)
        return [needs[key] for key in due]


class Notifier:
    """Looks at the open sessions of an app and tells of their needs.

    Args:
        find_link: gives the address of a session on the page; None without a page.
    """

    def __init__(self, app: App, notify: Notify, find_link: Callable[[str], str | None] = lambda _: None) -> None:
        self._app = app
        self._notify = notify
        self._find_link = find_link
        self._waiting = Waiting(notify.debounce_s)

    async def run(self) -> None:
        """Run for ever. What waited before the start was told before, or seen."""
        loop = asyncio.get_running_loop()
        for listing in await self._app.log.sessions():
            if kind := find_need(listing.summary):
                self._waiting.mark_told(_floor_key(listing.session_id, kind, listing.summary))
        while True:
            needs: dict[Key, Need] = {}
            for session_id, state in self._app.sessions.list_open():
                needs |= dict(list_needs(session_id, state, self._find_link(session_id)))
            for due in self._waiting.take(needs, loop.time()):
                self._app.spawn(self._tell(due))
            await asyncio.sleep(LOOK_S)

    async def _tell(self, need: Need) -> None:
        try:
            await send(need, self._notify)
        except (NotSent, LogError) as error:
            logger.warning("a notification was not sent: %s", error)


def start_notifying(
    app: App, notify: Notify, find_link: Callable[[str], str | None] = lambda _: None
) -> "asyncio.Task[None] | None":
    """Start telling of needs, if the settings say how."""
    return app.spawn(Notifier(app, notify, find_link).run()) if notify.command or notify.url else None


async def send(need: Need, notify: Notify) -> None:
    """Run the command and post to the URL. Raises NotSent if one of them fails."""
    if notify.command:
        await _run(need, notify.command)
    if notify.url:
        await asyncio.to_thread(_post, need, notify.url)


async def _run(need: Need, command: tuple[str, ...]) -> None:
    """Run a command with the need as JSON on its standard input, and its fields in place of {title} and so on."""
    fields: dict[str, Any] = {name: value or "" for name, value in msgspec.structs.asdict(need).items()}
    argv = [_fill(part, fields) for part in command]
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise NotSent(f"{command[0]} cannot be run ({error.strerror})") from None
    try:
        async with asyncio.timeout(SEND_S):
            await process.communicate(msgspec.json.encode(need) + b"\n")
    except TimeoutError:
        raise NotSent(f"{command[0]} did not end within {SEND_S:.0f} s") from None
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode:
        raise NotSent(f"{command[0]} ended with {process.returncode}")


def _fill(part: str, fields: Mapping[str, str]) -> str:
    """Put the fields in their places, in one pass: a title may contain what looks like a place.

    A title that begins with `-` does not become an option of the command: a space stands before it.
    """
    filled = PLACE.sub(lambda match: fields[match[1]], part)
    return f" {filled}" if filled.startswith("-") and not part.startswith("-") else filled


def _post(need: Need, url: str) -> None:
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=SEND_S)
    try:
        path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
        connection.request("POST", path, msgspec.json.encode(need), {"content-type": "application/json"})
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        raise NotSent(f"{parts.hostname} cannot be reached ({error})") from None
    finally:
        connection.close()
    if not 200 <= status < 300:
        raise NotSent(f"{parts.hostname} answered {status}")
