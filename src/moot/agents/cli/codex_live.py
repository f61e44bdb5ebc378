"""Codex over a program that stays: `codex app-server`, JSON-RPC in lines (measured with 0.166.0)."""

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from moot.agents.cli.codex import CodexReader, ItemReader, find_changes, subtract_tokens, unwrap_shell
from moot.agents.cli.dialect import (
    Answer,
    as_text,
    count,
    make_usage,
    observe,
    part,
    read_todos,
    shorten,
    show,
    show_thought,
    word,
)
from moot.agents.cli.failures import read_failure
from moot.agents.cli.lines import Json
from moot.agents.cli.memory import is_session_id
from moot.agents.cli.presets import Login, Preset, option
from moot.agents.environment import NETWORK_NAMES
from moot.agents.live.line_link import LineLink
from moot.agents.live.link import Hooks, Known, Setup
from moot.agents.live.live_member import LiveProtocol
from moot.agents.member_tools import SERVER
from moot.agents.output_limits import PartialOutput
from moot.agents.permits import PermissionRequest, Permissions
from moot.agents.process import Child
from moot.agents.tool_steps import Found, localize_found
from moot.config.agent_specs import McpServer
from moot.core.errors import AgentError
from moot.core.session.attachments import HandedFile
from moot.core.session.tool_use import ToolUse
from moot.core.session.usage import Usage
from moot.runtime.ports import Delivery, Result, Step

_SANDBOX = {"read": "read-only", "ask": "workspace-write", "edit": "workspace-write", "all": "danger-full-access"}
_QUIET = ("-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false")
SERVERS_S = 15.0  # a little more than Codex itself gives an MCP server to start
_SILENT_ITEMS = ("userMessage", "agentMessage", "reasoning", "")


class TurnReader:
    """Reads what the server tells of one turn. Pure.

    The server tells what the whole thread has spent: after each request, when the limits of the account change, and,
    for its last turn, when a thread is resumed. So this turn has spent the newest total less `spent_before`, that of
    the turns before. It is None for a thread that was resumed: then its last turn tells it, or the first request.
    """

    def __init__(self, spent_before: Usage | None) -> None:
        self._spent_before = spent_before
        self._spent: Usage | None = None  # by the thread, with this turn
        self._turn_id = ""
        self.failure: str | None = None
        self.is_over = False
        self._answer = Answer()
        self.uses = ItemReader(self._answer)
        self._streamed: set[str] = set()
        self._last_error = ""

    @property
    def text(self) -> str:
        return self._answer.text

    @property
    def spent(self) -> Usage | None:
        """What the thread has spent so far; None if that is not known."""
        return self._spent or self._spent_before

    @property
    def usage(self) -> Usage:
        return subtract_tokens(self.spent or Usage(), self._spent_before or Usage())

    def read(self, method: str, params: Json) -> Iterator[PartialOutput]:
        """Yield the outputs that a notification stands for; none for an unknown one, or one of another turn."""
        turn_id = word(params, "turnId") or word(part(params, "turn"), "id")
        if method == "turn/started":
            self._turn_id = turn_id
        elif method == "thread/tokenUsage/updated":
            self._count(part(params, "tokenUsage"), is_ours=turn_id == self._turn_id)
        elif turn_id in ("", self._turn_id):
            yield from self._read(method, params)

    def _count(self, told: Json, *, is_ours: bool) -> None:
        total = _read_tokens(part(told, "total"))
        if not is_ours:
            self._spent_before = total
            return
        if self._spent_before is None:
            self._spent_before = subtract_tokens(total, _read_tokens(part(told, "last")))
        self._spent = total

    def _read(self, method: str, params: Json) -> Iterator[PartialOutput]:
        match method:
            case "item/agentMessage/delta":
                yield from self._stream(word(params, "itemId"), word(params, "delta"))
            case "item/reasoning/textDelta" | "item/reasoning/summaryTextDelta":
                yield from show_thought(word(params, "delta"))
            case "item/started" | "item/completed":
                yield from self._read_item(part(params, "item"), is_over=method == "item/completed")
            case "turn/plan/updated":
                yield Step(thought=shorten(read_todos({"todos": _list_todos(params)})))
            case "error":
                self._last_error = word(part(params, "error"), "message")
                yield observe(self._last_error)
            case "turn/completed":
                self._end(part(params, "turn"))

    def _stream(self, item_id: str, text: str) -> Iterator[PartialOutput]:
        if item_id not in self._streamed:
            self._streamed.add(item_id)
            yield from self._answer.end_block()
        self._answer.add(text)
        yield from show(text)

    def _read_item(self, item: Json, *, is_over: bool) -> Iterator[PartialOutput]:
        kind, item_id = word(item, "type"), word(item, "id")
        if kind == "agentMessage" and is_over and item_id not in self._streamed and word(item, "text"):
            yield from self._stream(item_id, word(item, "text"))
        if kind == "reasoning" and is_over:
            thought = as_text(item.get("summary") or item.get("content")).strip()
            yield from [Step(thought=shorten(thought))] if thought else []
        if kind not in _SILENT_ITEMS:
            yield from self.uses.read(translate(item), is_over=is_over)

    def _end(self, turn: Json) -> None:
        self.is_over = True
        status = word(turn, "status")
        if status != "completed":
            message = word(part(turn, "error"), "message") or self._last_error
            self.failure = message or ("it was interrupted" if status == "interrupted" else "no reason given")


