"""The members' own MCP server: a private socket for each program of a member, served by this process.

A CLI or ACP agent starts `moot mcp-member FILE` as an MCP server over stdio. That program only carries lines between
the agent and the socket; FILE, which nobody else can read, names the socket and holds a token. The token is worth one
member of one session (in a plan: one task) while its turn is open. Every call is bound to that turn, and between turns
it is refused.

The library is an optional extra (`pip install moot[mcp]`, part of `moot[llm]` and `moot[acp]`); without it CLI and ACP
members have no such tools.
"""

import asyncio
import hmac
import importlib.util
import json
import logging
import os
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moot.agents.member_tools import NAMES, SERVER, MemberTools, ToolProblem, describe, find_schema
from moot.core.session.team import DEFAULT_LANGUAGE, Language
from moot.core.texts import render

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

logger = logging.getLogger(__name__)

LIBRARY = "mcp"
LISTED_S = 5.0  # some agents do not use it before they are asked something
HELLO_S = 10.0  # for a new connection to show its token
HELLO_BYTES = 1_024
LINE_BYTES = 1_048_576
CONNECTIONS = 8  # at once, of one member
PREFIX = "moot-"
CARRIER = Path(__file__).parents[1] / "cli" / "mcp_member.py"


def has_library() -> bool:
    return importlib.util.find_spec(LIBRARY) is not None and hasattr(socket, "AF_UNIX")


