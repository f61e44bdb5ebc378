"""Where programs that play members run, and what is kept of them."""

from pathlib import Path

from msgspec import Struct, field

from moot.agents.cli.memory import FOLDER as CONVERSATIONS
from moot.agents.cli.memory import Conversations
from moot.agents.process_book import FOLDER as PROCESSES
from moot.agents.process_book import ProcessBook


class Surroundings(Struct, frozen=True, kw_only=True):
    """`folder` is the team file's; without one it is the current folder."""

    folder: Path | None = None
    book: ProcessBook = field(default_factory=ProcessBook)
    conversations: Conversations = field(default_factory=Conversations)

    def place(self, cwd: str | None) -> Path | None:
        """Where a program runs whose team file says `cwd`."""
        return (self.folder or Path()) / cwd if cwd else self.folder


def in_data_folder(data: Path | None) -> Surroundings:
    """What is kept beside the log; without a data folder nothing outlives the process."""
    if data is None:
        return Surroundings()
    return Surroundings(book=ProcessBook(data / PROCESSES), conversations=Conversations(data / CONVERSATIONS))
