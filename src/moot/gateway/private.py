"""What other windows of the same user ask of the process that holds the data, over its private socket only.

Its caller has the owner's token and is no program that Moot started: the guard has checked that before.
"""

from typing import Protocol

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from moot.core.errors import ConfigError
from moot.gateway.bodies import read_text
from moot.gateway.guard import is_private, principal_of
from moot.gateway.operations import Handler, Operation
from moot.gateway.replies import Json
from moot.protocol.protocol_errors import ProtocolError

BODY_BYTES = 64 * 1024


class About(Struct, frozen=True, kw_only=True):
    """Who holds the data: a `command` such as `serve`, with its process; `url` if it also serves the page."""

    command: str
    pid: int
    store: str
    url: str | None = None


class FileOffer(Struct, frozen=True, forbid_unknown_fields=True):
    file: str


class ForkWanted(Struct, frozen=True, forbid_unknown_fields=True):
    session_id: str
    at: int


class Named(Struct, frozen=True):
    """The name of a team, or the id of a session."""

    name: str


class Holder(Protocol):
    """The process that holds the data, as other windows see it. Its methods raise MootError."""

    def about(self) -> About: ...

    def offer(self, file: str) -> str:
        """Take in the team of a file that is trusted, and return its name."""

    async def fork(self, session_id: str, at: int) -> str:
        """Copy a session up to an event and return the id of the copy."""

    async def import_file(self, file: str) -> str:
        """Take in an exported session and return its id."""

    def stop(self) -> None:
        """End the process in order. Raises ConfigError if it is somebody's window."""


class PrivateOperations:
    def __init__(self, holder: Holder) -> None:
        self._holder = holder

    def list_operations(self) -> list[Operation]:
        return [
            _operation("GET", "/private/about", self.about),
            _operation("POST", "/private/teams", self.offer),
            _operation("POST", "/private/fork", self.fork),
            _operation("POST", "/private/import", self.import_file),
            _operation("POST", "/private/stop", self.stop),
        ]

    async def about(self, request: Request) -> Response:  # noqa: ARG002 - one signature for all
        return Json(self._holder.about())

    async def offer(self, request: Request) -> Response:
        wanted = msgspec.json.decode(await read_text(request, BODY_BYTES), type=FileOffer)
        return Json(Named(self._holder.offer(wanted.file)))

    async def fork(self, request: Request) -> Response:
        wanted = msgspec.json.decode(await read_text(request, BODY_BYTES), type=ForkWanted)
        return Json(Named(await self._holder.fork(wanted.session_id, wanted.at)))

    async def import_file(self, request: Request) -> Response:
        wanted = msgspec.json.decode(await read_text(request, BODY_BYTES), type=FileOffer)
        return Json(Named(await self._holder.import_file(wanted.file)))

    async def stop(self, request: Request) -> Response:
        await read_text(request, BODY_BYTES)  # a server that ends before it is read breaks the client's pipe
        self._holder.stop()
        return Response(status_code=204)


def _operation(method: str, path: str, handler: Handler) -> Operation:
    """An operation that is hidden from the network and from everybody but the owner. It tells why it failed."""

    async def answer(request: Request) -> Response:
        if not is_private(request.scope) or not principal_of(request.scope).may_create:
            raise ProtocolError("unknown_path")
        try:
            return await handler(request)
        except ConfigError as error:
            return Json({"content": str(error), "metadata": {"code": "config"}}, 422)
        except msgspec.DecodeError as error:
            raise ProtocolError("bad_field", detail=str(error)) from None

    return Operation(method=method, path=path, summary="", handler=answer, in_schema=False)
