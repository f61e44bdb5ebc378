"""The process that holds a data folder, as other windows on the same folder find it: over the private socket.

`moot serve` serves that socket beside its port. `moot chat` and `moot run` listen too, and load the server when the
first other window comes. They end with the last window that uses them, not before.
"""

import asyncio
import importlib
import logging
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from moot.app import App
from moot.cli.copies import check_export, import_session, open_twice
from moot.cli.projects import find_project
from moot.cli.trusting import folder_of, load_trusted
from moot.config.loading import list_built_in_teams
from moot.config.private_files import OWNER_FILE, TOKEN_VARIABLE, keep_secret
from moot.core.errors import ConfigError
from moot.core.session.team import Language
from moot.runtime import private_socket
from moot.runtime.copying import fork_session
from moot.runtime.ports import Store
from moot.tui.words import Words

if TYPE_CHECKING:
    from moot.gateway.private import About
    from moot.gateway.serving import GatewayServer

logger = logging.getLogger(__name__)

LOOK_S = 0.2  # between two looks at whether the last window has gone


class HeldData:
    """Implements `gateway.private.Holder` for the sessions of this process.

    Args:
        command: the command that holds the data, such as `serve`.
        url: where it serves the page, if it does.
        stop: ends the process in order; None for somebody's window.
    """

    def __init__(
        self,
        app: App,
        store: Store,
        command: str,
        *,
        url: str | None = None,
        stop: Callable[[], None] | None = None,
    ) -> None:
        self._app = app
        self._store = store
        self._command = command
        self._url = url
        self._stop = stop

    def about(self) -> "About":
        from moot.gateway.private import About  # here, because a window that nobody joins needs no server

        return About(command=self._command, pid=os.getpid(), store=str(self._store), url=self._url)

    def offer(self, file: str) -> str:
        """Take in the team of a file. This process reads the file and checks the trust itself; it asks nobody."""
        if file not in list_built_in_teams() and not os.path.isabs(file):
            raise ConfigError(f"{file!r} is no absolute path and no built-in team")
        team = load_trusted(file, asks=False)
        self._app.offer(team, find_project(file), folder_of(file))
        return team.name

    async def fork(self, session_id: str, at: int) -> str:
        return await fork_session(self._app.log, session_id, at, lambda: None)

    async def import_file(self, file: str) -> str:
        with open_twice(file) as exported:
            checked = await asyncio.to_thread(check_export, exported, lambda: None)
            exported.seek(0)
            return await import_session(self._app.log, exported, checked, lambda: None)

    def stop(self) -> None:
        if self._stop is None:
            raise ConfigError(f"process {os.getpid()} is `moot {self._command}` in a terminal; close it there")
        self._stop()


class Windows:
    """The other windows that use the sessions of this process."""

    def __init__(self, app: App, holder: HeldData, data: Path) -> None:
        self._app = app
        self._holder = holder
        self._data = data
        self._server: GatewayServer | None = None
        self._stop = asyncio.Event()

    @property
    def count(self) -> int:
        return self._server.sockets.count() if self._server else 0

    @property
    def is_serving(self) -> bool:
        return self._server is not None

    async def serve(self, listening: socket.socket) -> None:
        """Serve other windows until `stop` is called. The server is loaded when the first one comes."""
        await _wait_for_a_caller(listening)
        await asyncio.to_thread(importlib.import_module, "moot.gateway.serving")  # a second, during which work goes on
        from moot.gateway.auth import Tokens
        from moot.gateway.serving import build_server
        from moot.gateway.settings import GatewaySettings

        try:
            tokens = Tokens(self._data, owner_token=os.environ.get(TOKEN_VARIABLE))
            self._server = build_server(self._app, tokens, GatewaySettings(port=0), holder=self._holder)
            await self._server.serve([listening], self._stop, lambda: None)
        except Exception:  # the work of this window must not end with it
            logger.exception("other windows cannot use this process")

    def stop(self) -> None:
        self._stop.set()

    async def wait_until_left(self, language: Language) -> None:
        """Return when no other window uses this process; say first why it goes on."""
        if self.count:
            print(Words(language)("goodbye.hosting", count=self.count), file=sys.stderr, flush=True)
        while self.count:  # noqa: ASYNC110 - connections tell nobody that they end
            await asyncio.sleep(LOOK_S)


@asynccontextmanager
async def shared(
    app: App, store: Store, data: Path, command: str, *, ends_now: Callable[[], bool] = lambda: False
) -> AsyncIterator[None]:
    """Let other windows use the sessions of this process during the block, and behind it until the last one has left.

    `ends_now` says that nobody is waited for, because the process was told to end.
    """
    keep_secret(data / OWNER_FILE)  # who has it may join
    listening = private_socket.listen(data)
    if listening is None:
        yield
        return
    windows = Windows(app, HeldData(app, store, command), data)
    serving = app.spawn(windows.serve(listening))
    failure: BaseException | None = None
    try:
        yield
    except BaseException as error:  # raised below, when the last window has left
        failure = error
    language = app.teams[0].language
    try:
        if not ends_now():
            await windows.wait_until_left(language)
    finally:
        private_socket.remove(data)
        if command == "chat":  # who ends a script knows what it does
            tell_what_stops(app, language)
        windows.stop()
        if windows.is_serving:
            await serving
        else:
            serving.cancel()
            listening.close()
    if failure:
        raise failure


def tell_what_stops(app: App, language: Language) -> None:
    """Say which work ends with this process, when it goes on, and how to keep it running."""
    for session_id, state in app.sessions.list_running():
        print(Words(language)("goodbye.stops", session=state.title or session_id), file=sys.stderr, flush=True)


async def _wait_for_a_caller(listening: socket.socket) -> None:
    loop, caller = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(listening, caller.set)
    try:
        await caller.wait()
    finally:
        loop.remove_reader(listening)
