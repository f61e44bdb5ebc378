"""A client of the smallest possible protocol: it knows nothing of command ids, hashes or batches."""

import asyncio
import json
from typing import Any

import websockets

from tests.gateway.server import TOKEN

# Where older clients put a field: at top level, in content, in metadata.
PLACES = ["top", "content", "metadata"]


class MinimalClient:
    """Sends {event, …}, keeps the seq of what it has seen, acks it, and comes back with it."""

    def __init__(self, port: int, place: str = "metadata", token: str = TOKEN) -> None:
        self._url = f"ws://127.0.0.1:{port}/?token={token}"
        self._place = place
        self._link: Any = None
        self.session_id = ""
        self.seen: list[dict[str, Any]] = []

    async def connect(self) -> None:
        self._link = await websockets.connect(self._url, proxy=None)
        assert (await self.read())["event"] == "system.connected"

    async def close(self) -> None:
        await self._link.close()

    async def drop(self) -> None:
        """The network is gone: no goodbye."""
        self._link.transport.abort()
        await self._link.wait_closed()

    async def send_text(self, text: str) -> None:
        await self._link.send(text)

    async def send(self, event: str, **fields: Any) -> None:
        frame: dict[str, Any] = {"event": event}
        if self._place == "top":
            frame |= fields
        else:
            frame[self._place] = fields
        await self._link.send(json.dumps(frame))

    async def create(self) -> None:
        await self._link.send('{"event": "user.create_session"}')
        created = await self.wait_for("agent.session_created")
        self.session_id = created["session_id"]

    async def say(self, text: str) -> None:
        await self._link.send(json.dumps({"event": "user.message", "session_id": self.session_id, "content": text}))

    async def reconnect(self) -> None:
        await self.connect()
        last = self.seen[-1]["seq"]
        await self.send("user.reconnect_with_state", session_id=self.session_id, last_seq=last)
        answer = await self.read()
        assert answer["event"] == "system.connected"
        assert answer["metadata"]["resumed"] is True

    async def wait_for(self, name: str) -> dict[str, Any]:
        while True:
            frame = await self.read()
            if "seq" in frame:
                self.seen.append(frame)
            if frame["event"] == name:
                return frame

    async def is_quiet(self) -> bool:
        try:
            await asyncio.wait_for(self._link.recv(), 0.1)
        except TimeoutError:
            return True
        return False

    async def read(self) -> dict[str, Any]:
        async with asyncio.timeout(60):
            frame: dict[str, Any] = json.loads(await self._link.recv())
        return frame

    async def refusal(self, event: str, **fields: Any) -> dict[str, Any]:
        """Send what is to be refused; the error's metadata."""
        await self.send(event, session_id=self.session_id, **fields)
        frame = await self.wait_for("agent.error")
        metadata: dict[str, Any] = frame["metadata"]
        return metadata

    def names(self) -> list[str]:
        return [frame["event"] for frame in self.seen]

    def check_whole(self) -> None:
        """Every event once and in order."""
        assert [frame["seq"] for frame in self.seen] == list(range(1, len(self.seen) + 1))
