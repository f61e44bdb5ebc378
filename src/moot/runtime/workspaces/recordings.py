"""Commits that say what a turn did to its tree: whose they are, and what they changed."""

from datetime import datetime

from msgspec import Struct

from moot.core.session.workspace import FileChange, LineCounts
from moot.runtime.workspaces.repository import identify


class Author(Struct, frozen=True, kw_only=True):
    """Who made a change, and when their turn started: the commit has this date."""

    name: str
    id: str
    at: str  # RFC 3339

    def environment(self) -> dict[str, str]:
        seconds = int(datetime.fromisoformat(self.at).timestamp()) if self.at else 0
        return identify(self.name, self.id, f"@{seconds} +0000")


class Recording(Struct, frozen=True, kw_only=True):
    """What a turn did to its tree. `total` counts what the tree holds besides what it started from."""

    commit: str
    parent: str
    files: tuple[FileChange, ...]
    total: LineCounts


def write_message(subject: str, *lines: str, **trailers: object) -> bytes:
    """A commit message: its subject, further lines, and trailers that say which session, turn and event it is from."""
    first = " ".join(subject.split())[:200] or "Work"
    body = "".join(f"{line}\n" for line in lines) + "\n" if lines else ""
    named = "".join(
        f"Moot-{name.capitalize()}: {value}\n" for name, value in trailers.items() if value not in ("", None)
    )
    return f"{first}\n\n{body}{named}".encode(errors="surrogateescape")
