"""`moot doctor` finds what is there and names a fix for what is not; it never shows a secret."""

import socket
import sys
from pathlib import Path

import pytest

from moot.agents.cli.discovery import find_login
from moot.agents.cli.presets import find_preset
from moot.cli.doctor import KEYS
from moot.cli.storage_checks import check_sqlite
from moot.core.errors import Unusable
from moot.runtime.stores.log_tables import open_for_writing
from tests.agents.programs import nothing_left
from tests.cli.command import Moot

CANARY = "sk-canary-0123456789"


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without CLIs, keys or logins; the folder of its programs."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in (*KEYS, "CLAUDE_CONFIG_DIR", "CODEX_HOME", "CODEX_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("HOME", str(tmp_path))
    return programs


def install(programs: Path, name: str, code: str) -> None:
    (programs / name).write_text(f"#!{sys.executable} -IS\n{code}\n")
    (programs / name).chmod(0o755)


def checks(moot: Moot, *arguments: str) -> dict[str, dict[str, str]]:
    said = moot("doctor", "--json", "--port", "0", *arguments)
    return {check["name"]: check for check in said.objects}


def test_a_bare_machine_is_no_failure(moot: Moot, bare: Path) -> None:
    """Everything that could be had is named with its fix; exit 0."""
    said = moot("doctor", "--port", "0")
    assert said.code == 0
    for line in ("✓ python: 3.", "ms for an fsync", "✓ port: 0 is free", "· claude: not installed", "· keys: none set"):
        assert line in said.out
    assert "→ npm install -g @openai/codex" in said.out
    assert not moot.data.exists()  # looking makes nothing


@pytest.mark.parametrize(
    ("version", "status"), [((3, 8, 0), "fail"), ((3, 40, 1), "note"), ((3, 51, 3), "ok"), ((4, 0, 0), "ok")]
)
def test_the_version_of_sqlite_is_told(version: tuple[int, int, int], status: str) -> None:
    """One that is too old fails; one whose write-ahead log has a known bug is named with what to avoid."""
    check = check_sqlite(version)
    assert (check.status, ".".join(map(str, version)) in check.says) == (status, True)
    assert bool(check.fix) == (status != "ok")


def test_an_sqlite_that_is_too_old_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log is not opened with it, and the sentence says what is needed."""
    monkeypatch.setattr("sqlite3.sqlite_version_info", (3, 8, 0))
    with pytest.raises(Unusable, match=r"too old; use a Python with SQLite 3\.22\.0 or newer"):
        open_for_writing(tmp_path / "moot.db")


def test_clis_are_found_with_version_and_login(moot: Moot, bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Name, version, and by what somebody is logged in: a variable's name, or the file of a login."""
    install(bare, "claude", "print('9.8.7 (Claude Code)')")
    install(bare, "codex", "print('codex-cli 0.166.0')")
    install(bare, "gemini", "import sys; sys.exit('broken')")
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    with nothing_left():
        found = checks(moot)
    assert found["claude"]["says"] == "9.8.7 (Moot was tested with 2.1.197), logged in (ANTHROPIC_API_KEY)"
    assert found["codex"]["says"] == "0.166.0, not logged in"
    assert found["codex"]["fix"] == "run `codex` once and log in, or set CODEX_API_KEY"
    assert found["gemini"] == {
        "name": "gemini",
        "status": "fail",
        "says": "it prints no version (exit 1)",
        "fix": "run `gemini --version` and see what it says",
    }
    assert moot("doctor", "--port", "0").code == 1


def test_a_cli_that_hangs_does_not_hang_the_doctor(moot: Moot, bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound on everything: the program is ended."""
    install(bare, "claude", "import time; time.sleep(60)")
    monkeypatch.setattr("moot.agents.cli.discovery.VERSION_S", 0.3)
    with nothing_left():
        assert "was silent for" in checks(moot)["claude"]["says"] or "took longer" in checks(moot)["claude"]["says"]


def test_no_secret_is_shown(moot: Moot, bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of keys, never keys; a CLI is not even given them to tell its version."""
    install(bare, "claude", "import os; print('1.2.3', dict(os.environ))")
    for name in KEYS:
        monkeypatch.setenv(name, CANARY)
    for arguments in ((), ("--json",)):
        said = moot("doctor", "--port", "0", *arguments)
        assert CANARY not in said.out + said.err
        assert all(name in said.out for name in KEYS)


def test_logins_are_seen_by_their_file(tmp_path: Path) -> None:
    """The file counts, wherever its folder was moved; it is not read."""
    assert find_login(find_preset("codex"), {"HOME": str(tmp_path)}) == ""
    (tmp_path / "auth.json").write_bytes(b"\xff not json")
    assert find_login(find_preset("codex"), {"HOME": "/nowhere", "CODEX_HOME": str(tmp_path)}) == "auth.json"
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "oauth_creds.json").touch()
    assert find_login(find_preset("gemini"), {"HOME": str(tmp_path)}) == "oauth_creds.json"


def test_a_port_that_is_taken_is_told(moot: Moot, bare: Path) -> None:
    """With the way around it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        found = {check["name"]: check for check in moot("doctor", "--json", "--port", str(port)).objects}
    assert found["port"]["says"] == f"{port} is taken"
    assert "--port 0" in found["port"]["fix"]


def test_storage_that_cannot_be_written_fails(moot: Moot, bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence with the fix, exit 1."""

    def refuse(*_: object) -> float:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("moot.cli.storage_checks.measure_fsync_ms", refuse)
    assert checks(moot)["storage"]["fix"] == "make it writable, or use --data DIR"
    assert moot("doctor", "--port", "0").code == 1


@pytest.mark.parametrize(("name", "variable"), [("codex", "OPENAI_API_KEY"), ("gemini", "GOOGLE_API_KEY")])
def test_a_key_that_the_cli_does_not_take_is_no_login(name: str, variable: str, tmp_path: Path) -> None:
    """Codex wants `codex login` and Gemini a setting before they use these variables."""
    preset = find_preset(name)
    assert find_login(preset, {"HOME": str(tmp_path), variable: "secret"}) == ""
    assert find_login(preset, {"HOME": str(tmp_path), preset.keys[0]: "secret"}) == preset.keys[0]
