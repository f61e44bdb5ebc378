"""What a client asks over HTTP: lists of sessions, and pages of history that it has dropped.

`http.client` on a thread: it follows no redirects, so that the token goes nowhere else.
"""

import asyncio
import http.client
from typing import Any
from urllib.parse import urlencode

import msgspec

from moot.client.address import Address
from moot.client.link_errors import RemoteRefused, cannot_reach, describe_trouble, not_taken
from moot.core.errors import MootError, NotFound

TIMEOUT_S = 10.0  # for each wait on the socket
ANSWER_BYTES = 64 * 1024 * 1024
ANSWER_S = 60.0

_pages = msgspec.json.Decoder(list[msgspec.Raw])
_entries = msgspec.json.Decoder(list[dict[str, Any]])


class Rest:
    def __init__(self, address: Address) -> None:
        self._address = address

    async def sessions(self, *, removed: bool = False) -> list[dict[str, Any]]:
        """List the sessions, or those in the trash, the most recently active first."""
        query = {"removed": "1"} if removed else {}
        entries: list[dict[str, Any]] = []
        while True:
            page, following = await self._get(f"/api/sessions?{urlencode(query)}")
            entries += _entries.decode(page)
            if not following:
                return entries
            query["before"] = following

    async def events(self, session_id: str, after: int, limit: int) -> list[bytes]:
        """Return logged frames after `after` as the bytes that the server sent. Raises NotFound."""
        query = urlencode({"after": after, "limit": limit})
        page, _ = await self._get(f"/api/sessions/{session_id}/events?{query}")
        return [bytes(raw) for raw in _pages.decode(page)]

    async def _get(self, path: str) -> tuple[bytes, str]:
        """Return the body of an answer, and where the next page begins (empty: there is none)."""
        try:
            async with asyncio.timeout(ANSWER_S):
                status, body, following = await asyncio.to_thread(self._fetch, path)
        except (OSError, http.client.HTTPException) as error:  # TimeoutError is an OSError
            raise cannot_reach(self._address, describe_trouble(error)) from error
        if status == http.HTTPStatus.OK:
            return body, following
        if status == http.HTTPStatus.UNAUTHORIZED:
            raise not_taken(self._address)
        raise _explain(status, body)

    def _fetch(self, path: str) -> tuple[int, bytes, str]:
        address = self._address
        kind = http.client.HTTPSConnection if address.is_secure else http.client.HTTPConnection
        connection = kind(address.host, address.port, timeout=TIMEOUT_S)
        try:
            connection.request("GET", address.path + path, headers=address.headers)
            response = connection.getresponse()
            body = response.read(ANSWER_BYTES + 1)
        finally:
            connection.close()
        if len(body) > ANSWER_BYTES:
            raise http.client.HTTPException(f"the answer is longer than {ANSWER_BYTES} bytes")
        return response.status, body, response.headers.get("moot-next", "")


class _Explanation(msgspec.Struct):
    """An error of REST: the error frame of the protocol."""

    content: str = ""
    metadata: dict[str, Any] = {}


def _explain(status: int, body: bytes) -> MootError:
    try:
        told = msgspec.json.decode(body, type=_Explanation)
    except msgspec.DecodeError:
        told = _Explanation()
    sentence = told.content or f"the server answered {status}"
    if status == http.HTTPStatus.NOT_FOUND:
        return NotFound(sentence)
    return RemoteRefused(str(told.metadata.get("code", status)), sentence)
