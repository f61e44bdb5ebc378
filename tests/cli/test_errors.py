"""Every command says what went wrong in one sentence, as if one person had written them, with a stable exit code."""

import argparse
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.cli.main import COMMANDS, make_parser
from moot.cli.parser import list_actions, list_subparsers
from moot.runtime.stores.lock import FileLock
from tests.cli.command import CHAT, MOOT, Moot

ID, OTHER = "s_1111111111111111", "s_1122222222222222"
CLOSED = "http://127.0.0.1:1"  # a port where nobody listens


@pytest.fixture(autouse=True)
def _place(moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a folder, a text file and a team file that is none; a log with two sessions alike."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MOOT_TOKEN", raising=False)
    Path("folder").mkdir()
    Path("notes.txt").write_text("dear diary\n", encoding="utf-8")
    Path("broken.yaml").write_text("moot: 1\nflwo: chat\n", encoding="utf-8")
    for session_id, text in ((ID, "one"), (OTHER, "two")):
        with monkeypatch.context() as patched:
            hexadecimal = session_id.removeprefix("s_")
            patched.setattr("moot.runtime.sessions.secrets.token_hex", lambda _, digits=hexadecimal: digits)
            moot.talk(f"alice: {text}")


# what is typed → exit code, what the sentence has
USAGE = {
    "nonsense": "there is no command 'nonsense'; commands: demo, init,",
    "sesions list": "there is no command 'sesions'; did you mean 'sessions'? See `moot --help`",
    "--json": "name one of demo, init,",
    "sessions": "sessions needs one of list, show, export,",
    "sessions lst": "sessions has no action 'lst'; did you mean 'list'?",
    "token make": "token has no action 'make'; actions: create, list, revoke",
    "route": "route needs one of chat, supervisor, intent",
    "route x": "route has no kind 'x'; kinds: chat, supervisor, intent",
    "completions tcsh": "completions has no shell 'tcsh'; shells: bash, zsh, fish",
    "run": "run needs FILE; see `moot run --help`",
    "run chat-demo --tiemout 3": "run has no option '--tiemout'; did you mean '--timeout'? See `moot run --help`",
    "run chat-demo --timeout soon": "--timeout: 'soon' is no number of 0 or more",
    "run chat-demo --timeout -1": "--timeout: '-1' is no number of 0 or more",
    "run chat-demo --connect nonsense": "--connect: the server's URL must look like http://",
    f"sessions list --connect {CLOSED}": "`moot serve` printed it, or put one of `moot token create` into MOOT_TOKEN",
    "sessions show": "sessions show needs ID; see `moot sessions show --help`",
    "sessions replay s_11 --at x": "--at: 'x' is no seq; use the number of an event",
    "sessions export s_11 --format pdf": "--format is one of jsonl, md, html, not 'pdf'",
    "schema extra": "schema has no argument 'extra'; leave it out",
    "serve --port x": "--port: 'x' is no port; use a number from 0 to 65535",
    "doctor --port 65536": "--port: '65536' is no port; use a number from 0 to 65535",
    "token create": "token create needs --role",
    "token create --role member": "--role member needs --member ID",
    "demo --flow x": "--flow is one of chat, supervisor, plan, not 'x'",
    "init x --agents nobody": "--agents 'nobody' was not found here; what there is: script",
    "run chat-demo --data notes.txt": "notes.txt is a file; name the folder of the sessions with --data DIR",
    "sessions list --data notes.txt": "notes.txt is a file; name the folder of the sessions with --data DIR",
    "doctor --data notes.txt": "notes.txt is a file; name the folder of the sessions with --data DIR",
    "trust list a b": "one path at a time, not 2",
}
OTHERS = {
    "run missing.yaml": (3, "no team file 'missing.yaml'; built-in teams: chat-demo,"),
    "run broken.yaml": (3, "broken.yaml:2: flwo: unknown key 'flwo'; did you mean 'flow'?"),
    "validate folder": (3, "'folder' is a folder; name a team file in it, such as 'folder/moot.yaml'"),
    "validate missing.yaml": (3, "no team file 'missing.yaml'"),
    "serve missing.yaml": (3, "no team file 'missing.yaml'"),
    "chat missing.yaml": (3, "no team file 'missing.yaml'"),
    "trust": (3, "no team file in '.'; `moot init` writes one, `moot trust list` shows what is trusted"),
    "sessions show s_9": (4, "no session 's_9'; `moot sessions list` shows those there are"),
    "sessions show s_11": (4, "'s_11' fits 2 sessions"),
    "sessions rm s_11": (4, f"({OTHER}, {ID}"),
    "sessions verify s_9": (4, "no session 's_9'"),
    "sessions show s_9 --data folder": (4, "there are no sessions in folder yet; `moot chat` starts one"),
    "run chat-demo --session s_9": (4, "no session 's_9'; `moot sessions list` shows those there are"),
    f"sessions replay {ID} --at 999": (4, f"session {ID} has events 1 to "),
    "token revoke nobody": (4, "no token 'nobody'; `moot token list` shows those there are"),
    "trust remove folder": (4, "folder is not trusted; `moot trust list` shows what is"),
    "run chat-demo --data /proc/moot": (
        1,
        "/proc/moot cannot be made (No such file or directory); make it yourself or",
    ),
    f"sessions export {ID} --out no/where": (1, "no/where cannot be written (No such file or directory)"),
    "sessions import missing.jsonl": (1, "missing.jsonl cannot be used (No such file or directory)"),
    "sessions import folder": (1, "folder cannot be used (Is a directory)"),
    "sessions import notes.txt": (6, "line 1 is no frame"),
    f"sessions list --connect {CLOSED}#token=x": (1, "(Connection refused); is `moot serve` running there?"),
}


