"""`moot` itself: the greeting, help, version, exit codes, and what it does not load."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

import moot as package
from moot.cli.main import COMMANDS
from tests.cli.command import CHAT, MOOT, TEAMS, Moot


def test_alone_it_prints_eight_helpful_lines(moot: Moot) -> None:
    """Each line after the first is a command to type."""
    said = moot()
    assert said.code == 0
    assert len(said.lines) == 8
    assert all(line.strip().startswith("moot ") for line in said.lines[1:])


@pytest.mark.parametrize("locale", ["C.UTF-8", "zh_CN.UTF-8"])
def test_the_greeting_fits_a_small_terminal(moot: Moot, monkeypatch: pytest.MonkeyPatch, locale: str) -> None:
    """No line is wrapped at 80 columns, in either language."""
    monkeypatch.setenv("LC_ALL", locale)
    assert max(cell_len(line) for line in moot().lines) < 80


def test_version(moot: Moot) -> None:
    """`--version` is one line."""
    assert moot("--version")[:2] == (0, f"moot {package.__version__}\n")


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS), ["sessions", "replay"]])
def test_every_command_has_help(command: list[str], moot: Moot) -> None:
    """`--help` is data: it goes to stdout, with exit 0."""
    said = moot(*command, "--help")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"usage: {' '.join(['moot', *command])}")


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["run", CHAT, "--timeout", "soon"], ["sessions"], ["--json"], ["route", "x"]]
)
def test_wrong_usage_exits_with_2(arguments: list[str], moot: Moot) -> None:
    """What is wrong is said on stderr, stdout stays empty."""
    said = moot(*arguments)
    assert (said.code, said.out) == (2, "")
    assert re.fullmatch("moot: .+ [`]moot.* --help[`]\n", said.err)


def test_help_loads_nothing_heavy() -> None:
    """Greeting, help and version need neither the event loop nor msgspec, YAML or SQLite."""
    code = """if True:
        import sys
        before = set(sys.modules)
        from moot.cli.main import main
        for arguments in ([], ["--help"], ["--version"]):
            try:
                main(arguments)
            except SystemExit as end:
                assert end.code == 0
        print(*sorted(set(sys.modules) - before), file=sys.stderr)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert "moot" in loaded
    heavy = {"asyncio", "msgspec", "yaml", "sqlite3", "ssl", "inspect", "logging", "concurrent", "subprocess"}
    assert loaded & heavy == set()


def test_where_sessions_are_kept(moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--data DIR`, else MOOT_DATA, else the user's data folder; it is made when needed, for its owner only."""
    moot("run", CHAT, "--say", "alice: a", "--data", str(tmp_path / "deep" / "er"))
    assert (tmp_path / "deep" / "er" / "moot.db").exists()
    assert not moot.data.exists()
    moot("run", CHAT, "--say", "alice: b")
    assert (moot.data / "moot.db").stat().st_mode & 0o077 == 0
    monkeypatch.delenv("MOOT_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    moot("run", CHAT, "--say", "alice: c")
    assert (tmp_path / "xdg" / "moot" / "moot.db").exists()


@pytest.mark.parametrize("name", ["==SUPPRESS==", "--json", "a\nb", " "])
def test_a_slip_makes_no_folder(moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A name that nobody gives a folder is refused, as an option and as a variable; nothing is written."""
    assert moot("token", f"--data={name}").code == 2
    monkeypatch.setenv("MOOT_DATA", name)
    assert moot("token").code == 2
    assert list(tmp_path.iterdir()) == []


def test_what_is_refused_is_refused_in_words(moot: Moot) -> None:
    """A refusal is a sentence, not a code with brackets."""
    said = moot("run", str(TEAMS / "good" / "supervisor.yaml"), "--say", "/retry")
    assert said.code == 1
    assert "There is no failed turn to retry" in said.err


def test_data_that_is_no_log_is_left_alone(moot: Moot) -> None:
    """A file of somebody else's is reported in one sentence and not written to."""
    moot.data.mkdir()
    (moot.data / "moot.db").write_text("my diary, not a database\n" * 100)
    before = (moot.data / "moot.db").read_bytes()
    serving = ["serve", CHAT, "--port", "0"]
    for arguments in (["run", CHAT, "--say", "alice: hi"], serving, ["sessions", "list"], ["sessions", "verify"]):
        said = moot(*arguments)
        assert said.code == 1
        assert len(said.err.splitlines()) == 1
        assert "not a log of Moot" in said.err
    assert (moot.data / "moot.db").read_bytes() == before


def test_ctrl_c_exits_with_130(tmp_path: Path) -> None:
    """The work stays outstanding, nothing is printed about it."""
    command = [*MOOT, "run", CHAT, "--say", "alice: [NEXT: sleepy] hello", "--data", str(tmp_path), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stderr
        while '"event":"turn.started"' not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert "Traceback" not in process.stderr.read()


def test_python_runs_the_package_as_the_command() -> None:
    """`python -m moot` is `moot`."""
    said = subprocess.run([sys.executable, "-m", "moot", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("moot ")
