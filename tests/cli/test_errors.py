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
from moot.runtime.file_lock import FileLock
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
    "--json": "there is no option '--json'",
    "--hlep": "there is no option '--hlep'; did you mean '--help'? See `moot --help`",
    "-x": "there is no option '-x'",
    "hlep": "there is no command 'hlep'; did you mean 'help'?",
    "verison": "there is no command 'verison'; did you mean 'version'?",
    "sessions": "sessions needs one of list, search, show, export,",
    "sessions lst": "sessions has no action 'lst'; did you mean 'list'?",
    "token make": "token has no action 'make'; actions: create, list, logins, revoke",
    "route": "route needs one of chat, supervisor, intent",
    "route x": "route has no kind 'x'; kinds: chat, supervisor, intent",
    "completions tcsh": "completions has no shell 'tcsh'; shells: bash, zsh, fish",
    "run": "name a team file: there is no moot.yaml in this folder; here are broken.yaml",
    "validate": "name a team file: there is no moot.yaml in this folder",
    "run chat-demo hello": "run has no argument 'hello'; did you mean --say hello? See `moot run --help`",
    "run chat-demo hello there": "did you mean --say 'hello there'? See `moot run --help`",
    "run chat-demo --say hi --timeout 0": "--timeout: '0' leaves no time; use more than 0",
    "run chat-demo": "nothing to say: add --say TEXT",
    "serve --host 0.0.0.0": "would offer this server to the network without TLS",
    "run chat-demo --tiemout 3": "run has no option '--tiemout'; did you mean '--timeout'? See `moot run --help`",
    "run chat-demo --timeout soon": "--timeout: 'soon' must be a number, 0 or more",
    "run chat-demo --timeout -1": "--timeout: '-1' must be a number, 0 or more",
    "run chat-demo --say hi --connect nonsense": "--connect: the server's URL must look like http://",
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
    "init x --agents nobody": "--agents 'nobody' is nothing that plays an AI; there are: ",
    "sessions rm s_1111 --forever": "--forever deletes for good; add --yes",
    "run chat-demo --say hi --data notes.txt": "notes.txt is a file; name the folder of the sessions with --data DIR",
    "sessions list --data notes.txt": "notes.txt is a file; name the folder of the sessions with --data DIR",
    "doctor --data notes.txt": "notes.txt is a file; name the folder of the sessions with --data DIR",
    "trust list a b": "one path at a time, not 2",
    "--versoin": "there is no option '--versoin'; did you mean '--version'?",
    "--data x sessions list": "there is no option '--data'; options of a command stand behind its name",
    "-": "there is no option '-'; options of a command",
    "session list": "there is no command 'session'; did you mean 'sessions'?",
    "run chat-demo --say": "--say needs a value",
    "run chat-demo --say hi --answer": "--answer needs a value",
    "run chat-demo --say hi --connect": "--connect needs a value",
    "run chat-demo --sayy hi": "run has no option '--sayy'; did you mean '--say'?",
    "run chat-demo --say hi --as ann": "name who speaks in the text: --say 'ann: hello'",
    "run chat-demo broken.yaml --say hi": "run has no argument 'broken.yaml'; leave it out",
    "run chat-demo --say hi --fail-on everything": "--fail-on is agent, not 'everything'",
    "run chat-demo --say hi --on-question maybe": "--on-question is one of reject, fail, wait, not 'maybe'",
    "run chat-demo --say hi --attach none.png": "--attach none.png: it cannot be read (No such file or directory)",
    "run chat-demo --say hi --attach folder": "--attach folder: it cannot be read (Is a directory)",
    "run chat-demo --attach notes.txt": "--attach goes with a text: add --say TEXT",
    "run chat-demo --say hi --input x": "--input 'x' is not KEY=VALUE",
    "run chat-demo --say hi --connect localhost:8765": "must look like http://",
    "run chat-demo --say hi --connect ftp://x": "must look like http://",
    "chat chat-demo --as zoe": "--as 'zoe': this team has no such human; humans: you",
    "chat chat-demo --as ada": "--as 'ada': this team has no such human",
    "chat --lang zh": "chat has no option '--lang'; type /lang zh or /lang en in the session",
    "chat --theme dark": "chat has no option '--theme'; options: -h, --help, --session,",
    "chat --continue --session s_1": "leave out --session and --connect",
    "demo --web --plain": "--plain does not go with --web",
    "demo --language fr": "--language is one of zh, en, not 'fr'",
    "init notes.txt": "notes.txt is a file; name the folder of the new moot.yaml: moot init DIR",
    "init --template x": "--template is one of pair, plan, supervisor, studio, not 'x'",
    "init --members": "--members needs a value",
    "init --language fr": "--language is one of zh, en, not 'fr'",
    "serve --port -1": "--port: '-1' is no port",
    "stop now": "stop has no argument 'now'; leave it out",
    "stop --port 1": "stop has no option '--port'; options: -h,",
    "sessions delete s_11": "sessions has no action 'delete'; did you mean 'rm'?",
    "sessions ls": "sessions has no action 'ls'; did you mean 'list'?",
    "sessions list --limit 0": "--limit: '0' must be a whole number, 1 or more",
    "sessions list --status odd": "--status is one of paused, active, completed, not 'odd'",
    "sessions list --since today": "sessions list has no option '--since'; options:",
    "sessions export s_1111 --html --format md": "--format does not go with --html",
    "sessions replay s_1111 --speed fast": "--speed: 'fast' must be a number, 0 or more",
    "sessions take s_1111": "sessions take needs one of --apply, --merge, --keep, --discard",
    "sessions rename s_1111": "sessions rename needs TITLE",
    "sessions rm s_1111 s_1122": "sessions rm has no argument 's_1122'; leave it out",
    "sessions search": "sessions search needs WORD",
    "token create --role admin": "--role is one of owner, member, viewer, worker, not 'admin'",
    "token create --role viewer --member ann": "speaks as nobody; leave out --member or use --role member",
    "token create --role viewer --expires soon": "--expires: 'soon' must be a number, 0 or more",
    "token create --role viewer --session s_zz": "--session 's_zz' is no id of a session",
    "token revoke": "token revoke needs ID",
    "doctor --fix": "doctor has no option '--fix'; options:",
    "serve chat-demo --node one": "--node names a server among others",
    f"serve --node {'x' * 65}": "must be one line of text, 64 characters at most",
    "db migrate --to 0": "--to: '0' must be a whole number, 1 or more",
    "db status": "is no database that machines share; name one: --store postgresql://",
    "mcp-member": "mcp-member needs FILE",
}
OTHERS = {
    "run missing.yaml --say hi": (3, "no team file 'missing.yaml'; built-in teams: chat-demo,"),
    "run broken.yaml --say hi": (3, "broken.yaml:2: flwo: unknown key 'flwo'; did you mean 'flow'?"),
    "run chat-dem --say hi": (3, "no team file 'chat-dem'; did you mean 'chat-demo'?"),
    "run broken.yml --say hi": (3, "no team file 'broken.yml'; did you mean 'broken.yaml'?"),
    "run broken --say hi": (3, "no team file 'broken'; did you mean 'broken.yaml'?"),
    "stop": (4, "no server holds"),
    f"sessions restore {ID}": (4, f"{ID} is not in the trash"),
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
    "run chat-demo --say hi --data /proc/moot": (
        1,
        "/proc/moot cannot be made (No such file or directory); make it yourself or",
    ),
    f"sessions export {ID} --out no/where": (1, "no/where cannot be written (No such file or directory)"),
    "sessions import missing.jsonl": (1, "missing.jsonl cannot be used (No such file or directory)"),
    "sessions import folder": (1, "folder cannot be used (Is a directory)"),
    "validate broken.yml": (3, "no team file 'broken.yml'; did you mean 'broken.yaml'?"),
    "run notes.txt --say hi": (3, "a team is a mapping; start with moot: 1, name:"),
    "run chat-demo --say hi --store nonsense://x": (3, "no store for nonsense:; there are memory:, sqlite:,"),
    "run chat-demo --session s_11 --say hi": (4, "'s_11' fits 2 sessions"),
    "sessions restore s_9": (4, "no session 's_9' in the trash; `moot sessions list --removed` shows what is"),
    "sessions show ../notes.txt": (4, "no session '../notes.txt'"),
    f"sessions fork {ID} --at 0": (4, f"session {ID} has events 1 to "),
    f"sessions export {ID} --out folder": (1, "folder cannot be written (Is a directory); name a file in a folder"),
    "init /proc/moot": (1, "/proc/moot cannot be used (No such file or directory)"),
    f"sessions diff {ID}": (1, "No member has worked in the files of this session yet"),
    "sessions import notes.txt": (3, "this is not an export of Moot; `moot sessions export ID` writes one"),
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
    session_id = moot("sessions", "list", "--json", "--limit", "1").objects[0]["session_id"]
    assert said.err.endswith(f"moot: --timeout 0.1 is over; `--session {session_id}` goes on\n")


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