@pytest.mark.parametrize(
    ("typed", "code", "words"),
    [(typed, 2, words) for typed, words in USAGE.items()] + [(typed, *told) for typed, told in OTHERS.items()],
)
def test_what_is_wrong_is_one_sentence(moot: Moot, typed: str, code: int, words: str) -> None:
    """On stderr, after `moot: `, without a traceback or an errno; stdout stays empty."""
    said = moot(*typed.split())
    assert (said.code, said.out) == (code, ""), said.err
    assert words in said.err
    if code != 3 or "broken" not in typed:  # a team file has a line for each problem
        assert re.fullmatch(r"moot: [^\n]+\n", said.err), said.err
    assert "Errno" not in said.err


@pytest.mark.parametrize(
    "typed", ["run chat-demo --say hi", "sessions rm s_1111", "sessions fork s_1111", "serve --port 0"]
)
def test_a_log_that_is_held_is_busy(moot: Moot, typed: str) -> None:
    """Exit 5, who holds it, and the ways around it; reading needs no lock."""
    lock = FileLock(moot.data / "moot.db")
    said = moot(*typed.split())
    listed = moot("sessions", "list")
    lock.release()
    assert (said.code, said.out) == (5, "")
    assert f"is held by process {os.getpid()}; stop it or use --data DIR" in said.err
    assert (listed.code, len(listed.lines)) == (0, 2)


def test_a_run_that_takes_too_long_says_how_to_go_on(moot: Moot) -> None:
    """Exit 7."""
    said = moot("run", CHAT, "--say", "alice: [NEXT: sleepy] hi", "--timeout", "0.1")
    assert said.code == 7
    assert said.err.endswith("moot: --timeout 0.1 is over; `--session ID` goes on\n")


@pytest.mark.parametrize("command", [["sessions", "export", ID], ["sessions", "list"], ["machines"], ["--help"]])
def test_a_reader_that_has_gone_is_no_failure(moot: Moot, command: list[str]) -> None:
    """`| head -1`: whoever wrote it may leave; nothing is said about it."""
    reading, writing = os.pipe()
    os.close(reading)
    with subprocess.Popen([*MOOT, *command], stdout=writing, stderr=subprocess.PIPE) as process:
        os.close(writing)
        assert process.communicate(timeout=60)[1] == b""
    assert process.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(("command", "unbuffered"), [("machines", ""), ("sessions list", ""), ("", ""), ("", "1")])
def test_output_that_finds_no_room_is_told(moot: Moot, command: str, unbuffered: str) -> None:
    """Exit 1 and a sentence, whether Python has buffered it or not."""
    around = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        asked = [*MOOT, *command.split()]
        done = subprocess.run(asked, stdout=full, stderr=subprocess.PIPE, text=True, env=around, check=False)
    assert (done.returncode, done.stderr) == (1, "moot: the output cannot be written (No space left on device)\n")


@pytest.mark.parametrize("streams", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_failure(moot: Moot, streams: str) -> None:
    """Who starts it without a stream does not want what would go there."""
    command = f"{shlex.join(MOOT)} sessions list {streams}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_says_nothing(moot: Moot) -> None:
    """Exit 130, here while a file is being read."""
    with subprocess.Popen(
        [*MOOT, "route", "chat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"{}\n")
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60) == (b"", b"")
    assert process.returncode == 130


def parsers() -> Iterator[argparse.ArgumentParser]:
    """Of every command and action."""
    for command in COMMANDS:
        waiting: list[argparse.ArgumentParser] = [make_parser(command)]
        while waiting:
            parser = waiting.pop()
            yield parser
            inner = list_subparsers(parser)
            waiting += [inner[command]] if parser.prog == "moot" else inner.values()


def test_help_is_written_by_one_hand() -> None:
    """Every command, option and argument is explained, in lower case and without a full stop."""
    for parser in parsers():
        assert parser.description
        for action in list_actions(parser):
            if isinstance(action, argparse._SubParsersAction):
                told = [each.help or "" for each in action._choices_actions]
            else:
                told = [action.help or ""]
            for text in told:
                assert text, (parser.prog, action.dest)
                assert not text.endswith("."), (parser.prog, text)
        if parser.prog != "moot":
            assert parser.description[0].islower(), parser.prog
            assert not parser.description.endswith("."), parser.prog


NASTY = "\x1b]0;owned\x07\x1b[2J\n$ rm -rf.yaml"


@pytest.mark.parametrize("command", ["validate", "run", "serve", "trust", "trust list"])
@pytest.mark.parametrize("content", ["good", "broken"])
def test_the_name_of_a_file_cannot_write_to_the_terminal(command: str, content: str, moot: Moot) -> None:
    """Escape sequences and line ends in a file's name are shown as text."""
    agent = "{type: cli, command: [./x]}" if content == "good" else "nonsense"
    Path(NASTY).write_text(
        f"moot: 1\nname: t\nmembers: [{{id: ann, kind: human}}, {{id: b, kind: ai, agent: {agent}}}]\n"
    )
    if command == "trust list":
        Path(NASTY).unlink()
        Path(NASTY).mkdir()
        (Path(NASTY) / "team.yaml").write_text(
            "moot: 1\nname: t\nmembers: [{id: a, kind: human}, {id: b, kind: ai, agent: {type: cli, command: [./x]}}]\n"
        )
        moot("trust", NASTY, "--yes")
    extra = ["--say", "hi"] if command == "run" else ["--port", "0"] if command == "serve" else []
    ended = moot(*command.split(), *([] if command == "trust list" else [NASTY]), *extra)
    shown = ended.out + ended.err
    assert "\\x1b]0;owned" in shown
    assert "\x1b" not in shown
    assert "\n$ rm" not in shown
