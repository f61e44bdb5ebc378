"""Claude Code over a program that stays: stream-json both ways (measured with 2.1.197).

A line that is written while it works is read between two uses of tools, or becomes a second turn of its own; the echo
of each line (`--replay-user-messages`) tells which.
"""

import base64
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from moot.agents.cli.claude import ClaudeReader
from moot.agents.cli.dialect import part, word
from moot.agents.cli.lines import Json
from moot.agents.cli.memory import is_session_id
from moot.agents.cli.presets import Login, Preset, option
from moot.agents.environment import NETWORK_NAMES
from moot.agents.live.line_link import LineLink
from moot.agents.live.link import Hooks, Known, Setup, add_results
from moot.agents.live.live_member import LOST, LiveProtocol, explain_end
from moot.agents.member_tools import SERVER
from moot.agents.permits import NO, PermissionRequest, Permissions, is_own_tool
from moot.agents.process import Child
from moot.agents.tool_steps import find_tool, localize_found
from moot.core.errors import AgentError
from moot.core.session.attachments import HandedFile
from moot.core.session.usage import Usage
from moot.runtime.ports import Delivery, Result


class ClaudeLink(LineLink):
    key = "type"

    def __init__(self, child: Child, setup: Setup, folder: Path) -> None:
        super().__init__(child, setup, folder)
        self._reader = ClaudeReader()
        self._hooks: Hooks | None = None
        self._unread = 0  # lines that were written and are not read yet
        self._echoes = False  # whether it tells what it has read
        self._results: list[Result | AgentError] = []
        self._cost_usd = 0.0  # of the program so far

    async def open(self, known: Known | None) -> bool:
        self.conversation = known.session_id if known else None
        return known is not None and known.is_begun

    async def prompt(self, text: str, hooks: Hooks, files: Sequence[HandedFile] = ()) -> Result:
        self._reader, self._hooks, self._results, self._unread = ClaudeReader(), hooks, [], 0
        turn = self.begin_turn()
        try:
            await self._say(text, files)  # it may have ended by now: an unknown conversation ends it at once
            await turn
        except ConnectionError:
            raise _see_lost(await explain_end("claude", self.child)) from None
        finally:
            self._hooks = None
        result: Result | None = None
        for each in self._results:
            if isinstance(each, AgentError):
                raise _see_lost(each)
            result = add_results(result, each)
        if result is None:
            raise AgentError("agent", "claude ended without an answer")
        return result

    async def interrupt(self) -> None:
        self._count += 1
        request_id = f"moot-{self._count}"
        answer = self.expect(request_id)
        request = {"subtype": "interrupt"}
        await self.write({"type": "control_request", "request_id": request_id, "request": request})
        await answer

    async def steer(self, text: str) -> Delivery | None:
        if not self.is_prompted:
            return None
        await self._say(text)
        return "boundary"

    async def _say(self, text: str, files: Sequence[HandedFile] = ()) -> None:
        self._unread += 1
        content: list[Json] = [{"type": "text", "text": text}]
        for file in files:
            if file.is_image and file.data is not None:
                data = base64.b64encode(file.data).decode()
                content.append(
                    {"type": "image", "source": {"type": "base64", "media_type": file.media_type, "data": data}}
                )
        await self.write({"type": "user", "message": {"role": "user", "content": content}})

    def receive(self, message: Json) -> None:
        match message["type"]:
            case "control_request":
                self.spawn(self._answer(word(message, "request_id"), part(message, "request")))
            case "control_response":
                response = part(message, "response")
                self.resolve(word(response, "request_id"), response)
            case "user" if message.get("isReplay") is True:
                self._unread, self._echoes = self._unread - 1, True
            case _:
                self._tell(message)

    def _tell(self, message: Json) -> None:
        hooks = self._hooks
        for output in self._reader.read(message):
            if hooks:
                hooks.emit(output)
        self.conversation = self._reader.session_id or self.conversation
        if message["type"] == "result":
            self._results.append(self._read_result())
            self._reader = ClaudeReader()
            if self._unread <= 0 or not self._echoes or isinstance(self._results[-1], AgentError):
                self.end_turn()

    def _read_result(self) -> Result | AgentError:
        """Read the end of a turn. The cost is that of the program so far: this turn's is the difference."""
        try:
            result = self._reader.result() or Result()
        except AgentError as error:
            error.usage = self._subtract_cost(error.usage)
            return error
        return replace(result, usage=self._subtract_cost(result.usage))

    def _subtract_cost(self, usage: Usage) -> Usage:
        before, self._cost_usd = self._cost_usd, max(self._cost_usd, usage.cost_usd)
        return replace(usage, cost_usd=max(usage.cost_usd - before, 0.0))

    async def _answer(self, request_id: str, request: Json) -> None:
        """Answer a request of Claude Code: whether it may use a tool."""
        if word(request, "subtype") == "can_use_tool" and self._hooks:
            arguments = request.get("input")
            is_allowed = await self._hooks.permit(describe(request, self.folder))
            allowed, denied = {"behavior": "allow", "updatedInput": arguments}, {"behavior": "deny", "message": NO}
            response = allowed if is_allowed else denied
            answer = {"subtype": "success", "request_id": request_id, "response": response}
        else:
            answer = {"subtype": "error", "request_id": request_id, "error": "not supported"}
        await self.write({"type": "control_response", "response": answer})


