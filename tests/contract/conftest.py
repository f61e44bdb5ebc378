"""Every log that Moot has: a test that asks for `open_log` runs on each of them."""

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from moot.runtime.ports import Log
from moot.runtime.stores.memory import MemoryLog
from moot.runtime.stores.sqlite import SqliteLog
from tests.contract.logs import OpenLog, closing


@pytest.fixture(params=["memory", "sqlite inline", "sqlite on a thread"])
def open_log(request: pytest.FixtureRequest, tmp_path: Path) -> OpenLog:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Log]:
        log: Log
        if request.param == "memory":
            log = MemoryLog()
        else:
            inline_below_s = math.inf if request.param == "sqlite inline" else 0
            log = await SqliteLog.open(tmp_path / "moot.db", inline_below_s=inline_below_s)
        async with closing(log):
            yield log

    return opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "moot.db"
