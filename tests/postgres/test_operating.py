"""`moot db` as operators use it: on a database with sessions, on its standby, and on what is damaged."""

import asyncio
import json
import signal
from pathlib import Path

import pytest

from tests.cli.command import CHAT, Moot
from tests.postgres.fixtures import Servers
from tests.postgres.pg_server import PgServer
from tests.postgres.test_failover import with_standby


@pytest.fixture
def moot(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Moot:
    monkeypatch.setenv("MOOT_DATA", str(tmp_path / "data"))
    return Moot(capsys, monkeypatch, tmp_path / "data")


def talk(moot: Moot, url: str) -> str:
    said = moot("run", CHAT, "--store", url, "--json", "--say", "alice: [NEXT: Bob] hello")
    assert said.code == 0, said.err
    session_id: str = said.objects[0]["session_id"]
    return session_id


def test_verify_says_what_was_read(moot: Moot, pg_url: str) -> None:
    """One sentence: how many sessions and events; what is in the trash is not read, and counted."""
    talk(moot, pg_url)
    removed = talk(moot, pg_url)
    assert moot("sessions", "rm", removed, "--store", pg_url).code == 0
    said = moot("db", "verify", "--store", pg_url)
    assert said.code == 0
    [line] = said.lines
    assert line.startswith("1 sessions with ")
    assert line.endswith(" events: every hash is right; 1 in the trash were not read")


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("UPDATE moot.appends SET data = ' '::bytea || data WHERE session = {key} AND seq = 2", "at seq 2: its bytes"),
        ("DELETE FROM moot.appends WHERE session = {key} AND seq = 2", "at seq 2: it is missing"),
        ("UPDATE moot.heads SET seq = seq + 3 WHERE session = {key}", "it is missing"),
        ("UPDATE moot.heads SET hash = sha256(hash) WHERE session = {key}", "not that of the session's head"),
    ],
    ids=["changed", "lost", "lost at the end", "another head"],
)
def test_verify_finds_what_was_changed(moot: Moot, pg_url: str, pg_servers: Servers, statement: str, why: str) -> None:
    """Exit 6 names the session and the event; the other sessions are sound."""
    damaged, sound = talk(moot, pg_url), talk(moot, pg_url)
    key = f"(SELECT key FROM moot.sessions WHERE id = '{damaged}')"  # noqa: S608 - it is our own
    pg_servers.find().run_sql(statement.format(key=key))
    said = moot("db", "verify", "--store", pg_url)
    assert said.code == 6
    assert said.lines[0].startswith(f"{damaged}: session {damaged} is damaged")
    assert why in said.lines[0]
    assert said.lines[1].endswith("1 damaged, the others are not concerned")
    reports = {each["session_id"]: each for each in moot("db", "verify", "--json", "--store", pg_url).objects}
    assert (reports[damaged]["ok"], reports[sound]["ok"]) == (False, True)


def test_verify_and_copy_read_a_standby(moot: Moot, pg_servers: Servers, tmp_path: Path) -> None:
    """They change nothing and listen to nothing, so that a standby, which takes no writes, will do."""
    with with_standby(pg_servers) as (primary, standby):
        session_id = talk(moot, primary.url)
        asyncio.run(_until_replayed(primary, standby))
        primary.stop(signal.SIGQUIT)
        said = moot("db", "verify", "--store", standby.url)
        assert (said.code, "every hash is right" in said.out) == (0, True), said.err
        copied = moot("db", "copy", standby.url, str(tmp_path / "copy"))
        assert (copied.code, session_id in copied.out) == (0, True), copied.err
        assert moot("db", "verify", "--data", str(tmp_path / "copy")).code == 0
        assert json.loads(moot("db", "verify", "--json", "--data", str(tmp_path / "copy")).lines[0])["ok"]


async def _until_replayed(primary: PgServer, standby: PgServer) -> None:
    written = await primary.execute("SELECT pg_current_wal_lsn()::text")
    while not await standby.execute(f"SELECT pg_last_wal_replay_lsn() >= '{written}'"):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
