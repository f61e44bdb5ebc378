"""A live conversation with an agent's program, whatever protocol it speaks."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from moot.agents.answer_shapes import Shape
from moot.agents.member_sockets import MemberSocket
from moot.agents.output_limits import PartialOutput
from moot.agents.permits import Permissions, Permit
from moot.agents.process import Child
from moot.config.agent_specs import McpServer
from moot.core.session.attachments import HandedFile
from moot.core.session.usage import add_usage
from moot.runtime.ports import Delivery, Result


class Setup(Struct, frozen=True, kw_only=True):
    """How an agent's program is to work for one member.

    `allow` are rules for what it may do unasked, `servers` MCP servers by name, `mode` and `effort` in the agent's own
    words, `args` further arguments of its command line.
    """

    permissions: Permissions = "read"
    model: str | None = None
    effort: str | None = None
    mode: str | None = None
    args: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    servers: dict[str, McpServer] = {}
    folders: tuple[Path, ...] = ()  # besides its own, that it may read: those of attached files
    shape: Shape | None = None  # of its answers, for a program that is told when it starts


class Known(Struct, frozen=True, kw_only=True):
    """The id of a conversation, and whether the program has it already: otherwise it is the id for a new one."""

    session_id: str
    is_begun: bool


class Hooks(Struct, frozen=True, kw_only=True):
    """What a link is given for one prompt: where outputs go, who says what is allowed, and the form of the answer."""

    emit: Callable[[PartialOutput], None]
    permit: Permit
    shape: Shape | None = None


class Link(ABC):
    """One conversation over one running program. One prompt at a time."""

    conversation: str | None = None  # the agent's own id of it
    socket: MemberSocket | None = None  # by which its program reaches Moot's own tools

    def __init__(self, child: Child, setup: Setup, folder: Path) -> None:
        self.child = child
        self.setup = setup
        self.folder = folder

    @abstractmethod
    async def open(self, known: Known | None) -> bool:
        """Open the conversation, or a new one if the program does not know it. Return whether it remembers."""

    @abstractmethod
    async def prompt(self, text: str, hooks: Hooks, files: Sequence[HandedFile] = ()) -> Result:
        """Play a turn. The text names `files` already, with their paths. Raises AgentError."""

    @abstractmethod
    async def interrupt(self) -> None:
        """Ask the program to end the prompt that runs; `prompt` then ends."""

    async def steer(self, text: str) -> Delivery | None:  # noqa: ARG002 - for those that can
        """Deliver a message to the running prompt. Return when it arrives, None if it cannot be delivered."""
        return None

    @property
    def is_alive(self) -> bool:
        return not self.child.has_ended

    @abstractmethod
    async def close(self) -> None:
        """Close the pipes. Whoever started the program ends it."""


def add_results(first: Result | None, second: Result) -> Result:
    """Return both answers of a turn as one."""
    if first is None:
        return second
    text = "\n\n".join(part for part in (first.text, second.text) if part.strip())
    return Result(text=text, usage=add_usage(first.usage, second.usage))
