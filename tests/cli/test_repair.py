"""`moot doctor` finds damage; `--repair` exports what is intact and removes nothing."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from moot.agents.cli.discovery import FoundCli
from moot.cli import doctor
from moot.config.own_folders import find_trees_folder
from moot.runtime.file_lock import FileLock
from tests.cli.command import CHAT, Moot, Said, check_chain, names
from tests.cli.test_sessions import flip_a_byte

ABOUT_SESSIONS = ("sessions", "write-ahead log", "repair")


@pytest.fixture(autouse=True)
def _no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    async def find() -> list[FoundCli]:
        return []

    monkeypatch.setattr(doctor, "find_clis", find)


def ask(moot: Moot, *arguments: str) -> tuple[Said, list[dict[str, Any]]]:
    """What the doctor says of the sessions, and whether they can be repaired."""
    said = moot("doctor", "--json", "--port", "0", *arguments)
    return said, [check for check in said.objects if check["name"] in ABOUT_SESSIONS]


def test_a_sound_log_is_told(moot: Moot) -> None:
    """The number of sessions and events; nothing to repair; no folder is made."""
    assert ask(moot)[1] == [{"name": "sessions", "status": "ok", "says": "none yet", "fix": ""}]
    _, frames = moot.talk("alice: hello")
    said, (sessions,) = ask(moot)
    assert (said.code, sessions["status"]) == (0, "ok")
    assert sessions["says"] == f"1 with {len(frames)} events, every hash is right"
    said, (_, repair) = ask(moot, "--repair")
    assert (said.code, repair["says"]) == (0, "there is nothing to repair")
    assert not list(moot.data.glob("repaired-*"))


def test_a_flipped_byte_is_found_and_the_good_prefix_exported(moot: Moot) -> None:
    """Exit 6 and the place; --repair exports what is before it, for import or fork; the log stays as it was."""
    damaged, frames = moot.talk("alice: [NEXT: Bob] hello")
    sound, _ = moot.talk("alice: hello")
    flip_a_byte(moot.data, damaged, 5)
    before = (moot.data / "moot.db").read_bytes()
    said, (sessions,) = ask(moot)
    assert (said.code, sessions["status"]) == (6, "fail")
    assert sessions["says"] == f"1 of 2 damaged: {damaged} from seq 5 on; the others are not concerned"
    said, (_, repair) = ask(moot, "--repair")
    assert said.code == 6
    (file,) = moot.data.glob("repaired-*/*")
    assert repair["says"] == f"{damaged}: intact up to seq 4, exported to {file}"
    assert (file.stat().st_mode | file.parent.stat().st_mode) & 0o077 == 0
    lines = file.read_text(encoding="utf-8").splitlines()
    assert names([json.loads(line) for line in lines]) == names(frames[:4])
    check_chain(lines)
    assert (moot.data / "moot.db").read_bytes() == before
    assert moot("sessions", "import", str(file)).code == 0
    forked = moot("sessions", "fork", damaged, "--at", "4")
    assert (forked.code, moot("sessions", "verify", forked.out.strip()).code) == (0, 0)
    assert moot("run", CHAT, "--session", sound, "--say", "alice: still here").code == 0
    assert moot("sessions", "rm", damaged).code == 0
    assert ask(moot)[0].code == 0
    ask(moot, "--repair")
    assert len(list(moot.data.glob("repaired-*/*"))) == 1  # what was exported stays, nothing is added


def test_nothing_is_left_of_a_session_that_is_damaged_from_the_start(moot: Moot) -> None:
    """It is said, with what can be done; the log is not touched."""
    damaged, _ = moot.talk("alice: hello")
    flip_a_byte(moot.data, damaged, 1)
    before = (moot.data / "moot.db").read_bytes()
    said, (_, repair) = ask(moot, "--repair")
    assert (said.code, repair["status"]) == (6, "fail")
    assert repair["says"] == f"{damaged}: nothing of it is intact"
    assert (moot.data / "moot.db").read_bytes() == before


def test_a_file_that_cannot_be_listed_is_exported_whole(moot: Moot) -> None:
    """A page of the table of sessions is gone: every session is found by its events and can be imported elsewhere."""
    ids = sorted(moot.talk("alice: hello")[0] for _ in range(3))
    (find_trees_folder() / ids[0]).mkdir(parents=True)  # whose session is not in the list is not known
    path = moot.data / "moot.db"
    connection = sqlite3.connect(path)
    (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'sessions'").fetchone()
    connection.close()
    whole = path.read_bytes()
    path.write_bytes(whole[: (root - 1) * 4_096] + b"\xff" * 4_096 + whole[root * 4_096 :])
    said, (sessions,) = ask(moot)
    assert (said.code, sessions["status"]) == (6, "fail")
    assert sessions["fix"] == "`moot doctor --repair` exports what is intact"
    assert len(ask(moot, "--repair")[1]) == 4
    files = sorted(moot.data.glob("repaired-*/*"))
    assert [file.stem for file in files] == ids
    assert moot("sessions", "import", str(files[0]), "--data", str(moot.data / "new")).code == 0


def test_a_journal_that_was_cut_is_told_until_it_is_moved_away(moot: Moot, tmp_path: Path) -> None:
    """Before the next start as a failure, afterwards as a note with the file that was kept."""
    moot.talk("alice: hello")
    (moot.data / "moot.db-wal").write_bytes(b"not what SQLite wrote" * 10)
    said, (journal, sessions) = ask(moot)
    assert (said.code, journal["name"], journal["status"]) == (6, "write-ahead log", "fail")
    assert sessions["status"] == "ok"
    moot.talk("alice: hello again")
    said, (journal, _) = ask(moot)
    assert (said.code, journal["status"]) == (0, "note")
    (kept,) = moot.data.glob("moot.db-wal.damaged-*")
    assert str(kept) in journal["says"]
    kept.rename(tmp_path / "kept")
    assert len(ask(moot)[1]) == 1


@pytest.mark.parametrize("what", ["text", "newer"])
def test_a_log_that_cannot_be_used_is_told_with_the_way_out(moot: Moot, what: str) -> None:
    """What is in the log's place is named, and not touched, not even by --repair."""
    moot.talk("alice: hello")
    path = moot.data / "moot.db"
    if what == "text":
        path.write_text("my diary\n" * 100)
    else:
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version = 99")
        connection.close()
    before = path.read_bytes()
    for arguments in ((), ("--repair",)):
        said, told = ask(moot, *arguments)
        assert (said.code, told) == (1, [])
        (log,) = [check for check in said.objects if check["status"] == "fail"]
        assert (log["name"], str(path) in log["says"]) == ("log", True)
        assert log["fix"].endswith("or use --data DIR")
    assert path.read_bytes() == before
    assert not list(moot.data.glob("repaired-*"))


def test_a_log_that_is_being_written_is_left_to_its_writer(moot: Moot) -> None:
    """Beside a server the doctor reads the sessions; the journal is the server's, who looked at it when it started."""
    moot.talk("alice: hello")
    lock = FileLock(moot.data / "moot.db")
    (moot.data / "moot.db-wal").write_bytes(b"half a frame")
    said, (sessions,) = ask(moot)
    lock.release()
    assert (said.code, sessions["status"]) == (0, "ok")