def _see_lost(error: AgentError) -> AgentError:
    """Return the error; of its own kind if Claude Code does not know the conversation.

    It says so in a result, or by its end alone. A conversation is unknown if it was killed before it stored it.
    """
    return AgentError(LOST, str(error)) if "no conversation found" in str(error).lower() else error


def describe(request: Json, folder: Path) -> PermissionRequest:
    """Return what Claude Code wants to do with a tool."""
    name, arguments = word(request, "tool_name"), part(request, "input")
    found = localize_found(find_tool(word(request, "tool_use_id"), name, arguments), folder)
    return PermissionRequest(
        tool=found.tool,
        name=name,
        key=f"{name}: {json.dumps(arguments, sort_keys=True, default=str)}",
        command=word(arguments, "command"),
        arguments=arguments,
        diff=found.diff or "",
        is_own=is_own_tool(name, arguments),
    )


def list_arguments(setup: Setup, known: Known | None) -> tuple[str, ...]:
    mode = {"read": "default", "ask": "default", "edit": "acceptEdits", "all": "bypassPermissions"}[setup.permissions]
    return (
        *("claude", "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"),
        *(("--add-dir", *map(str, setup.folders)) if setup.folders else ()),
        *("--include-partial-messages", "--replay-user-messages", "--permission-mode", setup.mode or mode),
        *(("--permission-prompt-tool", "stdio") if setup.permissions == "ask" else ()),
        *(("--disallowedTools", "AskUserQuestion") if setup.permissions == "ask" else ()),
        *option("--model", setup.model),
        *option("--effort", setup.effort),
        *(("--json-schema", json.dumps(setup.shape.schema)) if setup.shape else ()),
        *_list_allowed(setup),
        *_list_servers(setup),
        *setup.args,
        *(("--resume" if known.is_begun else "--session-id", known.session_id) if known else ()),
    )


def _list_allowed(setup: Setup) -> Iterator[str]:
    """Yield what it may use unasked: what the team file says, and Moot's own tools."""
    allowed = [*setup.allow, *([f"mcp__{SERVER}"] if SERVER in setup.servers else [])]
    if allowed:
        yield from ("--allowedTools", ",".join(allowed))


def _list_servers(setup: Setup) -> Iterator[str]:
    if setup.servers:
        servers: dict[str, Any] = {}
        for name, server in setup.servers.items():
            if server.command:
                environment = {variable: f"${{{variable}}}" for variable in server.env}
                servers[name] = {"command": server.command[0], "args": list(server.command[1:]), "env": environment}
            else:
                headers = {"Authorization": f"Bearer ${{{server.key}}}"} if server.key else {}
                servers[name] = {"type": "http", "url": server.url, "headers": headers}
        yield from ("--mcp-config", json.dumps({"mcpServers": servers}))


CLAUDE_LIVE = LiveProtocol(
    argv=list_arguments,
    link=ClaudeLink,
    is_id=is_session_id,
    chooses_id=True,
    is_shaped_at_start=True,
    takeover=lambda session_id: ("claude", "--resume", session_id),
)


def list_turn_arguments(model: str | None, permissions: Permissions, session_id: str | None) -> tuple[str, ...]:
    mode = {"read": "default", "ask": "default", "edit": "acceptEdits", "all": "bypassPermissions"}[permissions]
    flags = ("--output-format", "stream-json", "--verbose", "--include-partial-messages", "--permission-mode", mode)
    return ("claude", "-p", *flags, *option("--model", model), *option("--resume", session_id))


def list_folders(files: Sequence[HandedFile]) -> tuple[str, ...]:
    """Name the folders of attached files: what is outside of its own folder it reads only if it is told so."""
    folders = dict.fromkeys(str(Path(file.path).parent) for file in files if file.path)
    return ("--add-dir", *folders) if folders else ()


CLAUDE = Preset(
    name="claude",
    provider="anthropic",
    argv=list_turn_arguments,
    attach=list_folders,
    shape=lambda shape, _: ("--json-schema", json.dumps(shape.schema)),
    reader=lambda _: ClaudeReader(),
    names=(
        *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"),
        *("CLAUDE_CONFIG_DIR", "IS_SANDBOX", *NETWORK_NAMES),  # IS_SANDBOX: root may do anything in this container
    ),
    keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
    login=Login(folder=".claude", file=".credentials.json", variable="CLAUDE_CONFIG_DIR"),
    install="npm install -g @anthropic-ai/claude-code",
    tested_with="2.1.197",
    environment={  # by default it retries a wrong key ten times, which takes more than 100 s
        "CLAUDE_CODE_MAX_RETRIES": "2",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    },
    live=CLAUDE_LIVE,
)
