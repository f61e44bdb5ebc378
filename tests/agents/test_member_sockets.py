"""The members' own MCP server: what its token is worth, what its tools do, and the program that carries it."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from moot.agents import member_sockets
from moot.agents.member_sockets import LINE_BYTES, MemberSocket, MemberSockets
from moot.agents.member_tools import NAMES, MemberTools, ToolProblem
from moot.agents.sandbox import MOOT_FILES
from moot.core import limits
from moot.core.errors import Refused
from moot.core.flows.turns import TurnInput
from moot.runtime.desk import EmptyDesk
from tests.agents.turns import MEMBERS, chat_turn
from tests.runtime.apps import run

pytest.importorskip("mcp")

NUMBER = "answer: 42"  # no JSON: some agents take an answer that is JSON for data


def make_turn(name: str) -> TurnInput:
    player = next(member for member in MEMBERS if member.id == name)
    return replace(chat_turn(("alice", "go")), session_id="s1", member=player)


class Desk(EmptyDesk):
    """Answers at once, except a question about forever."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, bytes, str]] = []
        self.waits = asyncio.Event()

    async def ask_human(self, question: str, options: Sequence[str] = (), to: str = "") -> str:
        if question == "forever?":
            self.waits.set()
            await asyncio.Event().wait()
        if question == "how many?":
            return options[0]
        return f"{to or 'somebody'} says {options[0] if options else 'yes'}"

    async def hand_over(self, member: str, reason: str = "") -> str:
        raise Refused("unknown_team_mate", who=member, available=("Ann", "Bob"))

    async def show_file(self, path: str, data: bytes, caption: str = "") -> str:
        self.shown.append((path, data, caption))
        return "shown"


class Talk:
    """Speaks MCP with the program that an agent starts."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._count = 0

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        await self.send(method, **params)
        return await self.hear()

    async def send(self, method: str, **params: Any) -> None:
        self._count += 1
        message = {"jsonrpc": "2.0", "id": self._count, "method": method, "params": params}
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        await self._process.stdin.drain()

    async def hear(self) -> dict[str, Any]:
        assert self._process.stdout
        async with asyncio.timeout(30):
            return json.loads(await self._process.stdout.readline())["result"]  # type: ignore[no-any-return]

    async def call(self, name: str, **arguments: Any) -> tuple[str, bool]:
        result = await self.ask("tools/call", name=name, arguments=arguments)
        return result["content"][0]["text"], result.get("isError", False)


@asynccontextmanager
async def talking(socket: MemberSocket) -> AsyncIterator[Talk]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*socket.command, stdin=pipe, stdout=pipe)
    try:
        talk = Talk(process)
        about = {"name": "test", "version": "1"}
        await talk.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=about)
        yield talk
    finally:
        process.kill()
        await process.wait()


class Room(AsyncExitStack):
    """The sockets of a process, closed at the end of the block."""

    def __init__(self) -> None:
        super().__init__()
        self.sockets = MemberSockets()
        self.push_async_callback(self.sockets.close)

    async def open(self) -> MemberSocket:
        opened = await self.enter_async_context(self.sockets.open("en"))
        assert opened is not None
        return opened


@run
async def test_a_program_that_goes_away_disturbs_nobody() -> None:
    """Killed in the middle of a line or of an answer: its connection ends, and the next one is served."""
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    async with Room() as room:
        socket = await room.open()
        about = json.loads((socket.folder / "member.json").read_text())
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode()
        for last in (b"\n" + line * 20 + b"\n", b"x" * (LINE_BYTES + 10) + b"\n", b'\n{"jsonrpc"'):
            _, writer = await asyncio.open_unix_connection(str(socket.folder / "socket"))
            writer.write(about["token"].encode() + b"\n" + line + last)
            await writer.drain()
            writer.transport.abort()
        async with talking(socket) as talk:
            assert (await talk.ask("tools/list"))["tools"]
    assert complaints == []


@run
async def test_closing_while_a_program_calls_disturbs_nobody() -> None:
    """A program that waits for no answer has calls under way, and unread ones, when its turn fails."""
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    call = {"name": "ask_human", "arguments": {"question": "forever?"}}
    lines = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}]
    lines += [{"jsonrpc": "2.0", "id": each, "method": "tools/call", "params": call} for each in range(1, 2_000)]
    async with Room() as room, room.sockets.open("en") as socket:
        assert socket is not None
        desk = Desk()
        token = json.loads((socket.folder / "member.json").read_text())["token"]
        with socket.serve(MemberTools(make_turn("bob"), desk, None), "en"):
            _, writer = await asyncio.open_unix_connection(str(socket.folder / "socket"))
            writer.write("\n".join([token, *map(json.dumps, lines), ""]).encode())
            await desk.waits.wait()
    writer.close()
    assert complaints == []


@run
async def test_a_turn_waits_until_the_agent_knows_the_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some agents ask their model without the tools of a server that is still starting; one that never asks is left."""
    async with Room() as room:
        socket = await room.open()
        async with talking(socket) as talk:
            waiting = asyncio.create_task(socket.wait_until_listed())
            await talk.ask("ping")
            assert not waiting.done()
            await talk.ask("tools/list")
            await waiting
        monkeypatch.setattr(member_sockets, "LISTED_S", 0.0)
        await (await room.open()).wait_until_listed()


