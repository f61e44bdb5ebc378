"""Plays a recorded conversation with a program that stays (tests/data/agents) to the link that talks with it.

Lines that begin with `>>> ` were written to the program. What it said after such a line is played once the link has
written a line too. Ids that the link chose otherwise than in the recording are put in their place.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "data" / "agents"
SENT = ">>> "


def load(name: str) -> list[str]:
    return (FOLDER / f"{name}.jsonl").read_text().splitlines()


class RecordedProgram:
    """Stands in for a `Child`, and for its own writer. `written` is what the link wrote, one message each."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = list(lines)
        self._has_written = asyncio.Event()
        self._ids: dict[str, str] = {}  # those of the recording, and what the link has instead
        self.written: list[dict[str, Any]] = []
        self.writer = self
        self.has_ended = False

    def write(self, data: bytes) -> None:
        self.written.append(json.loads(data))
        self._has_written.set()

    async def drain(self) -> None:
        pass

    async def chunks(self) -> AsyncIterator[bytes]:
        count = 0
        for line in self._lines:
            if line.startswith(SENT):
                count += 1
                while len(self.written) < count:
                    self._has_written.clear()
                    await self._has_written.wait()
                self._learn_id(json.loads(line.removeprefix(SENT)), self.written[count - 1])
            else:
                yield self._replace_ids(line).encode() + b"\n"
                await asyncio.sleep(0)
        await asyncio.Event().wait()  # it stays

    def _learn_id(self, recorded: dict[str, Any], written: dict[str, Any]) -> None:
        for key in ("id", "request_id"):
            if isinstance(recorded.get(key), str) and isinstance(written.get(key), str):
                self._ids[recorded[key]] = written[key]

    def _replace_ids(self, line: str) -> str:
        for recorded, written in self._ids.items():
            line = line.replace(json.dumps(recorded), json.dumps(written))
        return line
