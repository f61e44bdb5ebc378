"""Moot's side of an ACP connection: the pipe to the program, and the requests that the program may send."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

from moot.agents.cli.dialect import part, word
from moot.agents.cli.lines import Json, JsonLines
from moot.agents.process import Child
from moot.core.errors import AgentError
from moot.core.text import clean

_INTERNAL = "Internal error"
Ask = Callable[[Json, list[Json]], Awaitable[str | None]]  # the tool call and the options → the chosen option's id


class Pipe:
    """Carries messages over a program's stdin and stdout, as the library expects it.

    Updates are passed to `on_update` in their order and do not reach the library, which would check them against the
    version of the protocol that it knows and drop newer ones.
    """

    def __init__(self, child: Child, on_update: Callable[[Json], None]) -> None:
        self._child = child
        self._on_update = on_update
        self._lines = JsonLines(key="jsonrpc")
        self._messages: asyncio.Queue[Json | None] = asyncio.Queue()
        self._reading = asyncio.create_task(self._read())
        self.failure: AgentError | None = None

    @property
    def noise(self) -> str:
        return self._lines.noise

    async def send(self, message: Json) -> None:
        self._child.writer.write(json.dumps(message, ensure_ascii=False).encode(errors="replace") + b"\n")
        await self._child.writer.drain()

    async def receive(self) -> Json | None:
        return await self._messages.get()

    async def close(self) -> None:
        self._reading.cancel()
        self._messages.put_nowait(None)

    async def _read(self) -> None:
        try:
            async with aclosing(self._child.chunks()) as chunks:
                async for chunk in chunks:
                    for message in self._lines.feed(chunk):
                        self._sort(message)
        except AgentError as error:  # it wrote too much or was silent for too long
            self.failure = error
        finally:
            self._messages.put_nowait(None)

    def _sort(self, message: Json) -> None:
        if message.get("method") == "session/update":
            self._on_update(part(part(message, "params"), "update"))
        elif "id" in message or not word(message, "method").startswith("$/"):  # a hint that may be ignored
            self._messages.put_nowait(message)


class OurSide:
    """Handles the agent's requests: permissions only. It has its own access to files and terminals."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    async def request_permission(self, tool_call: Any, options: list[Any], **_: Any) -> Any:
        from acp.schema import AllowedOutcome, DeniedOutcome, RequestPermissionResponse

        shown = [option.model_dump(by_alias=True, mode="json") for option in options]
        call = tool_call.model_dump(by_alias=True, mode="json", exclude_none=True)
        chosen = await self._ask(call, shown)
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))

    async def session_update(self, **_: Any) -> None:
        """Ignore it: updates come through the pipe."""

    async def ext_method(self, *_: Any) -> Json:
        return {}

    async def ext_notification(self, *_: Any) -> None:
        """Ignore it: notifications of single agents are not known."""


def explain_error(name: str, error: Exception) -> str:
    """Return the message of a JSON-RPC error, with what its data says in words, or else with its data."""
    data = getattr(error, "data", None)
    message = str(error).removeprefix(_INTERNAL).removeprefix(": ")
    words = [text for key in ("details", "message") if (text := word(data, key)) and text not in message]
    if not message and not words and data:
        words = [json.dumps(data, ensure_ascii=False, default=str)]
    return clean(" ".join([message, *words])).strip() or str(error) or name
