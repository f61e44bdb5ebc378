"""An ACP connection that stays: several prompts in one session of the agent.

The library is an optional extra (`pip install moot[acp]`) and is imported when such a member has its first turn.
"""

import asyncio
import base64
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from moot.agents.acp.updates import UpdateReader, describe_change, find_served, find_use
from moot.agents.acp.wire import OurSide, Pipe, explain_error
from moot.agents.cli.dialect import as_text, part, shorten, word
from moot.agents.cli.failures import read_failure
from moot.agents.cli.lines import Json
from moot.agents.live.link import Hooks, Known, Link, Setup, add_results
from moot.agents.permits import PermissionRequest, is_own_tool
from moot.agents.process import Child
from moot.agents.tool_steps import Found, localize_found
from moot.core.errors import AgentError
from moot.core.session.attachments import HandedFile
from moot.core.session.tool_use import ToolUse
from moot.core.session.usage import Usage
from moot.core.text import clean, is_blank
from moot.runtime.ports import Delivery, Result

if TYPE_CHECKING:
    from acp.client.connection import ClientSideConnection

QUIET_S = 0.25  # without an update, after which a replayed history is complete
REPLAY_S = 30.0
_ID = re.compile(r"[\w.:-]{1,200}")
_LOGIN_WANTED = -32000
_SERVED = re.compile(r"([\w.-]{1,100}) \(([\w.-]{1,100}) MCP Server\)")  # as Gemini CLI and Qwen Code title a tool
NAME_CHARS = 100
CAUTIOUS_MODE = "read-only"
EFFORT_CATEGORY = "thought_level"  # of an option of the session, in the protocol


def is_id(text: str | None) -> bool:
    """Whether a text may be the id of a session. It is sent as JSON and never becomes part of a command line."""
    return bool(text and _ID.fullmatch(text))


async def check_library() -> None:
    """Load the library, which takes a moment that other sessions should not wait for. Raises AgentError."""
    try:
        await asyncio.to_thread(__import__, "acp.schema")
    except ImportError:
        raise AgentError("config", "no library for ACP agents: install moot[acp]") from None


