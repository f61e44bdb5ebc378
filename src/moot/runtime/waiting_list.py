"""What waits for people over all sessions: every open question and every floor that is theirs."""

import logging
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from moot.core.codec import Head
from moot.core.errors import LogError
from moot.core.flows.registry import flow_of
from moot.core.machines.session import Status
from moot.core.session.events import Option, SessionPaused, StepAsked
from moot.core.session.principal import Principal
from moot.core.session.state import State
from moot.core.session.team import Language
from moot.core.view import Question, View, project
from moot.runtime.ports import Listing, Log
from moot.runtime.sessions import Sessions
from moot.runtime.snapshots import load_state
from moot.runtime.summaries import Need, find_need, name_question, summarise

logger = logging.getLogger(__name__)

ITEMS = 200  # in one answer; as many sessions are looked into
REMEMBERED = 1_000  # sessions whose items are remembered until they go on
READ_EVENTS = 100  # at a time, from the end of a log backwards


class Blocked(Struct, frozen=True, kw_only=True):
    """What waits for an answer: the turn of a member, a task, or all of the session; `name` is whose or which."""

    kind: Literal["turn", "task", "session"]
    name: str = ""


class InboxItem(Struct, frozen=True, kw_only=True):
    """An open question, or a floor that waits for a human: those have no `step_id`, `question` and `options`.

    `blocks` is null if everything else goes on meanwhile.
    """

    session_id: str
    title: str
    kind: Need
    step_id: str | None = None
    question: str | None = None
    options: tuple[Option, ...] = ()
    blocks: Blocked | None = None
    since: str


class Waiting(Struct, frozen=True):
    """An item, and the only member that it waits for; None: it waits for anybody."""

    item: InboxItem
    member: str | None


class WaitingList:
    """Lists what waits for people. A session is folded only if it needs somebody, and once for each of its heads."""

    def __init__(self, log: Log, sessions: Sessions) -> None:
        self._log, self._sessions = log, sessions
        self._remembered: dict[tuple[str, Language | None], tuple[Head, list[Waiting]]] = {}

    async def list_items(self, principal: Principal, language: Language | None) -> list[InboxItem]:
        """List at most `ITEMS`, oldest first, with texts in `language` or in that of each session."""
        items: list[InboxItem] = []
        for listing in _choose(await self._sessions.listings(), principal):
            try:
                waiting = await self._look_into(listing, language)
            except LogError as error:  # a damaged session must not hide what waits in the others
                logger.warning("session %s is left out of the inbox: %s", listing.session_id, error)
                continue
            items += [each.item for each in waiting if _is_for(each.member, principal)]
        items.sort(key=lambda item: (item.since, item.session_id))
        return items[:ITEMS]

    async def _look_into(self, listing: Listing, language: Language | None) -> list[Waiting]:
        key = listing.session_id, language
        head, waiting = self._remembered.get(key, (None, []))
        if head != listing.head:
            state, head = await load_state(self._log, listing.session_id)
            times = await _find_times(self._log, listing.session_id, state, head)
            waiting = list(_list_waiting(listing, state, times, language))
            if len(self._remembered) >= REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = head, waiting
        return waiting


def _choose(listings: list[Listing], principal: Principal) -> list[Listing]:
    """Return the sessions to look into: those with an open question first, then by their last activity."""
    chosen = [
        listing
        for listing in listings
        if principal.may_read(listing.session_id)
        and find_need(listing.summary) is not None
        and (listing.summary.asks is not None or _is_for(listing.summary.waiting_for, principal))
    ]
    return sorted(chosen, key=lambda listing: listing.summary.asks is None)[:ITEMS]


def _is_for(member: str | None, principal: Principal) -> bool:
    """Whether the holder of a token may do what waits for this member. A token without a member speaks as anybody."""
    return member is None or principal.member in (None, member)


async def _find_times(log: Log, session_id: str, state: State, head: Head) -> dict[str, str]:
    """When each open question was asked, by its step id, and ("") when the session last paused.

    The log is read from its end, as far as necessary: what waits was mostly asked a moment ago.
    """
    missing = set(state.open_steps) or {""}
    times: dict[str, str] = {}
    end = head.seq
    while missing and end > 0:
        start = max(0, end - READ_EVENTS)
        for event in reversed(await log.read(session_id, start, end - start)):
            match event.fact:
                case StepAsked(step_id=name):
                    pass
                case SessionPaused():
                    name = ""
                case _:
                    continue
            if name in missing:
                missing.discard(name)
                times[name] = event.timestamp
        end = start
    return times


def _list_waiting(
    listing: Listing, state: State, times: dict[str, str], language: Language | None
) -> Iterator[Waiting]:
    """Yield the open questions of a session or, if there are none, its floor."""
    need = find_need(summarise(state))
    if need is None:  # it has gone on since it was listed
        return
    view = project(state, language)
    for question in view.questions:
        item = InboxItem(
            session_id=listing.session_id,
            title=view.title,
            kind=name_question(question.kind),
            step_id=question.step_id,
            question=question.text,
            options=question.options,
            blocks=_find_blocked(state, view, question),
            since=times.get(question.step_id, listing.created_at),
        )
        yield Waiting(item, question.asked_by)
    if not view.questions:
        item = InboxItem(
            session_id=listing.session_id,
            title=view.title,
            kind=need,
            blocks=Blocked(kind="session"),
            since=times.get("", listing.created_at),
        )
        yield Waiting(item, view.waiting_for)


def _find_blocked(state: State, view: View, question: Question) -> Blocked | None:
    if state.open_steps[question.step_id].turn_id:
        return Blocked(kind="turn", name=question.who)
    if question.task_id:
        tasks = flow_of(state).known_tasks(state)
        title = next((task.title for task in tasks if task.id == question.task_id), question.task_id)
        return Blocked(kind="task", name=title)
    return Blocked(kind="session") if view.status is Status.PAUSED else None
