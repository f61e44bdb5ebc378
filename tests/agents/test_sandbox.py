"""Programs that play members are kept from Moot's own files, and nothing of them outlives a turn or the server."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from moot.agents.cli.memory import FOLDER as CONVERSATIONS
from moot.agents.handouts import FOLDER as HANDED
from moot.agents.process import Bounds, Program, start
from moot.agents.process_book import FOLDER as PROCESSES
from moot.agents.sandbox import MOOT_FILES, Sandbox, find_bubblewrap
from moot.config import trust
from moot.config.private_files import OWNER_FILE
from moot.gateway.auth import KEY_FILE, LOGINS_FILE, TOKENS_FILE
from moot.runtime.private_socket import SOCKET_FILE
from moot.runtime.process_table import find_start_time, list_descendants
from moot.runtime.stores.file_folder import FOLDER as FILES
from moot.runtime.stores.sqlite import DATABASE
from tests.agents.programs import nothing_left, python_program, run

ROOT = Path(__file__).parents[2]
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="Linux keeps account of what a program starts")


@pytest.fixture(autouse=True)
def no_orphans() -> Iterator[None]:
    with nothing_left():
        yield


@pytest.fixture
def confined() -> Sandbox:
    """A sandbox that hides nothing; skipped where bubblewrap cannot run."""
    path, problem = find_bubblewrap()
    if path is None:
        pytest.skip(problem)
    return Sandbox(bubblewrap=path)


@pytest.fixture(params=["sandbox", "launcher"])
def either(request: pytest.FixtureRequest) -> Sandbox:
    """With bubblewrap, and without."""
    sandbox: Sandbox = request.getfixturevalue("confined") if request.param == "sandbox" else Sandbox()
    return sandbox


def shell(script: str, sandbox: Sandbox, folder: Path | None = None) -> Program:
    environment = {"PATH": os.environ["PATH"], "HOME": str(Path.home())}
    return Program(argv=("sh", "-c", script), environment=environment, folder=folder, sandbox=sandbox)


def output(program: Program) -> str:
    written, ended = run(program)
    return written.decode() + ended.stderr


def is_gone(pid: int) -> bool:
    """Whether a process ends within seconds."""
    until = time.monotonic() + 10
    while find_start_time(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return find_start_time(pid) is None


def test_hidden_places_are_empty_and_others_are_as_they_are(confined: Sandbox, tmp_path: Path) -> None:
    """A folder is empty, a file cannot be read, what is written there is lost; the rest can be read and changed."""
    data, settings, project = tmp_path / "data", tmp_path / "config.yaml", tmp_path / "project"
    data.mkdir()
    project.mkdir()
    (data / OWNER_FILE).write_text("secret")
    settings.write_text("secret")
    script = f"ls {data}; cat {settings}; echo forged > {data}/{OWNER_FILE}; echo done > made"
    sandbox = replace(confined, hidden=(data, settings, tmp_path / "missing"))
    assert "secret" not in output(shell(script, sandbox, project))
    assert (project / "made").read_text() == "done\n"
    assert (data / OWNER_FILE).read_text() == "secret"
    assert not (tmp_path / "missing").exists()


def test_a_symbolic_link_does_not_lead_around_it(confined: Sandbox, tmp_path: Path) -> None:
    """What is hidden is the folder itself, whatever it is called."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / OWNER_FILE).write_text("secret")
    (tmp_path / "link").symlink_to("real")
    sandbox = replace(confined, hidden=(tmp_path / "link",))
    assert "secret" not in output(shell(f"cat {tmp_path}/real/{OWNER_FILE} {tmp_path}/link/{OWNER_FILE}", sandbox))


def test_it_cannot_be_undone(confined: Sandbox, tmp_path: Path) -> None:
    """Neither root nor a new user namespace takes the cover away, and no other process can be looked into."""
    (tmp_path / OWNER_FILE).write_text("secret")
    script = (
        f"umount {tmp_path}; unshare -Ur umount {tmp_path}; cat {tmp_path}/{OWNER_FILE}; "
        f"cat /proc/{os.getpid()}/root{tmp_path}/{OWNER_FILE}; cat /proc/*/root{tmp_path}/{OWNER_FILE}"
    )
    assert "secret" not in output(shell(script, replace(confined, hidden=(tmp_path,))))


def test_a_team_in_the_data_folder_keeps_its_folder(confined: Sandbox, tmp_path: Path) -> None:
    """Moot's files in it are hidden one by one; a team in a folder below is left as it is."""
    team = tmp_path / "team"
    team.mkdir()
    for file in (tmp_path / OWNER_FILE, tmp_path / "notes", team / "notes"):
        file.write_text(f"in {file.name}")
    sandbox = replace(confined, hidden=(tmp_path,))
    script = f"cat {tmp_path}/{OWNER_FILE} notes"
    for folder in (tmp_path, team):
        shown = output(shell(script, sandbox, folder))
        assert shown.startswith("in notes")
        assert f"in {OWNER_FILE}" not in shown


