"""The folder in which agents' programs run, and the files that Moot keeps about them."""

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from moot.agents.cli.memory import FOLDER as CONVERSATIONS
from moot.agents.cli.memory import Conversations
from moot.agents.handouts import FOLDER as HANDED
from moot.agents.handouts import Handouts
from moot.agents.member_sockets import MemberSockets
from moot.agents.process_book import FOLDER as PROCESSES
from moot.agents.process_book import ProcessBook
from moot.agents.sandbox import Sandbox
from moot.core.flows.turns import TurnInput

if TYPE_CHECKING:
    from moot.agents.live.pool import LinkPool


class RunEnvironment(Struct, frozen=True, kw_only=True):
    """`folder` is the folder of the team file, None for the current one."""

    folder: Path | None = None
    book: ProcessBook = field(default_factory=ProcessBook)
    conversations: Conversations = field(default_factory=Conversations)
    sandbox: Sandbox = Sandbox()
    pool: "LinkPool | None" = None  # of programs that stay between turns; without one, each turn starts its own
    sockets: MemberSockets | None = None  # of the members' own tools
    handouts: Handouts = field(default_factory=Handouts)  # of attached files

    def at(self, turn: TurnInput) -> "RunEnvironment":
        """Where the programs of one turn run: in its tree, if it has one, and with the git directory of that."""
        if not turn.folder:
            return self
        folder = Path(turn.folder)
        clone = (Path(turn.clone),) if turn.clone else ()
        return replace(self, folder=folder, sandbox=replace(self.sandbox, folder=folder, shown=clone))

    def showing(self, folder: Path) -> Sandbox:
        """Return the sandbox of a program that sees one more folder."""
        return replace(self.sandbox, shown=(*self.sandbox.shown, folder))

    def place(self, cwd: str | None) -> Path | None:
        """Return the folder for a program whose team file says `cwd`."""
        return (self.folder or Path()) / cwd if cwd else self.folder


def in_data_folder(data: Path | None) -> RunEnvironment:
    """Keep the files in the data folder. Without one, nothing is remembered after the process ends."""
    if data is None:
        return RunEnvironment()
    return RunEnvironment(
        book=ProcessBook(data / PROCESSES),
        conversations=Conversations(data / CONVERSATIONS),
        handouts=Handouts(data / HANDED),
    )
