"""What a client asks over HTTP: lists of sessions, and pages of history that it has dropped.

`http.client` on a thread: it follows no redirects, so that the token goes nowhere else.
"""

import asyncio
import http.client
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec

from moot.client.address import Address
from moot.client.link_errors import RemoteRefused, cannot_reach, describe_trouble, not_taken
from moot.core.errors import MootError, NotFound
from moot.core.session.attachments import Attachment
from moot.core.session.workspace_view import Changes, FileDiff
from moot.runtime import private_socket

TIMEOUT_S = 10.0  # for each wait on the socket
ANSWER_BYTES = 64 * 1024 * 1024
ANSWER_S = 60.0

_pages = msgspec.json.Decoder(list[msgspec.Raw])
_entries = msgspec.json.Decoder(list[dict[str, Any]])
_attachment = msgspec.json.Decoder(Attachment)
_found = msgspec.json.Decoder(dict[str, list[dict[str, Any]]])
_inbox = msgspec.json.Decoder(dict[str, list[dict[str, Any]]])


_changes = msgspec.json.Decoder(Changes)
_diff = msgspec.json.Decoder(FileDiff)


def _write_query(query: dict[str, str | int | None]) -> str:
    return urlencode({name: value for name, value in query.items() if value is not None})


class Rest:
    """One server."""

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

    async def inbox(self) -> list[dict[str, Any]]:
        """List what waits for people, with texts in the language of each session."""
        page, _ = await self._get("/api/inbox")
        return _inbox.decode(page)["items"]

    async def search(self, query: str, session_id: str | None = None) -> list[dict[str, Any]]:
        """Find what was said with all words of a query, the newest first."""
        wanted = {"q": query, **({"session": session_id} if session_id else {})}
        page, _ = await self._get(f"/api/search?{urlencode(wanted)}")
        return _found.decode(page)["found"]

    async def teams(self) -> list[dict[str, Any]]:
        page, _ = await self._get("/api/teams")
        return _entries.decode(page)

    async def events(self, session_id: str, after: int, limit: int) -> list[bytes]:
        """Return logged frames after `after` as the bytes that the server sent. Raises NotFound."""
        query = urlencode({"after": after, "limit": limit})
        page, _ = await self._get(f"/api/sessions/{session_id}/events?{query}")
        return [bytes(raw) for raw in _pages.decode(page)]

    async def changes(self, session_id: str, **query: str | int | None) -> Changes:
        """List the files that the work changed. Raises NotFound."""
        page, _ = await self._get(f"/api/sessions/{session_id}/changes?{_write_query(query)}")
        return _changes.decode(page)

    async def diff(self, session_id: str, **query: str | int | None) -> FileDiff:
        """Read a page of the diff of one file. Raises NotFound."""
        page, _ = await self._get(f"/api/sessions/{session_id}/diff?{_write_query(query)}")
        return _diff.decode(page)

    async def upload(self, session_id: str, data: bytes, name: str) -> Attachment:
        """Upload a file to a session. Raises NotFound, or RemoteRefused if the server does not take it."""
        path = f"/api/sessions/{session_id}/files?{urlencode({'name': name})}"
        return _attachment.decode((await self._request("POST", path, data))[0])

    async def read_file(self, session_id: str, sha256: str) -> bytes:
        """Return the content of a file of a session. Raises NotFound."""
        return (await self._get(f"/api/sessions/{session_id}/files/{sha256}"))[0]

    async def ask(self, method: str, path: str, body: object = None) -> bytes:
        """Send a request and return the body of the answer. Raises NotFound, Unauthenticated, RemoteRefused."""
        return (await self._request(method, path, None if body is None else msgspec.json.encode(body)))[0]

    async def _get(self, path: str) -> tuple[bytes, str]:
        """Return the body of an answer, and where the next page begins (empty: there is none)."""
        return await self._request("GET", path)

    async def _request(self, method: str, path: str, sent: bytes | None = None) -> tuple[bytes, str]:
        try:
            async with asyncio.timeout(ANSWER_S):
                status, body, following = await asyncio.to_thread(self._fetch, method, path, sent)
        except (OSError, http.client.HTTPException) as error:  # TimeoutError is an OSError
            raise cannot_reach(self._address, describe_trouble(error)) from error
        if status in (http.HTTPStatus.OK, http.HTTPStatus.CREATED, http.HTTPStatus.NO_CONTENT):
            return body, following
        if status == http.HTTPStatus.UNAUTHORIZED:
            raise not_taken(self._address)
        raise _explain(status, body)

    def _fetch(self, method: str, path: str, sent: bytes | None) -> tuple[int, bytes, str]:
        address = self._address
        connection: http.client.HTTPConnection
        if address.folder is not None:
            connection = _PrivateConnection(address.folder)
        else:
            kind = http.client.HTTPSConnection if address.is_secure else http.client.HTTPConnection
            connection = kind(address.host, address.port, timeout=TIMEOUT_S)
        try:
            connection.request(method, address.path + path, sent, address.headers)
            response = connection.getresponse()
            body = response.read(ANSWER_BYTES + 1)
        finally:
            connection.close()
        if len(body) > ANSWER_BYTES:
            raise http.client.HTTPException(f"the answer is longer than {ANSWER_BYTES} bytes")
        return response.status, body, response.headers.get("moot-next", "")


class _PrivateConnection(http.client.HTTPConnection):
    def __init__(self, folder: Path) -> None:
        super().__init__("moot", timeout=TIMEOUT_S)
        self._folder = folder

    def connect(self) -> None:
        self.sock = private_socket.connect(self._folder)
        self.sock.settimeout(TIMEOUT_S)


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