class AcpLink(Link):
    def __init__(self, child: Child, setup: Setup, folder: Path, name: str) -> None:
        super().__init__(child, setup, folder)
        self._name = name
        self._pipe = Pipe(child, self._receive)
        self._reader = UpdateReader()
        self._hooks: Hooks | None = None
        self._is_replaying = False
        self._has_replayed = True  # an update came since it was looked at last
        self._cost_usd = 0.0  # of the program so far
        self._connection: ClientSideConnection | None = None
        self._sees_images = False
        self._cautious_mode = ""  # that is chosen unless the team file names one
        self._effort_option = ""  # the id of the setting for effort, if there is one
        self._waiting: list[str] | None = None  # messages into the prompt that is under way

    async def open(self, known: Known | None) -> bool:
        """Resume the session, or load it, or begin a new one, whichever the agent can."""
        await check_library()
        import acp
        from acp.schema import ClientCapabilities, Implementation

        connection = self._connection = acp.connect_to_agent(OurSide(self._ask), self._pipe)  # type: ignore[arg-type]
        about = Implementation(name="moot", title="Moot", version="1")
        try:
            answer = await connection.initialize(
                protocol_version=acp.PROTOCOL_VERSION, client_capabilities=ClientCapabilities(), client_info=about
            )
            told = answer.model_dump(by_alias=True, mode="json")
            self._sees_images = part(part(told, "agentCapabilities"), "promptCapabilities").get("image") is True
            is_resumed = known is not None and await self._resume(connection, known.session_id, told)
            if known and is_resumed:
                session_id = known.session_id
            else:
                made = await connection.new_session(cwd=str(self.folder), mcp_servers=self._list_servers())
                session_id = made.session_id
                self._note_offers(made)
            self.conversation = session_id
            await self._choose(connection, session_id)
        except AgentError:
            raise
        except Exception as error:  # the library's, or what a broken agent provokes in it
            raise self._explain(error) from None
        return is_resumed

    def _list_servers(self) -> list[Any]:
        from acp.schema import EnvVariable, HttpHeader, HttpMcpServer, McpServerStdio

        made: list[Any] = []
        environment = self.child.environment
        for name, server in self.setup.servers.items():
            if server.command:
                variables = [EnvVariable(name=each, value=environment.get(each, "")) for each in server.env]
                command, *args = server.command
                made.append(McpServerStdio(name=name, command=command, args=args, env=variables))
            elif server.url:
                token = environment.get(server.key or "", "")
                headers = [HttpHeader(name="Authorization", value=f"Bearer {token}")] if token else []
                made.append(HttpMcpServer(type="http", name=name, url=server.url, headers=headers))
        return made

    def _note_offers(self, answer: Any) -> None:
        """Look for a mode in which an agent that usually does as it likes asks first, and for a setting of effort."""
        told = answer.model_dump(by_alias=True, mode="json") if answer is not None else {}
        modes, options = part(told, "modes").get("availableModes"), told.get("configOptions")
        offered = [word(mode, "id") for mode in modes] if isinstance(modes, list) else []
        if self.setup.permissions in ("read", "ask") and CAUTIOUS_MODE in offered:
            self._cautious_mode = CAUTIOUS_MODE
        for option in options if isinstance(options, list) else []:
            if word(option, "category") == EFFORT_CATEGORY:
                self._effort_option = word(option, "id")

    async def _choose(self, connection: "ClientSideConnection", session_id: str) -> None:
        """Set mode, model and effort as the team file asks for. Raises what the agent answers if it has no such."""
        mode = self.setup.mode or self._cautious_mode
        if mode:
            await connection.set_session_mode(mode_id=mode, session_id=session_id)
        if self.setup.model:
            await connection.set_config_option(config_id="model", session_id=session_id, value=self.setup.model)
        if effort := self.setup.effort:
            if not self._effort_option:
                raise AgentError("config", f"{self._name} has no setting for `effort`; leave it out of the team file")
            await connection.set_config_option(config_id=self._effort_option, session_id=session_id, value=effort)

    async def _resume(self, connection: "ClientSideConnection", session_id: str, answer: Json) -> bool:
        """Resume a session, or load it if resuming is not offered or refused. Return whether one of them worked."""
        import acp

        capabilities: Any = answer.get("agentCapabilities") or {}
        folder, servers = str(self.folder), self._list_servers()
        self._is_replaying = True
        try:
            if (capabilities.get("sessionCapabilities") or {}).get("resume") is not None:
                with suppress(acp.RequestError):  # some agents offer it and do not have it
                    self._note_offers(
                        await connection.resume_session(session_id=session_id, cwd=folder, mcp_servers=servers)
                    )
                    return True
            if not capabilities.get("loadSession"):
                return False
            self._note_offers(await connection.load_session(session_id=session_id, cwd=folder, mcp_servers=servers))
            await self._skip_history()
        except acp.RequestError:
            return False  # the agent no longer knows it
        finally:
            self._is_replaying = False
        return True

    async def _skip_history(self) -> None:
        """Wait until no more updates arrive: some agents send the history after they have answered the request."""
        async with asyncio.timeout(REPLAY_S):
            while self._has_replayed:
                self._has_replayed = False
                await asyncio.sleep(QUIET_S)

    async def prompt(self, text: str, hooks: Hooks, files: Sequence[HandedFile] = ()) -> Result:
        assert self.conversation is not None  # noqa: S101 - opened before
        assert self._connection is not None  # noqa: S101
        self._hooks, self._waiting = hooks, [text]
        result: Result | None = None
        try:
            while True:  # the protocol takes a message only between two prompts
                blocks, self._reader = self._make_blocks("\n\n".join(self._waiting), files), UpdateReader()
                files = ()
                self._waiting.clear()
                answer = await self._connection.prompt(session_id=self.conversation, prompt=blocks)
                for output in self._reader.end_thought():
                    hooks.emit(output)
                end = dict(answer.model_dump(by_alias=True, mode="json", exclude_none=True))
                result = add_results(result, self._read_end(end))
                if not self._waiting:
                    return result
        except (AgentError, ConnectionError):
            raise
        except Exception as error:  # the library's, or what a broken agent provokes in it
            raise self._count_failure(self._explain(error)) from None
        finally:
            self._hooks = self._waiting = None

    async def steer(self, text: str) -> Delivery | None:
        if self._waiting is None:
            return None
        self._waiting.append(text)
        return "boundary"

    def _make_blocks(self, text: str, files: Sequence[HandedFile]) -> list[Any]:
        """Return a prompt with its files: pictures for agents that look at them, links to the others."""
        import acp

        blocks: list[Any] = [acp.text_block(text)]
        for file in files:
            if file.is_image and file.data is not None and self._sees_images:
                blocks.append(acp.image_block(base64.b64encode(file.data).decode(), file.media_type))
            elif file.path:
                uri = Path(file.path).as_uri()
                blocks.append(acp.resource_link_block(file.name, uri, mime_type=file.media_type, size=file.size))
        return blocks

    def _read_end(self, response: Json) -> Result:
        reason, usage = word(response, "stopReason"), self._subtract_cost(self._reader.usage(response))
        text = self._reader.text
        if reason == "refusal":
            raise AgentError("refused", f"{self._name} refused: {shorten(text)[:600]}", usage=usage)
        if reason == "cancelled":
            raise AgentError("agent", f"{self._name} stopped by itself", usage=usage)
        if self._reader.has_failed:
            failure = read_failure(self._name, text.strip() or "it failed and gave no reason")
            failure.usage = usage
            raise failure
        if is_blank(text):
            raise AgentError("agent", f"{self._name} ended without an answer ({reason})", usage=usage)
        return Result(text=clean(text).strip(), usage=usage)

    def _subtract_cost(self, usage: Usage) -> Usage:
        """Agents report the cost of their program so far."""
        before, self._cost_usd = self._cost_usd, max(self._cost_usd, usage.cost_usd)
        return replace(usage, cost_usd=max(usage.cost_usd - before, 0.0))

    def _count_failure(self, failure: Exception) -> Exception:
        """Return a failure with what the prompt had cost until then, as far as the agent told."""
        if isinstance(failure, AgentError):
            failure.usage = self._subtract_cost(self._reader.usage({}))
        return failure

    def _explain(self, error: Exception) -> Exception:
        if self._pipe.failure:
            return self._pipe.failure
        if isinstance(error, ConnectionError | BrokenPipeError):
            return ConnectionError(str(error))
        if getattr(error, "code", None) == _LOGIN_WANTED:
            return AgentError("auth", f"{self._name} wants a login: {explain_error(self._name, error)}")
        return read_failure(self._name, explain_error(self._name, error))

    async def interrupt(self) -> None:
        if self._connection and self.conversation:
            await self._connection.cancel(session_id=self.conversation)

    async def close(self) -> None:
        with suppress(Exception):  # a broken agent: its program is ended next
            if self._connection:
                await self._connection.close()
        await self._pipe.close()

    def _receive(self, update: Json) -> None:
        if self._is_replaying:
            self._has_replayed = True
            return
        try:
            for output in self._reader.read(update):
                if self._hooks:
                    self._hooks.emit(output)
        except AgentError as error:  # it says too much
            self._pipe.failure = error
            raise

    async def _ask(self, call: Json, options: list[Json]) -> str | None:
        """Ask whether the agent may do what it wants. Return the option of its own that says so."""
        hooks = self._hooks
        if hooks is None:
            return pick(options, ("reject_once", "reject_always"))
        for output in self._reader.read_tool(call):
            hooks.emit(output)
        known = self._reader.find_call(word(call, "toolCallId")) or call  # some requests name a call by its id alone
        is_allowed = await hooks.permit(describe(known, self.folder))
        return pick(options, ("allow_once", "allow_always") if is_allowed else ("reject_once", "reject_always"))


