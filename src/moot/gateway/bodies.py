"""What a request carries: its body, bounded in size and time, its command id, and the numbers in its query."""

import asyncio
import hashlib
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request

from moot.core.session.principal import Principal
from moot.protocol.protocol_errors import ProtocolError
from moot.runtime.ports import CommandKey

BODY_TIMEOUT_S = 10.0
UPLOAD_TIMEOUT_S = 120.0  # ten megabytes over a slow line

Body = TypeVar("Body")


async def read_text(request: Request, limit: int) -> str:
    """Read the whole body as text. Raises what `read_bytes` raises, and `bad_json` if the body is not UTF-8."""
    body = await read_bytes(request, limit, BODY_TIMEOUT_S)
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise ProtocolError("bad_json", detail="the body is not UTF-8") from None


async def read_bytes(
    request: Request, limit: int, timeout_s: float, count: Callable[[int], None] = lambda _: None
) -> bytes:
    """Read the whole body. `count` is told of its bytes before they are read: of all if their number is declared.

    Raises ProtocolError `too_large` as soon as more than `limit` bytes are declared or received, and `too_slow` after
    `timeout_s`.
    """
    declared = request.headers.get("content-length", "0")
    if not declared.isdigit() or int(declared) > limit:
        raise ProtocolError("too_large", limit=limit)
    is_counted = int(declared) > 0
    if is_counted:
        count(int(declared))
    body = bytearray()
    try:
        async with asyncio.timeout(timeout_s):
            async for chunk in request.stream():
                if not is_counted:
                    count(len(chunk))
                body += chunk
                if len(body) > limit:
                    raise ProtocolError("too_large", limit=limit)
    except TimeoutError:
        raise ProtocolError("too_slow", retryable=True) from None
    return bytes(body)


def identify_command(principal: Principal, command_id: str | None, body: bytes) -> CommandKey | None:
    """Return the key under which a command is carried out once.

    Ids are the principal's own: clients count them, so that two people often choose the same one for the same words.
    """
    if command_id is None:
        return None
    return CommandKey(f"{principal.token_id}/{command_id}", hashlib.sha256(body).hexdigest())


def read_number(request: Request, name: str, default: int, code: str, largest: int) -> int:
    """Return a parameter of the query as `parse_number` does, or `default` if it is absent."""
    text = request.query_params.get(name)
    return default if text is None else parse_number(text, name, code, largest)


def parse_number(text: str, name: str, code: str, largest: int) -> int:
    """Parse a whole number from 0 to `largest`. Raises ProtocolError with `code`, naming `name`, for anything else."""
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= largest):
        detail: dict[str, Any] = {"detail": name}
        raise ProtocolError(code, params=detail)
    return int(text)


def convert(body: dict[str, Any], kind: type[Body]) -> Body:
    """Return a body as a struct. Raises ProtocolError if it does not fit."""
    try:
        return msgspec.convert(body, kind)
    except msgspec.ValidationError as error:
        raise ProtocolError("bad_field", detail=str(error)) from None
