"""Every log that Moot has: a test that asks for `open_log` runs on each of them."""

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from moot.runtime.ports import Log
from moot.runtime.stores.memory import MemoryLog
from moot.runtime.stores.postgres.postgres_log import PgLog
from moot.runtime.stores.postgres.store import read_address
from moot.runtime.stores.sqlite import SqliteLog
from tests.contract.logs import OpenLog, closing
from tests.postgres.fixtures import Servers, pg_servers

__all__ = ["pg_servers"]


LOGS = ["memory", "sqlite inline", "sqlite on a thread", "PostgreSQL", "PostgreSQL through PgBouncer"]


@pytest.fixture(params=LOGS)
def open_log(request: pytest.FixtureRequest, tmp_path: Path, pg_servers: Servers) -> OpenLog:
    url = direct = ""
    if request.param.startswith("PostgreSQL"):
        url = direct = pg_servers.database()
        if "PgBouncer" in request.param:
            url = pg_servers.pooled(direct)

    @asynccontextmanager
    async def opened() -> AsyncIterator[Log]:
        log: Log
        if request.param == "memory":
            log = MemoryLog()
        elif url:
            log = await PgLog.open(read_address(url, is_pooled=url != direct), read_address(direct))
        else:
            inline_below_s = math.inf if request.param == "sqlite inline" else 0
            log = await SqliteLog.open(tmp_path / "moot.db", inline_below_s=inline_below_s)
        async with closing(log):
            yield log

    return opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "moot.db"