def _read_tokens(counts: Json) -> Usage:
    return make_usage(
        count(counts.get("inputTokens")),
        count(counts.get("outputTokens")),
        cached=counts.get("cachedInputTokens"),
        thinking=counts.get("reasoningOutputTokens"),
    )


def _list_todos(params: Json) -> list[Json]:
    plan = params.get("plan")
    steps = [step for step in plan if isinstance(step, dict)] if isinstance(plan, list) else []
    status = {"inProgress": "in_progress"}
    return [
        {"content": word(step, "step"), "status": status.get(word(step, "status"), step.get("status"))}
        for step in steps
    ]


def translate(item: Json) -> Json:
    """Return an item in the words of `codex exec`: `exitCode` is `exit_code` there, and so is the type of an item."""
    said = {_put_underscores(key): value for key, value in item.items()}
    return {**said, "type": _put_underscores(word(item, "type"))}


def _put_underscores(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


class CodexLink(LineLink):
    def __init__(self, child: Child, setup: Setup, folder: Path) -> None:
        super().__init__(child, setup, folder)
        self._reader = TurnReader(spent_before=None)
        self._hooks: Hooks | None = None
        self._turn_id = ""
        self._begun = asyncio.Event()  # the server has given the turn an id
        self._starting = set(setup.servers)  # MCP servers of which it has not told that they are ready, or cannot be
        self._has_tools = asyncio.Event()

    async def open(self, known: Known | None) -> bool:
        about = {"name": "moot", "title": "Moot", "version": "1"}
        await self._request("initialize", {"clientInfo": about})
        await self.write({"method": "initialized"})
        remembers = await self._open_thread(known)
        if self._starting:  # a turn that begins earlier is played without their tools
            with suppress(TimeoutError):
                await asyncio.wait_for(self._has_tools.wait(), SERVERS_S)
        return remembers

    async def _open_thread(self, known: Known | None) -> bool:
        options = self._list_options()
        if known is not None:
            self.conversation = known.session_id
            try:
                resumed = {**options, "threadId": known.session_id, "excludeTurns": True}
                await self._request("thread/resume", resumed)
            except AgentError:
                pass  # it no longer knows the thread
            else:
                return True
        self._reader = TurnReader(spent_before=Usage())
        started = await self._request("thread/start", options)
        self.conversation = word(part(started, "thread"), "id") or None
        return False

    def _list_options(self) -> Json:
        setup = self.setup
        options: Json = {
            "cwd": str(self.folder),
            "sandbox": _SANDBOX[setup.permissions],
            "approvalPolicy": "untrusted" if setup.permissions == "ask" else "never",
        }
        config: Json = {}
        if setup.effort:
            config["model_reasoning_effort"] = setup.effort
        return {
            **options,
            **({"model": setup.model} if setup.model else {}),
            **({"config": config} if config else {}),
        }

    async def prompt(self, text: str, hooks: Hooks, files: Sequence[HandedFile] = ()) -> Result:
        self._reader, self._hooks = TurnReader(self._reader.spent), hooks
        self._begun.clear()
        over = self.begin_turn()
        try:
            schema = hooks.shape and hooks.shape.strict_schema
            shaped: Json = {"outputSchema": schema} if schema else {}
            asked = {"threadId": self.conversation, "input": _say(text, files), **shaped}
            begun = await self._request("turn/start", asked)
            self._turn_id = word(part(begun, "turn"), "id")
            self._begun.set()
            await over
        finally:
            self._hooks, self._turn_id = None, ""
            self._begun.set()
        reader = self._reader
        if reader.failure is not None:
            failure = read_failure("codex", reader.failure)
            failure.usage = reader.usage
            raise failure
        return Result(text=reader.text, usage=reader.usage)

    async def interrupt(self) -> None:
        await self._request("turn/interrupt", {"threadId": self.conversation, "turnId": self._turn_id})

    async def steer(self, text: str) -> Delivery | None:
        await self._begun.wait()
        if not self._turn_id or not self.is_prompted:
            return None
        params = {"threadId": self.conversation, "expectedTurnId": self._turn_id, "input": _say(text)}
        try:
            await self._request("turn/steer", params)
        except AgentError:
            return None
        return "now"

    async def _request(self, method: str, params: Json) -> Json:
        self._count += 1
        answer = self.expect(str(self._count))
        await self.write({"id": self._count, "method": method, "params": params})
        response = await answer
        if error := part(response, "error"):
            raise read_failure("codex", word(error, "message") or f"{method} failed")
        return part(response, "result")

    def receive(self, message: Json) -> None:
        method = word(message, "method")
        if method and "id" in message:
            self.spawn(self._answer(message["id"], method, part(message, "params")))
        elif method:
            self._tell(method, part(message, "params"))
        else:
            self.resolve(str(message.get("id")), message)

    def _tell(self, method: str, params: Json) -> None:
        if method == "mcpServer/startupStatus/updated" and word(params, "status") != "starting":
            self._starting.discard(word(params, "name"))
            if not self._starting:
                self._has_tools.set()
        if (word(params, "threadId") or self.conversation) != self.conversation:
            return
        for output in self._reader.read(method, params):
            if self._hooks:
                self._hooks.emit(output)
        if self._reader.is_over:
            self.end_turn()

    async def _answer(self, request_id: Any, method: str, params: Json) -> None:
        """Answer a request of Codex: whether it may run a command, change files or use a tool."""
        if not self._hooks:
            await self.write({"id": request_id, "error": {"code": -32601, "message": "no turn runs"}})
            return
        match method:
            case "item/commandExecution/requestApproval" | "item/fileChange/requestApproval":
                is_allowed = await self._hooks.permit(self._describe(params))
                result: Json = {"decision": "accept" if is_allowed else "decline"}
            case "mcpServer/elicitation/request":
                is_allowed = await self._hooks.permit(_describe_server(params))
                result = {"action": "accept" if is_allowed else "decline", "content": {} if is_allowed else None}
            case _:
                await self.write({"id": request_id, "error": {"code": -32601, "message": f"{method} is not supported"}})
                return
        await self.write({"id": request_id, "result": result})

    def _describe(self, params: Json) -> PermissionRequest:
        """Return what Codex wants to do. What it changes in files stands in the item that it told before."""
        item_id = word(params, "itemId")
        item = self._reader.uses.items.get(item_id, {})
        command = unwrap_shell(word(params, "command") or word(item, "command"))
        changes = item.get("changes")
        if command or not isinstance(changes, list):
            found = Found(tool=ToolUse(id=item_id, kind="execute", title=command or "command"))
            name = "shell"
        else:
            found, name = localize_found(find_changes(item_id, changes), self.folder), "apply_patch"
        key = f"{name}: {command or json.dumps(changes, sort_keys=True, default=str)}"
        return PermissionRequest(
            tool=found.tool, name=name, key=key, command=command, arguments=params, diff=found.diff or ""
        )


def _describe_server(params: Json) -> PermissionRequest:
    server, message = word(params, "serverName"), word(params, "message")
    tool = ToolUse(id=server, kind="other", title=message or server)
    key = f"{server}: {message}"
    return PermissionRequest(tool=tool, name=server, key=key, arguments=message, is_own=server == SERVER)


def _say(text: str, files: Sequence[HandedFile] = ()) -> list[Json]:
    images = [{"type": "localImage", "path": file.path} for file in files if file.is_image and file.path]
    return [{"type": "text", "text": text}, *images]


def list_arguments(setup: Setup, _: Known | None) -> tuple[str, ...]:
    servers = [argument for name, server in setup.servers.items() for argument in _list_server(name, server)]
    # Otherwise Codex refuses to call a tool of a server that does not say what the tool does, or asks for each call.
    unasked = [name for name in setup.servers if name == SERVER or setup.permissions == "all"]
    servers += [
        part for name in unasked for part in ("-c", f'mcp_servers.{name}.default_tools_approval_mode="approve"')
    ]
    return ("codex", "app-server", "--disable", "plugins", *_QUIET, *servers, *setup.args)


def _list_server(name: str, server: McpServer) -> Iterator[str]:
    """Yield the settings of an MCP server, as TOML: JSON of texts and lists is TOML too."""
    start = f"mcp_servers.{name}"
    if server.command:
        yield from ("-c", f"{start}.command={json.dumps(server.command[0])}")
        yield from ("-c", f"{start}.args={json.dumps(list(server.command[1:]))}")
        if server.env:
            yield from ("-c", f"{start}.env_vars={json.dumps(list(server.env))}")
    else:
        yield from ("-c", f"{start}.url={json.dumps(server.url)}")
        if server.key:
            yield from ("-c", f"{start}.bearer_token_env_var={json.dumps(server.key)}")


CODEX_LIVE = LiveProtocol(
    argv=list_arguments,
    link=CodexLink,
    is_id=is_session_id,
    takeover=lambda session_id: ("codex", "resume", session_id),
)


def list_turn_arguments(model: str | None, permissions: Permissions, session_id: str | None) -> tuple[str, ...]:
    sandbox = _SANDBOX["read" if permissions == "ask" else permissions]  # nobody can be asked
    flags = ("--json", "--skip-git-repo-check", "--disable", "plugins", "--sandbox", sandbox)
    resume = ("resume", session_id) if session_id else ()
    return ("codex", "exec", *flags, *_QUIET, *option("-m", model), *resume, "-")


def list_images(files: Sequence[HandedFile]) -> tuple[str, ...]:
    return tuple(f"--image={file.path}" for file in files if file.is_image and file.path)


CODEX = Preset(
    name="codex",
    provider="openai",
    argv=list_turn_arguments,
    attach=list_images,
    shape=lambda _, file: ("--output-schema", str(file)),
    reader=CodexReader,
    names=("CODEX_HOME", "CODEX_API_KEY", "OPENAI_API_KEY", *NETWORK_NAMES),
    keys=("CODEX_API_KEY",),  # it takes OPENAI_API_KEY only by `codex login`
    login=Login(folder=".codex", file="auth.json", variable="CODEX_HOME"),
    install="npm install -g @openai/codex",
    tested_with="0.166.0",
    live=CODEX_LIVE,
)
