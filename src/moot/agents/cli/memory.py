"""Remembers the conversation that a member has with its CLI: the id that the CLI gave it, kept beside the log.

Losing it is harmless: the member starts a new conversation and is told the history again. A stored value is used only
if it has the form of an id, because it becomes part of a command line.
"""

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from moot.config.private_files import make_private_folder
from moot.core.session.usage import Usage

FOLDER = "conversations"
IsId = Callable[[str | None], bool]
_SESSION_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def is_session_id(text: str | None) -> bool:
    """Whether a text is a lower-case UUID: nothing else gets onto a command line."""
    return bool(text and _SESSION_ID.fullmatch(text))


class Conversation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`spent` is the CLI's own count so far. `program` is a digest: another program has other conversations.

    `is_cut`: its last turn has not come to its end; `doing` is what it did last. `takeover` is the command with which a
    person opens it, in `folder`.
    """

    session_id: str
    program: str
    spent: Usage = Usage()
    is_cut: bool = False
    doing: str = ""
    takeover: tuple[str, ...] = ()
    folder: str = ""


class Conversations:
    """Keeps one file per member of a session in `folder`; without a folder, in memory."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._known: dict[str, Conversation] = {}

    def find(
        self, session: str, member: str, program: tuple[str, ...], is_id: IsId = is_session_id, *, tree: str = ""
    ) -> Conversation | None:
        """Return the conversation to resume, or None if this member has none with this program.

        `tree`: the task that it is about, in a plan.
        """
        conversation = self._read(_key(session, member, tree))
        if conversation is None or conversation.program != _digest(program) or not is_id(conversation.session_id):
            return None
        return conversation

    def keep(
        self,
        session: str,
        member: str,
        program: tuple[str, ...],
        session_id: str | None,
        spent: Usage,
        is_id: IsId = is_session_id,
        *,
        tree: str = "",
        is_cut: bool = False,
        doing: str = "",
        takeover: tuple[str, ...] = (),
        folder: str = "",
    ) -> None:
        if session_id is None or not is_id(session_id):
            return
        key = _key(session, member, tree)
        conversation = Conversation(
            session_id=session_id,
            program=_digest(program),
            spent=spent,
            is_cut=is_cut,
            doing=doing,
            takeover=takeover,
            folder=folder,
        )
        if self._read(key) == conversation:
            return
        self._known[key] = conversation
        if self._folder:
            make_private_folder(self._folder)
            (self._folder / key).write_bytes(msgspec.json.encode(conversation))

    def find_takeover(self, session: str, member: str, tree: str = "") -> Conversation | None:
        """Return a conversation that a person can open in the agent itself; None if there is none."""
        conversation = self._read(_key(session, member, tree))
        return conversation if conversation and conversation.takeover else None

    def forget(self, session: str, member: str, *, tree: str = "") -> None:
        key = _key(session, member, tree)
        self._known.pop(key, None)
        if self._folder:
            (self._folder / key).unlink(missing_ok=True)

    def _read(self, key: str) -> Conversation | None:
        if key not in self._known and self._folder:
            try:
                self._known[key] = msgspec.json.decode((self._folder / key).read_bytes(), type=Conversation)
            except (OSError, msgspec.DecodeError):
                return None
        return self._known.get(key)


def _key(session: str, member: str, tree: str) -> str:
    return _digest((session, member, tree) if tree else (session, member))[:32]


def _digest(parts: tuple[str, ...]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
