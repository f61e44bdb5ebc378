"""Bodies of requests: read in pieces, bounded in size and time."""

import asyncio
from typing import Any

from starlette.requests import Request

from moot.gateway.replies import HttpError
from moot.protocol.errors import ProtocolError

BODY_TIMEOUT_S = 10.0


async def read_text(request: Request, limit: int) -> str:
    """The whole body, or HttpError as soon as it is known to be too large, or too slow."""
    declared = request.headers.get("content-length", "0")
    if not declared.isdigit() or int(declared) > limit:
        raise HttpError("too_large", limit=limit)
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limit:
                    raise HttpError("too_large", limit=limit)
    except TimeoutError:
        raise HttpError("too_slow", retryable=True) from None
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise ProtocolError("bad_json", detail="the body is not UTF-8") from None


def read_number(request: Request, name: str, default: int, code: str, largest: int) -> int:
    """A whole number of the query, 0 or more. Everything else is refused with `code`, never guessed."""
    written = request.query_params.get(name)
    return default if written is None else parse_number(written, name, code, largest)


def parse_number(written: str, name: str, code: str, largest: int) -> int:
    if not (written.isascii() and written.isdigit() and len(written) < 20 and int(written) <= largest):
        detail: dict[str, Any] = {"detail": name}
        raise ProtocolError(code, params=detail)
    return int(written)
