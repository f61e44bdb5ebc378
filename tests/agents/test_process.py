"""Programs that play members: each way to misbehave ends the turn in a sentence, and no process is left."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.agents.environment import hide_secrets, pick_environment
from moot.agents.process import Bounds, Program, start
from moot.core.errors import AgentError
from tests.agents.programs import nothing_left, play, python_program, run

DAEMON = """
import os, time
if os.fork() == 0:
    {session}
    while True: time.sleep(60)
print("done", flush=True)
"""


@pytest.fixture(autouse=True)
def no_orphans() -> Iterator[None]:
    with nothing_left():
        yield


def fail(program: Program, bounds: Bounds | None = None) -> AgentError:
    with pytest.raises(AgentError) as caught:
        run(program, bounds)
    return caught.value


def test_a_program_reads_its_prompt_and_ends() -> None:
    """Text goes in by stdin, never by the command line; what it writes comes back with how it ended."""
    written, ended = run(python_program("import sys; print(sys.stdin.read().upper())", stdin="héllo".encode()))
    assert written.decode() == "HÉLLO\n"
    assert (ended.code, ended.stderr) == (0, "")


def test_without_a_prompt_there_is_nothing_to_read() -> None:
    """A program that asks at a terminal finds the end of its input at once."""
    written, _ = run(python_program("import sys; print(repr(sys.stdin.read()), sys.stdin.isatty())"))
    assert written == b"'' False\n"


def test_a_prompt_that_is_not_read_harms_nobody() -> None:
    """A program may end before it has read a long prompt."""
    written, ended = run(python_program("print('ok')", stdin=b"x" * 1_000_000))
    assert (written, ended.code) == (b"ok\n", 0)


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("no-such-program-here",), "add its folder to PATH"),
        (("./missing.sh",), "correct `command`"),
        (("./plain.txt",), "chmod +x"),
        (("./garbage",), "is it a program?"),
    ],
)
def test_what_cannot_be_started_is_told_at_once(argv: tuple[str, ...], says: str, tmp_path: Path) -> None:
    """A missing or unusable program fails in less than a second, with a hint, and is not retried."""
    (tmp_path / "plain.txt").write_text("no program")
    (tmp_path / "garbage").write_bytes(b"\x7fNOT AN ELF")
    (tmp_path / "garbage").chmod(0o755)
    began = time.monotonic()
    error = fail(Program(argv=argv, environment=pick_environment(()), folder=tmp_path))
    assert time.monotonic() - began < 1
    assert error.error_type == "config"
    assert says in str(error)


def test_a_missing_folder_is_not_taken_for_a_missing_program(tmp_path: Path) -> None:
    """`cwd` that does not exist says so."""
    assert "correct `cwd`" in str(fail(python_program("", folder=tmp_path / "gone")))


def test_stderr_is_kept_apart_and_bounded() -> None:
    """What goes to stderr is no answer; its end is kept, without control sequences."""
    code = "import sys; sys.stderr.write('x' * 100_000 + '\\x1b[31mred\\x1b[0m the end'); print('out')"
    written, ended = run(python_program(code), Bounds(stderr_bytes=100))
    assert written == b"out\n"
    assert ended.stderr.endswith("xred the end")
    assert len(ended.stderr) <= 100


@pytest.mark.parametrize(
    ("code", "expected"), [("import sys; sys.exit(3)", 3), ("import os; os.kill(os.getpid(), 9)", -9)]
)
def test_the_way_it_ended_is_known(code: str, expected: int) -> None:
    """An exit code is passed on, a signal as its negative number."""
    assert run(python_program(code))[1].code == expected


def test_a_flood_is_stopped() -> None:
    """A program that writes without end is killed at the bound, not read into memory."""
    began = time.monotonic()
    error = fail(python_program("while True: print('spam' * 1000)"), Bounds(output_bytes=2_000_000))
    assert error.error_type == "agent"
    assert "more than 2000000 bytes" in str(error)
    assert time.monotonic() - began < 8


def test_one_long_line_is_read() -> None:
    """No newline in 200 kB is no problem."""
    assert len(run(python_program("print('x' * 200_000, end='')"))[0]) == 200_000


def test_silence_has_an_end() -> None:
    """A program that says nothing for too long is ended."""
    error = fail(python_program("import time; time.sleep(60)"), Bounds(idle_s=0.2))
    assert (error.error_type, "was silent for 0.2 s" in str(error)) == ("timeout", True)


def test_talk_has_an_end_too() -> None:
    """The total bound holds for a program that never falls silent."""
    code = "import time\nwhile True: print('.', flush=True); time.sleep(0.02)"
    error = fail(python_program(code), Bounds(total_s=0.5))
    assert (error.error_type, "took longer than 0.5 s" in str(error)) == ("timeout", True)


def test_who_does_not_listen_is_killed() -> None:
    """TERM, a grace, then KILL."""
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    began = time.monotonic()
    assert fail(python_program(code), Bounds(idle_s=0.4, stop_s=0.3)).error_type == "timeout"
    assert time.monotonic() - began < 5


def test_who_listens_may_tidy_up(tmp_path: Path) -> None:
    """TERM comes first: a program can put its things in order."""
    code = (
        "import signal, sys, time, pathlib\n"
        "signal.signal(15, lambda *_: (pathlib.Path(sys.argv[1]).write_text('tidy'), sys.exit(0)))\n"
        "print('up', flush=True); time.sleep(60)"
    )
    fail(python_program(code, str(tmp_path / "note")), Bounds(idle_s=0.5))
    assert (tmp_path / "note").read_text() == "tidy"


@pytest.mark.parametrize("session", ["pass", "os.setsid()"])
def test_a_daemon_that_holds_the_output_does_not_hold_the_turn(session: str) -> None:
    """The program's end is the end, whoever keeps its pipe; the daemon is killed, also out of its group."""
    began = time.monotonic()
    written, ended = run(python_program(DAEMON.format(session=session)))
    assert (written, ended.code) == (b"done\n", 0)
    assert time.monotonic() - began < 10