def test_every_file_of_the_data_folder_is_known() -> None:
    """What gives power over sessions is in the list of files that are hidden one by one."""
    databases = {f"{name}{ending}" for name in (DATABASE, "moot-search.db") for ending in ("", "-wal", "-shm")}
    folders = {PROCESSES, CONVERSATIONS, FILES, HANDED}
    files = {OWNER_FILE, TOKENS_FILE, KEY_FILE, LOGINS_FILE, SOCKET_FILE, trust.FILE}
    assert set(MOOT_FILES) == {*files, *folders, *databases}


@linux_only
@pytest.mark.parametrize("escape", ["setsid env -i sleep 60", "(setsid env -i setsid sleep 60 &)"])
def test_who_drops_group_and_mark_does_not_outlive_the_turn(either: Sandbox, escape: str, tmp_path: Path) -> None:
    """A grandchild in a session of its own with an empty environment ends with the program."""

    async def play() -> tuple[int, int]:
        program = shell(f"{escape} & echo up; read line", either)
        async with start(replace(program, talks=True)) as child:
            async for _ in child.chunks():
                pids = [pid for pid in await find_sleepers() if pid != child.pid]
                child.writer.close()
            return (await child.ended()).code, pids[0]

    async def find_sleepers() -> list[int]:
        until = time.monotonic() + 10
        while not (pids := list_sleepers() - before) and time.monotonic() < until:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        return sorted(pids)

    before = list_sleepers()
    code, pid = asyncio.run(play())
    assert code in (0, 1)
    assert is_gone(pid)


def list_sleepers() -> set[int]:
    """Every `sleep 60` without environment."""
    pids = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "cmdline").read_bytes() == b"sleep\x0060\0" and not (folder / "environ").read_bytes():
                pids.add(int(folder.name))
        except OSError:
            continue
    return pids


SERVER = """
import asyncio, sys
from msgspec.structs import replace
from moot.agents.process import start
from moot.agents.sandbox import Sandbox
from tests.agents.programs import python_program

CHILD = "import os, time\\nif os.fork() == 0: os.setsid()\\nprint('up', flush=True)\\ntime.sleep(60)"

async def serve():
    program = replace(python_program(CHILD), sandbox=Sandbox(bubblewrap=sys.argv[1] or None))
    async with start(program) as child:
        async for _ in child.chunks():
            print(child.pid, flush=True)

asyncio.run(serve())
"""


@linux_only
def test_programs_do_not_outlive_a_killed_server(either: Sandbox) -> None:
    """After kill -9 of Moot its programs end by themselves; no later start is needed for that."""
    command = [sys.executable, "-c", SERVER, either.bubblewrap or ""]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
    assert server.stdout
    pid = int(server.stdout.readline())
    started = [pid, *list_descendants(pid)]
    assert len(started) >= 3
    server.kill()
    server.wait()
    server.stdout.close()
    assert all(map(is_gone, started))


def test_who_listens_may_tidy_up(confined: Sandbox, tmp_path: Path) -> None:
    """SIGTERM reaches the program and not what holds it: it has time to put its things in order."""
    code = (
        "import signal, sys, time, pathlib\n"
        "signal.signal(15, lambda *_: (pathlib.Path(sys.argv[1]).write_text('tidy'), sys.exit(0)))\n"
        "print('up', flush=True); time.sleep(60)"
    )

    async def stop() -> None:
        program = replace(python_program(code, str(tmp_path / "note")), sandbox=confined)
        async with start(program) as child:
            async for _ in child.chunks():
                break

    asyncio.run(stop())
    assert (tmp_path / "note").read_text() == "tidy"


@pytest.mark.parametrize(("code", "expected"), [("sys.exit(3)", 3), ("os.kill(os.getpid(), 9)", -signal.SIGKILL)])
def test_the_way_it_ended_is_known(code: str, expected: int, confined: Sandbox) -> None:
    """An exit code is passed on, a signal as its negative number, as without a sandbox."""
    assert run(replace(python_program(f"import os, sys; {code}"), sandbox=confined), Bounds())[1].code == expected


def test_a_bubblewrap_that_cannot_run_is_as_good_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where user namespaces are forbidden it fails at once, and its own words are told."""
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    find_bubblewrap.cache_clear()
    try:
        path, problem = find_bubblewrap()
    finally:
        find_bubblewrap.cache_clear()
    assert path is None
    assert "No permissions to create a new namespace" in problem