class MemberSocket:
    """The socket of one program of one member of a session. `folder` is private and holds nothing else."""

    def __init__(self, folder: Path, language: Language = DEFAULT_LANGUAGE) -> None:
        self.folder = folder
        self._path, self._file = folder / "socket", folder / "member.json"
        self._token = secrets.token_urlsafe(32)
        self._language = language
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._tools: MemberTools | None = None
        self._turn_over: asyncio.Future[None] | None = None
        self.is_listed = asyncio.Event()  # the agent knows which tools there are

    @property
    def command(self) -> tuple[str, ...]:
        """The program that an agent starts as its MCP server: `moot mcp-member`, without what it takes to load Moot."""
        return (sys.executable, "-I", str(CARRIER), str(self._file))

    async def open(self) -> None:
        self.folder.mkdir(mode=0o700)
        self._server = await asyncio.start_unix_server(self._accept, self._path, limit=LINE_BYTES)
        self._path.chmod(0o600)
        descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump({"socket": str(self._path), "token": self._token}, file)

    async def close(self) -> None:
        if self._server:
            self._server.close()
        for task in tuple(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)

    async def wait_until_listed(self) -> None:
        """Wait until the agent knows the tools: some begin a turn without those of a server that is still starting."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.is_listed.wait(), LISTED_S)

    @contextmanager
    def serve(self, tools: MemberTools, language: Language) -> Iterator[None]:
        """Serve the tools during the block, which is the member's turn. Calls that then still wait are refused."""
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._tools, self._turn_over, self._language = tools, over, language
        try:
            yield
        finally:
            self._tools = self._turn_over = None
            over.cancel()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a stream's callback is a task
        self._connections.add(task)
        try:
            if len(self._connections) <= CONNECTIONS and await self._is_known(reader):
                await self._talk(reader, writer)
        except asyncio.CancelledError:
            pass  # by `close`; asyncio would log it as an error
        except (OSError, ValueError, TimeoutError):
            logger.info("a connection to a member's tools broke off", exc_info=True)
        finally:
            self._connections.discard(task)
            writer.close()

    async def _is_known(self, reader: asyncio.StreamReader) -> bool:
        async with asyncio.timeout(HELLO_S):
            line = await reader.readline()
        return len(line) <= HELLO_BYTES and hmac.compare_digest(line.strip(), self._token.encode())

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Speak MCP over a connection, a message a line."""
        server = await asyncio.to_thread(self._make_server)  # the library takes a moment to load
        import anyio
        from mcp.shared.message import SessionMessage
        from mcp.types import jsonrpc_message_adapter
        from pydantic import ValidationError

        incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        sent, outgoing = anyio.create_memory_object_stream[SessionMessage](0)

        async def read() -> None:
            async with incoming:
                while line := await reader.readline():
                    try:
                        await incoming.send(SessionMessage(jsonrpc_message_adapter.validate_json(line)))
                    except ValidationError as error:
                        await incoming.send(error)

        async def write() -> None:
            async with outgoing:
                async for message in outgoing:
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    writer.write(text.encode() + b"\n")
                    await writer.drain()

        async with asyncio.TaskGroup() as tasks:
            reading, writing = tasks.create_task(_end_quietly(read())), tasks.create_task(_end_quietly(write()))
            try:
                await server.run(received, sent, server.create_initialization_options())
            except* (anyio.ClosedResourceError, anyio.BrokenResourceError):
                pass  # the program has disconnected
            reading.cancel()
            writing.cancel()

    def _make_server(self) -> "Server[Any]":
        from mcp.server.lowlevel import Server
        from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool

        async def list_tools(*_: Any) -> ListToolsResult:
            tools = [
                Tool(name=name, description=describe(name, self._language), input_schema=find_schema(name))
                for name in NAMES
            ]
            self.is_listed.set()
            return ListToolsResult(tools=tools)

        async def call_tool(_: Any, request: Any) -> CallToolResult:
            try:
                told, failed = await self._call(request.name, request.arguments or {}), False
            except ToolProblem as problem:
                told, failed = str(problem), True
            return CallToolResult(content=[TextContent(type="text", text=_mark_as_text(told))], is_error=failed)

        return Server(SERVER, version="1", on_list_tools=list_tools, on_call_tool=call_tool)

    async def _call(self, name: str, arguments: dict[str, Any]) -> str:
        tools, over = self._tools, self._turn_over
        if tools is None or over is None:
            raise ToolProblem(render("tools.no_turn", self._language))
        call = asyncio.ensure_future(tools.call(name, arguments))
        over.add_done_callback(lambda _: call.cancel())
        try:
            return await call
        except asyncio.CancelledError:
            if not over.done():
                call.cancel()
                raise
            raise ToolProblem(render("tools.no_turn", self._language)) from None  # the turn has ended meanwhile


def _mark_as_text(told: str) -> str:
    """Return the result of a tool as text that is not JSON: Gemini CLI takes JSON for data and refuses it."""
    try:
        value = json.loads(told)
    except ValueError:
        return told
    return told if isinstance(value, dict) else f"answer: {told}"


async def _end_quietly(talking: Coroutine[Any, Any, None]) -> None:
    """Read or write, and treat every way in which the program can disconnect as the end."""
    try:
        await talking
    except (OSError, ValueError):
        logger.info("a connection to a member's tools broke off", exc_info=True)


class MemberSockets:
    """The sockets of the members that this process plays, in a private folder of the machine's runtime folder."""

    def __init__(self) -> None:
        self._root: Path | None = None

    @asynccontextmanager
    async def open(self, language: Language) -> AsyncIterator[MemberSocket | None]:
        """Open the socket of one program of a member, until that has ended. None without the library."""
        if not has_library():
            yield None
            return
        socket_ = MemberSocket(self.root / secrets.token_hex(4), language)
        try:
            await socket_.open()
            yield socket_
        finally:
            await socket_.close()

    @property
    def root(self) -> Path:
        """The folder of all sockets, which agents' programs must not see. It is made when it is first asked for."""
        if self._root is None:
            _remove_leftovers()
            self._root = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=_find_runtime_folder()))  # 0700
        return self._root

    async def close(self) -> None:
        if self._root:
            await asyncio.to_thread(shutil.rmtree, self._root, ignore_errors=True)
            self._root = None


def _find_runtime_folder() -> Path:
    """The user's runtime folder, or the one for temporary files: the path of a socket must be short."""
    named = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    return named if named.is_absolute() and named.is_dir() and len(str(named)) < 40 else Path(tempfile.gettempdir())


def _remove_leftovers() -> None:
    """Remove the folders of processes that were killed."""
    for folder in _find_runtime_folder().glob(f"{PREFIX}*-*"):
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        with suppress(OSError):
            if pid.isdigit() and folder.stat().st_uid == os.getuid() and not _is_alive(int(pid)):
                shutil.rmtree(folder, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
