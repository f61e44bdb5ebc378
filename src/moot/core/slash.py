"""Slash commands typed into a conversation (chat: commands in a conversation). `/path/to/file` is not one."""

import re
from collections.abc import Callable

from msgspec import Struct

from moot.core import controls, steps, titles
from moot.core.commands import ChangeQueue
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.events import LanguageChanged, NoticePosted
from moot.core.flows.catalogue import rules_of
from moot.core.queue_line import queue_names
from moot.core.state import State
from moot.core.team import Member

_SLASH = re.compile(r"/([a-z]+)(?:\s+(.*))?", re.IGNORECASE | re.DOTALL)


class Slash(Struct, frozen=True):
    name: str
    argument: str = ""

    def __str__(self) -> str:
        return f"/{self.name} {self.argument}".rstrip()


def parse(text: str) -> Slash | None:
    found = _SLASH.fullmatch(text.strip())
    if not found:
        return None
    name, argument = found[1].lower(), found[2] or ""
    return Slash(name, argument if f"/{name}" in OBEY_WITH_TEXT else argument.lower())


def _queue(state: State) -> NoticePosted:
    names = queue_names(state)
    return NoticePosted(code="queue", names=names) if names else NoticePosted(code="queue_is_empty")


def _end(draft: Draft) -> None:
    rules_of(draft.team.flow).stop(draft, "session_ended")
    draft.end("ended")


OBEY: dict[str, Callable[[Draft, Member | None], None]] = {
    "/help": lambda draft, _: draft.add(NoticePosted(code="help")),
    "/status": lambda draft, _: draft.add(rules_of(draft.team.flow).status(draft)),
    "/queue": lambda draft, _: draft.add(_queue(draft.state)),
    "/queue skip": lambda draft, _: controls.change_queue(draft, ChangeQueue(action="skip")),
    "/queue clear": steps.ask_to_clear_queue,
    "/retry": lambda draft, _: rules_of(draft.team.flow).retry(draft),
    "/pause": lambda draft, by: rules_of(draft.team.flow).pause(draft, by),
    "/resume": lambda draft, _: rules_of(draft.team.flow).resume(draft),
    "/lang zh": lambda draft, _: draft.add(LanguageChanged(language="zh")),
    "/lang en": lambda draft, _: draft.add(LanguageChanged(language="en")),
    "/end": lambda draft, _: _end(draft),
}


# those that take whatever follows them, as it was typed
OBEY_WITH_TEXT: dict[str, Callable[[Draft, str, Member | None], None]] = {"/rename": titles.rename}
COMMANDS = (*OBEY, *OBEY_WITH_TEXT)


def obey(draft: Draft, typed: Slash, by: Member | None) -> None:
    """Do what was typed, or refuse; nothing of it reaches an AI."""
    with_text = OBEY_WITH_TEXT.get(f"/{typed.name}")
    action = OBEY.get(str(typed))
    if with_text:
        with_text(draft, typed.argument, by)
    elif action:
        action(draft, by)
    else:
        raise Refused("unknown_command", detail=str(typed), available=COMMANDS)