def test_cancelling_stops_the_program_and_its_children() -> None:
    """A cancelled turn leaves no process: neither the program nor what it started."""
    code = "import subprocess, sys, time\nsubprocess.Popen(['sleep', '60'])\nprint('up', flush=True)\ntime.sleep(60)"

    async def cancel_midway() -> None:
        up = asyncio.Event()

        async def watch() -> None:
            async with start(python_program(code)) as child:
                async for _ in child.chunks():
                    up.set()

        task = asyncio.create_task(watch())
        await asyncio.wait_for(up.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel_midway())


def test_cancelling_twice_kills_at_once() -> None:
    """Who is cancelled while it waits for a stubborn program's end does not leave it behind."""
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"

    async def cancel_twice() -> None:
        up = asyncio.Event()

        async def watch() -> None:
            async with start(python_program(code)) as child:
                async for _ in child.chunks():
                    up.set()

        task = asyncio.create_task(watch())
        await asyncio.wait_for(up.wait(), 10)
        task.cancel()
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    began = time.monotonic()
    asyncio.run(cancel_twice())
    assert time.monotonic() - began < 4


def test_a_program_that_closes_its_output_and_goes_on_is_ended() -> None:
    """Nobody reads what it does any more."""
    written, ended = run(
        python_program("import os, time; os.close(1); os.close(2); time.sleep(60)"), Bounds(stop_s=0.3)
    )
    assert (written, ended.code) == (b"", -signal.SIGTERM)


def test_the_environment_is_small() -> None:
    """Only plain names and those that are allowed reach a program; each program is told apart by a mark."""
    given = {"PATH": os.environ["PATH"], "MY_KEY": "k", "OTHER_SECRET": "s", "LANG": "C.UTF-8"}
    assert pick_environment(["MY_KEY", "UNSET"], given) == {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "MY_KEY": "k",
        "TERM": "dumb",
        "NO_COLOR": "1",
    }


def test_secrets_are_hidden() -> None:
    """The value of a key that a program was given does not get into what it says."""
    environment = {"MY_API_KEY": "sk-canary-123456", "HOME": "/home/somebody", "SHORT_KEY": "abc"}
    said = "401 for sk-canary-123456 in /home/somebody, abc"
    assert hide_secrets(said, environment) == "401 for [MY_API_KEY] in /home/somebody, abc"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("DB_PASS", "hunter2-hunter2", "[DB_PASS]"),
        ("SIGNING_PASSPHRASE", "correct-horse", "[SIGNING_PASSPHRASE]"),
        ("HTTPS_PROXY", "http://me:correct-horse@proxy:8080", "http://me:[HTTPS_PROXY]@proxy:8080"),
        ("STORE", "postgresql://:correct-horse@db/moot", "postgresql://:[STORE]@db/moot"),
        ("PWD", "/home/somebody", "/home/somebody"),
        ("PLACE", "https://somewhere:8080/a@b", "https://somewhere:8080/a@b"),
    ],
)
def test_what_a_secret_is(name: str, value: str, told: str) -> None:
    """What a variable is called tells, or a password in its URL."""
    assert hide_secrets(f"it is {value}", {name: value}) == f"it is {told}"


def test_a_secret_that_begins_with_another_is_hidden_whole() -> None:
    """Nothing of the longer one is left over, whichever is named first."""
    environment = {"MY_TOKEN": "sk-canary", "MY_API_KEY": "sk-canary-123456"}
    assert hide_secrets("sk-canary-123456 sk-canary", environment) == "[MY_API_KEY] [MY_TOKEN]"


def test_programs_run_side_by_side() -> None:
    """Twenty at once, each with its own output."""

    async def all_of_them() -> list[bytes]:
        programs = [python_program(f"print({number})") for number in range(20)]
        return [written for written, _ in await asyncio.gather(*(play(program) for program in programs))]

    assert asyncio.run(all_of_them()) == [f"{number}\n".encode() for number in range(20)]
