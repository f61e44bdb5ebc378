"""Files on the command line: `moot run --attach`, exports that pack them, imports that check them, forks."""

import json
import zipfile
from pathlib import Path

import pytest

from tests.cli.command import CHAT, Moot
from tests.files import BYTES, PNG, sha256


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    path = tmp_path / "my shot.png"
    path.write_bytes(PNG)
    return path


def attached(moot: Moot, shot: Path) -> str:
    ran = moot("run", CHAT, "--say", "alice: look at this", "and this", "--attach", str(shot))
    assert ran.code == 0, ran.err
    assert "📎 my shot.png (image/png, 70 B)" in ran.out
    assert ran.out.count("📎") == 1
    return ran.err.split("session ")[1].split()[0]


def stored(data: Path) -> list[Path]:
    return [path for path in (data / "files").rglob("*") if path.is_file()]


def test_a_file_goes_with_the_first_text(moot: Moot, shot: Path) -> None:
    """It is shown with the message, kept beside the log, and removed with the session."""
    session_id = attached(moot, shot)
    assert [path.name for path in stored(moot.data)] == [sha256(PNG)]
    assert moot("sessions", "rm", session_id).code == 0
    assert len(stored(moot.data)) == 1
    assert moot("sessions", "rm", session_id, "--forever", "--yes").code == 0
    assert stored(moot.data) == []


def test_what_cannot_be_attached_is_said_before_anything(moot: Moot, tmp_path: Path) -> None:
    """A file that is missing, too large or of no type, and one without a text: exit 2, and no session is left."""
    odd, large = tmp_path / "odd.bin", tmp_path / "large.txt"
    odd.write_bytes(BYTES)
    large.write_bytes(b"x" * (10 * 1_048_576 + 1))
    for file, reason in ((tmp_path / "none.png", "cannot be read"), (large, "more than"), (odd, "image/png")):
        ran = moot("run", CHAT, "--say", "hi", "--attach", str(file))
        assert ran.code == 2
        assert reason in ran.err
    assert moot("run", CHAT, "--session", "s", "--attach", str(odd)).code == 2
    assert moot("sessions", "list").out == ""


def test_an_archive_carries_the_files(moot: Moot, shot: Path, tmp_path: Path) -> None:
    """The plain export names them by hash; the archive has them, and an import gives them to the copy."""
    session_id, archive = attached(moot, shot), tmp_path / "session.zip"
    assert sha256(PNG) in moot("sessions", "export", session_id).out
    assert moot("sessions", "export", session_id, "--with-files").code == 2
    assert moot("sessions", "export", session_id, "--with-files", "--out", str(archive)).code == 0
    with zipfile.ZipFile(archive) as packed:
        assert packed.namelist() == ["session.jsonl", f"files/{sha256(PNG)}"]
    imported = moot("sessions", "import", str(archive))
    assert imported.code == 0, imported.err
    assert moot("sessions", "rm", session_id, "--forever", "--yes").code == 0
    assert [path.parent.name for path in stored(moot.data)] == [imported.out.strip()]


def test_a_fork_has_the_files_too(moot: Moot, shot: Path) -> None:
    """They stay when the source goes."""
    session_id = attached(moot, shot)
    forked = moot("sessions", "fork", session_id).out.strip()
    assert moot("sessions", "rm", session_id, "--forever", "--yes").code == 0
    assert [(path.parent.name, path.read_bytes()) for path in stored(moot.data)] == [(forked, PNG)]


def test_a_stranger_s_archive_brings_only_what_its_log_names(moot: Moot, shot: Path, tmp_path: Path) -> None:
    """Other members, wrong content and names that lead elsewhere are left out; what is no archive is refused."""
    session_id, archive, evil = attached(moot, shot), tmp_path / "session.zip", tmp_path / "evil.zip"
    assert moot("sessions", "export", session_id, "--with-files", "--out", str(archive)).code == 0
    with zipfile.ZipFile(archive) as packed, zipfile.ZipFile(evil, "w") as made:
        made.writestr("session.jsonl", packed.read("session.jsonl"))
        made.writestr(f"files/{sha256(PNG)}", PNG + b"changed")
        made.writestr(f"files/{sha256(b'more')}", b"more")
        made.writestr("files/../../owner.token", b"mine")
    imported = moot("sessions", "import", str(evil)).out.strip()
    assert imported not in {path.parent.name for path in stored(moot.data)}
    assert "mine" not in {path.read_text(errors="replace") for path in moot.data.rglob("owner.token")}
    evil.write_bytes(b"PK\x03\x04 and nothing else")
    assert moot("sessions", "import", str(evil)).code != 0


def test_a_run_in_json_tells_the_files(moot: Moot, shot: Path) -> None:
    """The frame of the message has them as data."""
    ran = moot("run", CHAT, "--json", "--say", "alice: look", "--attach", str(shot))
    frames = [json.loads(line) for line in ran.out.splitlines()]
    (message,) = [
        frame for frame in frames if frame["event"] == "message.posted" and "attachments" in frame["metadata"]
    ]
    assert message["metadata"]["attachments"][0]["sha256"] == sha256(PNG)


def test_a_line_attaches_a_file(moot: Moot, shot: Path) -> None:
    """`/attach FILE text` in line mode; a file that is not there is said, and fails the command."""
    said = moot("chat", CHAT, "--as", "alice", stdin=f"/attach '{shot}' look\n/attach none.png x\n".encode())
    assert "📎 my shot.png (image/png, 70 B)" in said.out
    assert "none.png cannot be read" in said.err
    assert said.code == 1
