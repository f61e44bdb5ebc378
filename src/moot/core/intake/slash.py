"""Slash commands typed into a conversation (docs/chat.md). `/path/to/file` is not one."""

import re
from collections.abc import Callable

from msgspec import Struct

from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.flows.registry import flow_of
from moot.core.session.commands import ChangeQueue
from moot.core.session.events import LanguageChanged, NoticePosted
from moot.core.session.notices import queue_names
from moot.core.session.state import State
from moot.core.session.team import LANGUAGES, Language, Member

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
    return Slash(name, argument if f"/{name}" in OBEY_WITH_TEXT else argument.lower())


def _queue(state: State) -> NoticePosted:
    names = queue_names(state)
    return NoticePosted(code="queue", names=names) if names else NoticePosted(code="queue_is_empty")


def _end(draft: Draft) -> None:
    flow_of(draft.state).stop(draft, "session_ended")
    draft.end("ended")


def _speak(language: Language) -> Callable[[Draft, Member | None], None]:
    return lambda draft, _: draft.add(LanguageChanged(language=language))


OBEY: dict[str, Callable[[Draft, Member | None], None]] = {
    "/help": lambda draft, _: draft.add(NoticePosted(code="help")),
    "/status": lambda draft, _: draft.add(flow_of(draft.state).status(draft.state)),
    "/queue": lambda draft, _: draft.add(_queue(draft.state)),
    "/queue skip": lambda draft, _: flow_of(draft.state).change_queue(draft, ChangeQueue(action="skip")),
    "/queue clear": lambda draft, by: flow_of(draft.state).ask_to_clear_queue(draft, by),
    "/retry": lambda draft, _: flow_of(draft.state).retry(draft),
    "/stop": lambda draft, by: flow_of(draft.state).halt(draft, by),
    "/pause": lambda draft, by: flow_of(draft.state).pause(draft, by),
    "/resume": lambda draft, _: flow_of(draft.state).resume(draft),
    **{f"/lang {language}": _speak(language) for language in LANGUAGES},
    "/end": lambda draft, _: _end(draft),
}


# Commands whose argument is free text, used as typed.
OBEY_WITH_TEXT: dict[str, Callable[[Draft, str, Member | None], None]] = {"/rename": Draft.rename}
COMMANDS = (*OBEY, *OBEY_WITH_TEXT)


def obey(draft: Draft, typed: Slash, by: Member | None) -> None:
    """Carry out a slash command. Raises Refused if it is unknown. AI members never see it."""
    with_text = OBEY_WITH_TEXT.get(f"/{typed.name}")
    action = OBEY.get(str(typed))
    if with_text:
        with_text(draft, typed.argument, by)
    elif action:
        action(draft, by)
    else:
        raise Refused("unknown_command", detail=str(typed), available=COMMANDS)