def pick(options: list[Json], kinds: tuple[str, ...]) -> str | None:
    """Return the first option of the first of these kinds that is offered; None if there is none.

    A yes or no for the session is remembered by Moot, so that the agent stores nothing that outlasts it.
    """
    return next((word(option, "optionId") for kind in kinds for option in options if option.get("kind") == kind), None)


def find_name(call: Json, tool: ToolUse) -> str:
    """Return what a tool is called, for rules and for decisions that last.

    Agents that do not name it tell its kind, and a tool of an MCP server by its title only: `search (docs MCP Server)`.
    What is of no kind is known by its title alone, so that a yes to one is no yes to the others.
    """
    meta = part(call, "_meta")
    named = word(part(meta, "claudeCode"), "toolName") or word(meta, "toolName") or find_served(call)
    if named or tool.kind != "other":
        return named or tool.kind
    title = word(call, "title")
    served = _SERVED.fullmatch(title)
    return f"mcp__{served[2]}__{served[1]}" if served else title[:NAME_CHARS] or tool.kind


def find_arguments(call: Json) -> Json:
    """Return what a tool is given: as data, or as JSON in the content of its call, where Gemini CLI has it."""
    raw, content = part(call, "rawInput"), call.get("content")
    if raw or not isinstance(content, list) or len(content) != 1:
        return part(raw, "arguments") or raw
    try:
        given = json.loads(word(part(content[0], "content"), "text"))
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}


def describe(call: Json, folder: Path) -> PermissionRequest:
    """Return what an agent wants to do."""
    found, raw = find_use(call), part(call, "rawInput")
    change = describe_change(call) or found.diff or ""
    found = localize_found(Found(tool=found.tool, diff=change or None), folder)
    command = as_text(raw.get("command")) if raw.get("command") else ""
    if found.tool.kind == "execute":
        command = command or found.tool.title
    name, arguments = find_name(call, found.tool), find_arguments(call)
    return PermissionRequest(
        tool=found.tool,
        name=name,
        key=f"{name}: {command or json.dumps([found.tool.title, found.diff, raw], ensure_ascii=False)}",
        command=command,
        arguments=arguments or found.tool.title,
        diff=found.diff or "",
        is_own=is_own_tool(name, arguments) and not found.diff,
    )
