"""Files that belong to a session, by the hash of their content. The content itself is kept beside the log."""

from typing import Annotated

from msgspec import Meta, Struct

PLAIN = "text/plain"
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
Sha256 = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]


class FileRef(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """How a message names a file that was uploaded to its session. `name` is what people are to read."""

    sha256: Sha256
    name: str = ""


class Attachment(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A file. `name` is what people called it: it is shown, and never names a place on a disk."""

    sha256: Sha256
    name: str
    media_type: str  # as its content says
    size: int

    @property
    def is_image(self) -> bool:
        return self.media_type in IMAGES

    def tell(self) -> str:
        """The file on one line, for people."""
        return f"{self.name} ({self.media_type}, {tell_size(self.size)})"


class HandedFile(Attachment, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A file for a member's turn.

    `data` is its content, None if it is not handed over; `path` is where a program finds it.
    """

    data: bytes | None = None
    path: str = ""

    @property
    def text(self) -> str:
        """The content as text; empty for what is not text."""
        return self.data.decode(errors="replace") if self.data and self.media_type == PLAIN else ""


def tell_size(size: int) -> str:
    """A number of bytes, for people."""
    if size < 1_000:
        return f"{size} B"
    return f"{size / 1_000:.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
