"""Attaching to the process that holds a data folder, over its private socket, with the owner's token."""

import asyncio
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path

import msgspec
from msgspec import Struct

from moot.app import App
from moot.config.private_files import OWNER_FILE, TOKEN_VARIABLE, keep_secret
from moot.core.errors import ConfigError, Locked
from moot.runtime.ports import Store
from moot.runtime.private_socket import SOCKET_FILE

FIND_S, LOOK_S = 3.0, 0.1  # a process that has just taken the lock, or loses it, is waited for


class About(Struct, frozen=True, kw_only=True):
    """Who holds the data, as `gateway.private` tells it."""

    command: str
    pid: int
    store: str
    url: str | None = None


class Attached:
    """The process that holds the data."""

    def __init__(self, data: Path, about: About) -> None:
        from moot.client.address import private_address  # here, because most commands find the data free
        from moot.client.rest import Rest

        self.about = about
        self.address = private_address(data, read_token(data))
        self.rest = Rest(self.address)

    async def offer(self, file: str) -> str:
        """Have it take in the team of a file (its absolute path) and return the team's name. Raises ConfigError."""
        return await self._name("/private/teams", {"file": file})

    async def fork(self, session_id: str, at: int) -> str:
        return await self._name("/private/fork", {"session_id": session_id, "at": at})

    async def import_file(self, file: str) -> str:
        """Have it take in an export; `file` is an absolute path."""
        return await self._name("/private/import", {"file": file})

    async def stop(self) -> None:
        await self._ask("POST", "/private/stop", {})

    async def _name(self, path: str, body: dict[str, object]) -> str:
        name: str = msgspec.json.decode(await self._ask("POST", path, body))["name"]
        return name

    async def _ask(self, method: str, path: str, body: object) -> bytes:
        from moot.client.link_errors import RemoteRefused

        try:
            return await self.rest.ask(method, path, body)
        except RemoteRefused as error:
            if error.code == "config":
                raise ConfigError(error.sentence) from None
            raise


def read_token(data: Path) -> str:
    return os.environ.get(TOKEN_VARIABLE) or keep_secret(data / OWNER_FILE).decode("ascii", "replace")


async def find_holder(data: Path, store: Store) -> Attached | None:
    """Return the process that holds this store, if it takes other windows. Raises Locked if it refuses this one."""
    if not (data / SOCKET_FILE).exists():
        return None
    from moot.client.address import private_address
    from moot.client.link_errors import RemoteRefused, Unauthenticated, Unreachable
    from moot.client.rest import Rest

    try:
        told = await Rest(private_address(data, read_token(data))).ask("GET", "/private/about")
    except Unauthenticated:
        raise Locked(
            f"the process that holds {data} has another owner's token, from {TOKEN_VARIABLE}; set the same one here,"
            " or use --data DIR"
        ) from None
    except Unreachable:
        return None
    except RemoteRefused as error:
        if error.code != "forbidden":
            raise
        raise Locked(f"the process that holds {data} lets in no program that Moot itself has started") from None
    about = msgspec.json.decode(told, type=About)
    return Attached(data, about) if about.store == str(store) else None


async def open_or_attach(
    stack: AsyncExitStack, opening: Callable[[], AbstractAsyncContextManager[App]], data: Path, store: Store
) -> App | Attached:
    """Open the sessions in this process or, if another one holds them, find that. Raises Locked if it takes nobody."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + FIND_S
    while True:
        try:
            return await stack.enter_async_context(opening())
        except Locked as error:
            locked = error
        holder = await find_holder(data, store)
        if holder:
            return holder
        if loop.time() > deadline:
            raise locked
        await asyncio.sleep(LOOK_S)
