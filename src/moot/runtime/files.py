"""The files that people attach and members show: checked when they come in, handed to members when they are needed.

Stores keep them with their session, by the hash of their content (`Log.put_file`). Their type is read from the content,
whatever their name says.
"""

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from moot.core import limits, text
from moot.core.errors import Refused
from moot.core.flows.turns import TurnInput, list_files
from moot.core.session.attachments import IMAGES, PLAIN, Attachment, FileRef, HandedFile
from moot.runtime.ports import Log

BINARY, PDF = "application/octet-stream", "application/pdf"
TYPES = (PLAIN, PDF, *IMAGES)
_SIGNS: tuple[tuple[bytes, str], ...] = (  # what a file of a type begins with
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", PDF),
)


def read_type(data: bytes) -> str:
    """Return the media type that the content shows: a few pictures, PDF, plain text, else unknown bytes.

    HTML and SVG are plain text, so that no browser runs them.
    """
    for sign, media_type in _SIGNS:
        if data.startswith(sign):
            return media_type
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if b"\x00" in data:
        return BINARY
    try:
        data.decode()
    except UnicodeDecodeError:
        return BINARY
    return PLAIN


def name_file(name: str) -> str:
    """Return the last part of a name, on one line: it is shown to people and offered to browsers."""
    last = re.split(r"[/\\]", text.clean(name))[-1]
    return " ".join(last.split())[: limits.NAME_CHARS] or "file"


def describe_file(data: bytes, sha256: str, name: str) -> Attachment:
    return Attachment(sha256=sha256, name=name_file(name), media_type=read_type(data), size=len(data))


class Files:
    """The files of the sessions of a log."""

    def __init__(self, log: Log) -> None:
        self._log = log

    async def put(self, session_id: str, data: bytes, name: str) -> Attachment:
        """Store a file; it is durable when this returns.

        Raises:
            Refused: it is empty, too large or of no use, or the session has too many.
            NotFound: there is no such session.
        """
        if not data:
            raise Refused("file_empty")
        if len(data) > limits.FILE_BYTES:
            raise Refused("file_too_large", length=len(data), limit=limits.FILE_BYTES)
        if read_type(data) == BINARY:
            raise Refused("file_type", available=TYPES)
        kept = await self._log.list_files(session_id)
        if len(kept) >= limits.SESSION_FILES or sum(kept.values()) + len(data) > limits.SESSION_FILE_BYTES:
            raise Refused("session_files_full", count=limits.SESSION_FILES, limit=limits.SESSION_FILE_BYTES)
        return describe_file(data, await self._log.put_file(session_id, data), name)

    async def find(self, session_id: str, refs: Sequence[FileRef]) -> tuple[Attachment, ...]:
        """Return what is stored under these hashes. Raises Refused if one is not, or if they are too many."""
        if len(refs) > limits.ATTACHMENTS:
            raise Refused("too_many_files", count=len(refs), limit=limits.ATTACHMENTS)
        found: list[Attachment] = []
        for ref in refs:
            data = await self._log.get_file(session_id, ref.sha256)
            if data is None:
                raise Refused("file_unknown", detail=ref.sha256)
            found.append(describe_file(data, ref.sha256, ref.name))
        return tuple(found)

    async def hand_over(self, turn: TurnInput) -> TurnInput:
        """Return a turn with the files that its member is to see: the newest ones, as many as fit."""
        named = list_files((*turn.history, turn.message))[-limits.HANDED_FILES :]
        return replace(turn, attachments=await self.read(turn.session_id, named)) if named else turn

    async def read(self, session_id: str, files: Iterable[Attachment]) -> tuple[HandedFile, ...]:
        """Return files with their content, the newest (last) ones first of all: older ones that do not fit, or are not
        here any more, come without."""
        handed: list[HandedFile] = []
        left = limits.HANDED_BYTES
        for file in reversed(tuple(files)):
            data = await self._log.get_file(session_id, file.sha256) if file.size <= left else None
            left -= len(data or b"")
            handed.append(
                HandedFile(sha256=file.sha256, name=file.name, media_type=file.media_type, size=file.size, data=data)
            )
        return tuple(reversed(handed))
