"""Slash commands typed into a conversation (docs/chat.md). `/path/to/file` is not one."""

import re
from collections.abc import Callable

from msgspec import Struct

from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.flows.registry import flow_of
from moot.core.intake import work_slash
from moot.core.session import parking, permissions, taking
from moot.core.session.commands import ChangeQueue, Post
from moot.core.session.events import LanguageChanged, NoticePosted
from moot.core.session.notices import queue_names
from moot.core.session.state import State
from moot.core.session.team import LANGUAGES, Language, Member, Team

_SLASH = re.compile(r"/([a-z]+)(?:\s+(.*))?", re.IGNORECASE | re.DOTALL)


class Slash(Struct, frozen=True):
    name: str
    argument: str = ""

    def __str__(self) -> str:
        return f"/{self.name} {self.argument}".rstrip()


def parse(text: str) -> Slash | None:
    """Read a slash command, known or not; None if the text is not one. Most arguments ignore case."""
    match = _SLASH.fullmatch(text.strip())
    if not match:
        return None
    name, argument = match[1].lower(), match[2] or ""
    is_text = name == INTERRUPT or f"/{name}" in OBEY_WITH_TEXT
    return Slash(name, argument if is_text else argument.lower())


def _queue(state: State) -> NoticePosted:
    names = queue_names(state)
    return NoticePosted(code="queue", names=names) if names else NoticePosted(code="queue_is_empty")


def _end(draft: Draft) -> None:
    flow_of(draft.state).stop(draft, "session_ended")
    taking.warn_untaken(draft)
    draft.end("ended")


def _retry(draft: Draft, by: Member | None) -> None:
    if not parking.resume(draft, by):
        flow_of(draft.state).retry(draft)


def _resume(draft: Draft, by: Member | None) -> None:
    if not parking.resume(draft, by):
        flow_of(draft.state).resume(draft)


def _speak(language: Language) -> Callable[[Draft, Member | None], None]:
    return lambda draft, _: draft.add(LanguageChanged(language=language))


OBEY: dict[str, Callable[[Draft, Member | None], None]] = {
    "/help": lambda draft, _: draft.add(NoticePosted(code="help")),
    "/status": lambda draft, _: draft.add(flow_of(draft.state).status(draft.state)),
    "/queue": lambda draft, _: draft.add(_queue(draft.state)),
    "/queue skip": lambda draft, _: flow_of(draft.state).change_queue(draft, ChangeQueue(action="skip")),
    "/queue clear": lambda draft, by: flow_of(draft.state).ask_to_clear_queue(draft, by),
    "/retry": _retry,
    "/stop": lambda draft, by: flow_of(draft.state).halt(draft, by),
    "/pause": lambda draft, by: flow_of(draft.state).pause(draft, by),
    "/resume": _resume,
    **{f"/lang {language}": _speak(language) for language in LANGUAGES},
    "/end": lambda draft, _: _end(draft),
}


# Commands whose argument is free text, used as typed. What they return is said next.
OBEY_WITH_TEXT: dict[str, Callable[[Draft, str, Member | None], Post | None]] = {
    "/rename": Draft.rename,
    "/permissions": permissions.obey,
    "/diff": work_slash.tell_work,
    "/take": work_slash.take,
    "/undo": work_slash.undo,
    "/comment": work_slash.comment,
}
INTERRUPT = "interrupt"  # a message rather than a command: `/interrupt NAME text`
COMMANDS = (*OBEY, *OBEY_WITH_TEXT, f"/{INTERRUPT}")


def read_interrupt(typed: Slash, team: Team) -> tuple[str, str]:
    """Return the member that a message is to interrupt, by its id, and the message. Raises Refused."""
    said = typed.argument.lstrip().removeprefix("@")
    for end in range(min(team.longest_name, len(said)), 0, -1):
        is_whole = end == len(said) or said[end].isspace() or said[end] in ",，:："
        member = team.find(said[:end]) if is_whole else None
        words = said[end:].lstrip(" \t,，:：")
        if member and words.strip():
            return member.id, words
    available = tuple(member.display_name for member in team.ais)
    raise Refused("interrupt_whom", available=available)


def obey(draft: Draft, typed: Slash, by: Member | None) -> Post | None:
    """Carry out a slash command. Returns what is to be said because of it. Raises Refused if it is unknown.

    AI members never see it.
    """
    with_text = OBEY_WITH_TEXT.get(f"/{typed.name}")
    if with_text:
        return with_text(draft, typed.argument, by)
    action = OBEY.get(str(typed))
    if action is None:
        raise Refused("unknown_command", detail=str(typed), available=COMMANDS)
    action(draft, by)
    return None
