"""Servers on one database: no session belongs to one of them, tokens are everybody's, and any of them may die."""

import signal
import subprocess
import urllib.error
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.postgres.servers import MOOT, SLOW_TEAM, Server, eventually, server


@pytest.fixture
def team(tmp_path: Path) -> Path:
    file = tmp_path / "team.yaml"
    file.write_text(SLOW_TEAM)
    return file


def moot_token(url: str, tmp_path: Path, *arguments: str) -> str:
    command = [*MOOT, "token", *arguments, "--data", str(tmp_path / "cli"), "--store", url]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def start_turn(on: Server) -> str:
    """A session in which bob is at work, on the server that was asked."""
    session_id: str = on.call("POST", "/api/sessions", {"team": "slow"})["session_id"]
    on.say(session_id, "[NEXT: bob] hello")
    eventually(lambda: on.count(session_id, "turn.started") == 1)
    return session_id


def check_ended_once(on: Server, session_id: str) -> None:
    eventually(lambda: on.count(session_id, "turn.completed") == 1)
    names = [frame["event"] for frame in on.events(session_id)]
    assert names.count("turn.started") == names.count("turn.completed") == 1
    assert [frame["seq"] for frame in on.events(session_id)] == list(range(1, len(names) + 1))


@pytest.mark.slow
def test_three_servers(pg_url: str, team: Path, tmp_path: Path) -> None:
    """Created on one, said on another, read on a third; others stand in for those that die; tokens are everybody's."""
    with ExitStack() as stack:
        a, b, c = [stack.enter_context(server(pg_url, tmp_path / name, team)) for name in "abc"]
        assert a.token == b.token == c.token

        session_id = a.call("POST", "/api/sessions", {"team": "slow"})["session_id"]
        for each in (a, b, c):
            each.say(session_id, "hello", "c1")  # one command, sent to all
        assert a.count(session_id, "message.posted") == 1
        b.say(session_id, "[NEXT: bob] go")
        check_ended_once(c, session_id)

        # tokens: made here, used there, revoked elsewhere
        token = moot_token(pg_url, tmp_path, "create", "--role", "viewer").strip()
        eventually(lambda: b.call("GET", f"/api/sessions/{session_id}", token=token))
        moot_token(pg_url, tmp_path, "revoke", moot_token(pg_url, tmp_path, "list").split()[0])

        def is_refused() -> bool:
            try:
                c.call("GET", f"/api/sessions/{session_id}", token=token)
            except urllib.error.HTTPError as error:
                return error.code == 401
            return False

        eventually(is_refused)

        # kill -9 of the server that plays the turn
        first = start_turn(a)
        a.kill(signal.SIGKILL)
        check_ended_once(b, first)

        # a server that is stopped for longer than its lease: what it reports when it wakes is not wanted
        second = start_turn(b)
        b.kill(signal.SIGSTOP)
        check_ended_once(c, second)
        b.kill(signal.SIGCONT)
        eventually(lambda: b.call("GET", f"/api/sessions/{second}"))
        check_ended_once(b, second)

        # the status names those that live
        status = subprocess.run(
            [*MOOT, "db", "status", "--store", pg_url], check=True, capture_output=True, text=True
        ).stdout
        assert " c: lease" in status
        cluster = c.call("GET", "/api/cluster")
        assert "c" in [each["name"] for each in cluster["nodes"]]
        measured = c.read("/metrics")
        assert [name for name in METRICS if f"\nmoot_{name} " not in measured] == []
        # c has the second session: b was dead, or has found in time that it was late and let it go by itself
        assert any(f'moot_takeovers_total{{why="{why}"}} 0.0' not in measured for why in ("dead", "unowned"))
        assert any('moot_takeovers_total{why="dead"} 0.0' not in each.read("/metrics") for each in (b, c))  # of a


# what is documented in docs/how-to/several-machines.md
METRICS = (
    *("nodes", "due_sessions", "unowned_due_sessions", "notify_queue_usage", "oldest_transaction_seconds"),
    *("sync_standbys", "owned_sessions", "followed_sessions", "lease_left_seconds", "clock_offset_seconds"),
    *("wake_lag_seconds", 'takeovers_total{why="unowned"}', "fenced_total", "rejoined_total", "pieces_dropped_total"),
    *("store_commits_total", "store_commit_seconds_total", "store_appends_total", "store_locked_decisions_total"),
    *("store_in_doubt_total", "log_diverged_total", 'store_conflicts_total{kind="hash"}'),
)


@pytest.mark.slow
def test_a_folder_belongs_to_one_process(pg_url: str, team: Path, tmp_path: Path) -> None:
    """A second server on the same folder would end the programs of the first: it refuses to start, with exit 5."""
    with server(pg_url, tmp_path / "a", team):
        command = [*MOOT, "serve", str(team), "--store", pg_url, "--data", str(tmp_path / "a"), "--port", "0"]
        second = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert second.returncode == 5
        assert "node" in second.stderr


@pytest.mark.slow
def test_sessions_are_copied_both_ways(pg_url: str, tmp_path: Path) -> None:
    """From SQLite to PostgreSQL and back: every event has the same bytes, and a second copy has nothing to do."""
    run = [*MOOT, "run", "chat-demo", "--say", "[NEXT: bob] hello", "--data", str(tmp_path / "one")]
    subprocess.run(run, check=True, capture_output=True)

    def copy(source: str, target: str) -> str:
        done = subprocess.run([*MOOT, "db", "copy", source, target], check=True, capture_output=True, text=True)
        return done.stdout

    def export(*where: str) -> str:
        command = [*MOOT, "sessions", "list", "--json", *where]
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        session_id = listed.split('"session_id": "')[1].split('"')[0] if '": "' in listed else listed.split('"')[3]
        command = [*MOOT, "sessions", "export", session_id, *where]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    assert " events" in copy(str(tmp_path / "one"), pg_url)
    assert ": 0 events" in copy(str(tmp_path / "one"), pg_url)
    copy(pg_url, str(tmp_path / "two"))
    exports = [
        export("--data", str(tmp_path / "one")),
        export("--store", pg_url),
        export("--data", str(tmp_path / "two")),
    ]
    assert exports[0] == exports[1] == exports[2] != ""