@run
async def test_an_agent_has_the_five_tools(tmp_path: Path) -> None:
    """It lists them, calls them, and is told in a sentence what it did wrong."""
    async with Room() as room:
        socket, desk = await room.open(), Desk()
        (tmp_path / "plot.md").write_text("# hi")
        turn = make_turn("bob")
        async with talking(socket) as talk:
            listed = await talk.ask("tools/list")
            assert tuple(tool["name"] for tool in listed["tools"]) == NAMES
            with socket.serve(MemberTools(turn, desk, tmp_path), "en"):
                asked = await talk.call("ask_human", question="go?", options=["now"], to="Ann")
                assert asked == ("Ann says now", False)
                assert await talk.call("ask_human", question="how many?", options=["42"]) == (NUMBER, False)
                told, failed = await talk.call("hand_over", member="zoe")
                assert (told, failed) == ("There is no member zoe: name one of Ann, Bob", True)
                assert await talk.call("show_file", path="plot.md", caption="draft") == ("shown", False)
                assert desk.shown == [("plot.md", b"# hi", "draft")]
                told, failed = await talk.call("ask_human", text="go?")
                assert (told, failed) == ("ask_human takes question, options, to; required: question", True)


@pytest.mark.parametrize("path", ["/etc/passwd", "../secret", "link", ".git/config", "nothing", ""])
@run
async def test_only_files_of_the_folder_are_shown(path: str, tmp_path: Path) -> None:
    """Nothing outside of the member's folder, not by a link either, nothing of git's own."""
    folder = tmp_path / "work"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text("x")
    (tmp_path / "secret").write_text("x")
    (folder / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(Refused, match="no_such_file"):
        await MemberTools(make_turn("bob"), Desk(), folder).show_file(path)


@run
async def test_a_folder_that_became_a_link_shows_nothing_hidden(tmp_path: Path) -> None:
    """A program can put a link in place of the folder that it works in: what it does not see is not read for it."""
    data, folder = tmp_path / "data", tmp_path / "project"
    (data / "trees" / "main").mkdir(parents=True)
    for place in (data / "owner.token", data / "trees" / "main" / "plot.md"):
        place.write_text("secret")
    folder.symlink_to(data)
    with pytest.raises(Refused):
        await MemberTools(make_turn("bob"), Desk(), folder, [data]).show_file("owner.token")
    folder.unlink()
    folder.mkdir()
    (folder / "own").symlink_to(data)
    with pytest.raises(Refused):
        await MemberTools(make_turn("bob"), Desk(), folder, [data]).show_file("own/owner.token")
    await MemberTools(make_turn("bob"), Desk(), data / "trees" / "main", [data]).show_file("plot.md")


@run
async def test_a_team_in_the_data_folder_shows_none_of_moots_files(tmp_path: Path) -> None:
    """The rest of that folder is the member's, and may be shown."""
    for name in MOOT_FILES:
        (tmp_path / name).write_text("secret")
        with pytest.raises(Refused, match="no_such_file"):
            await MemberTools(make_turn("bob"), Desk(), tmp_path, [tmp_path]).show_file(name)
    (tmp_path / "plot.md").write_text("plot")
    await MemberTools(make_turn("bob"), Desk(), tmp_path, [tmp_path]).show_file("plot.md")


@run
async def test_a_member_calls_no_tool_for_ever(tmp_path: Path) -> None:
    """Each file that it shows is an event: after so many calls it is told to end its turn."""
    (tmp_path / "plot.md").write_text("plot")
    desk = Desk()
    tools = MemberTools(make_turn("bob"), desk, tmp_path)
    for _ in range(limits.OWN_TOOL_CALLS):
        await tools.call("show_file", {"path": "plot.md"})
    with pytest.raises(ToolProblem, match="end your turn"):
        await tools.call("show_file", {"path": "plot.md"})
    assert len(desk.shown) == limits.OWN_TOOL_CALLS


@run
async def test_between_turns_every_call_is_refused() -> None:
    """The tools live as long as the agent, and work only while its turn is open."""
    async with Room() as room:
        socket, tools = await room.open(), MemberTools(make_turn("bob"), Desk(), None)
        async with talking(socket) as talk:
            assert (await talk.call("ask_human", question="go?"))[1] is True
            with socket.serve(tools, "en"):
                assert (await talk.call("ask_human", question="go?"))[1] is False
            told, failed = await talk.call("ask_human", question="go?")
            assert (failed, "no turn" in told) == (True, True)


@run
async def test_a_call_that_waits_ends_with_its_turn() -> None:
    """A call is bound to the turn it was made in: the next turn does not answer it."""
    async with Room() as room:
        socket, desk = await room.open(), Desk()
        async with talking(socket) as talk:
            with socket.serve(MemberTools(make_turn("bob"), desk, None), "en"):
                await talk.send("tools/call", name="ask_human", arguments={"question": "forever?"})
                await desk.waits.wait()
            assert (await talk.hear())["isError"] is True


@run
async def test_a_token_is_worth_one_member(tmp_path: Path) -> None:
    """Another member's socket, or none at all, let nobody in with it."""
    async with Room() as room:
        bob, carol = await room.open(), await room.open()
        tokens = [json.loads((each.folder / "member.json").read_text()) for each in (bob, carol)]
        for token in (tokens[1]["token"], "", "x" * 5_000):
            reader, writer = await asyncio.open_unix_connection(tokens[0]["socket"])
            writer.write(token.encode() + b"\n" + b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n')
            async with asyncio.timeout(60):
                with suppress(ConnectionResetError):
                    assert await reader.read() == b""
            writer.close()


@run
async def test_nobody_else_can_read_what_it_takes() -> None:
    """Folder, socket and token are for the user who runs Moot; closing removes them."""
    async with Room() as room:
        async with room.sockets.open("en") as socket:
            assert socket is not None
            root = room.sockets.root
            places = (root, socket.folder, *sorted(socket.folder.iterdir()))
            modes = [path.stat().st_mode & 0o777 for path in places]
            assert modes == [0o700, 0o700, 0o600, 0o600]
        assert list(root.iterdir()) == []
    assert not root.exists()


@run
async def test_the_program_says_when_moot_has_ended(tmp_path: Path) -> None:
    """An agent whose Moot is gone is told so; the program does not hang."""
    carrier = MemberSocket(tmp_path / "x").command
    assert carrier[0] == sys.executable
    process = await asyncio.create_subprocess_exec(*carrier, stderr=asyncio.subprocess.PIPE)
    async with asyncio.timeout(30):
        _, stderr = await process.communicate()
    assert (process.returncode, b"Moot has ended" in stderr) == (1, True)
