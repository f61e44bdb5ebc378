"""The folder in which agents' programs run, and the files that Moot keeps about them."""

from pathlib import Path

from msgspec import Struct, field

from moot.agents.cli.memory import FOLDER as CONVERSATIONS
from moot.agents.cli.memory import Conversations
from moot.agents.process_book import FOLDER as PROCESSES
from moot.agents.process_book import ProcessBook
from moot.agents.sandbox import Sandbox


class RunEnvironment(Struct, frozen=True, kw_only=True):
    """`folder` is the folder of the team file, None for the current one."""

    folder: Path | None = None
    book: ProcessBook = field(default_factory=ProcessBook)
    conversations: Conversations = field(default_factory=Conversations)
    sandbox: Sandbox = Sandbox()

    def place(self, cwd: str | None) -> Path | None:
        """Return the folder for a program whose team file says `cwd`."""
        return (self.folder or Path()) / cwd if cwd else self.folder


def in_data_folder(data: Path | None) -> RunEnvironment:
    """Keep the files in the data folder. Without one, nothing is remembered after the process ends."""
    if data is None:
        return RunEnvironment()
    return RunEnvironment(book=ProcessBook(data / PROCESSES), conversations=Conversations(data / CONVERSATIONS))
