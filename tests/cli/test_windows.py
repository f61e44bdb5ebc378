"""Several windows on one data folder: whoever comes later works in the process that holds it."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from moot.agents.sandbox import Sandbox
from moot.runtime.private_socket import SOCKET_FILE
from tests.cli.command import CHAT, MOOT, Moot, texts
from tests.cli.keyboard import Keyboard
from tests.cli.serving import Serving, serving
from tests.cli.test_agents_as_clients import play

TEAM = """\
moot: 1
name: {name}
language: en
chat: {{default: bob}}
members:
  - {{id: ann, kind: human}}
  - {{id: bob, kind: ai, agent: {{type: script, replies: [{{delay_s: {delay_s}, text: from {name}}}]}}}}
"""
ASK_PRIVATELY = """
import socket, sys
with socket.socket(socket.AF_UNIX) as link:
    link.connect(sys.argv[1])
    head = f"Host: moot\\r\\nAuthorization: Bearer {sys.argv[2]}"
    link.sendall(f"GET /private/about HTTP/1.0\\r\\n{head}\\r\\n\\r\\n".encode())
    print(link.recv(100).split()[1].decode())
"""


def write_team(folder: Path, name: str, delay_s: float = 0) -> str:
    folder.mkdir(exist_ok=True)
    file = folder / "moot.yaml"
    file.write_text(TEAM.format(name=name, delay_s=delay_s))
    return str(file)


@pytest.fixture
def server(moot: Moot) -> Iterator[Serving]:
    with serving(moot.data) as running:
        yield running


def environment(moot: Moot) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key != "MOOT_TOKEN"}
    return {**kept, "MOOT_DATA": str(moot.data), "TERM": "xterm"}


def start(moot: Moot, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*MOOT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(moot)
    )


def test_a_script_runs_its_own_team_on_a_server_s_data(moot: Moot, server: Serving, tmp_path: Path) -> None:
    """`moot run` offers its team file to the server, works there, and its session belongs to that file."""
    file = write_team(tmp_path / "mine", "mine")
    said = moot("run", file, "--json", "--say", "hello")
    assert said.code == 0, said.err
    assert f"attached to `moot serve`, process {server.process.pid}" in said.err
    assert texts(said.objects) == ["hello", "from mine"]
    (entry,) = server.request("GET", "/api/sessions").json()
    assert entry["project"] == {"file": file, "folder": str(tmp_path / "mine")}
    assert [team["name"] for team in server.request("GET", "/api/teams").json()][-1] == "mine"


def test_a_chat_window_joins_and_goes_on_with_its_last_session(moot: Moot, server: Serving, tmp_path: Path) -> None:
    """Line mode works beside the server, and finds the last session of its own team file there."""
    file = write_team(tmp_path / "mine", "mine")
    first = moot("chat", file, "--plain", stdin=b"hello\n")
    assert (first.code, first.lines[-2]) == (0, "bob: from mine")
    again = moot("chat", file, "--plain", "--continue", stdin=b"more\n")
    assert (again.code, again.err.split()[1]) == (0, first.err.split()[1])
    assert len(server.request("GET", "/api/sessions").json()) == 1


def test_a_changed_team_file_is_taken_anew(moot: Moot, server: Serving, tmp_path: Path) -> None:
    """The next window with the same file brings the file as it is then."""
    file = write_team(tmp_path / "mine", "mine")
    moot("run", file, "--say", "hello")
    Path(file).write_text(Path(file).read_text().replace("from mine", "rewritten"))
    assert texts(moot("run", file, "--json", "--say", "hello").objects) == ["hello", "rewritten"]


def test_two_teams_of_one_name_do_not_mix(moot: Moot, server: Serving, tmp_path: Path) -> None:
    """A second file whose team has the name of a loaded one is refused with exit 3, and says which file that is."""
    one, two = write_team(tmp_path / "one", "same"), write_team(tmp_path / "two", "same")
    assert moot("run", one, "--say", "hello").code == 0
    said = moot("run", two, "--say", "hello")
    assert (said.code, said.out) == (3, "")
    assert f"a team 'same' of {one} is in use already; give one of the two another name" in said.err


def test_sessions_are_changed_while_a_server_holds_them(moot: Moot, server: Serving, tmp_path: Path) -> None:
    """Rename, rm, restore, fork, export, import and rm --forever do the same as on data that nobody holds."""
    session_id = server.create()
    server.say(session_id, "[FROM: Alice] hello")
    server.has(session_id, "session.paused")
    assert moot("sessions", "rename", session_id, "Poster").code == 0
    assert moot("sessions", "list", "--json").objects[0]["title"] == "Poster"
    assert moot("sessions", "rm", session_id).code == 0
    assert server.request("GET", "/api/sessions").json() == []
    assert moot("sessions", "restore", session_id).code == 0
    fork = moot("sessions", "fork", session_id, "--at", "2")
    assert fork.code == 0, fork.err
    export = tmp_path / "session.jsonl"
    assert moot("sessions", "export", session_id, "--out", str(export)).code == 0
    imported = moot("sessions", "import", str(export))
    piped = moot("sessions", "import", "-", stdin=export.read_bytes())
    ids = {entry["session_id"] for entry in server.request("GET", "/api/sessions").json()}
    assert ids == {session_id, *fork.lines, *imported.lines, *piped.lines}
    assert moot("sessions", "rm", fork.lines[0], "--forever", "--yes").code == 0
    assert server.request("GET", f"/api/sessions/{fork.lines[0]}").status_code == 404


def test_a_second_server_is_refused(moot: Moot, server: Serving) -> None:
    """`moot serve` on held data is exit 5, in the background too."""
    assert moot("serve", CHAT, "--port", "0").code == 5
    said = moot("serve", CHAT, "--port", "0", "--background")
    assert said.code == 5
    assert f"`moot serve`, process {server.process.pid}, holds {moot.data} already at {server.base}/" in said.err


def test_closing_a_window_stops_nothing_that_another_one_uses(moot: Moot, tmp_path: Path) -> None:
    """A chat that hosts a script's turn says so when it is left, and ends when the script has its answer."""
    chat = Keyboard([*MOOT, "chat", write_team(tmp_path / "a", "a"), "--plain"], environment(moot))
    chat.until("ann> ")
    script = start(moot, "run", write_team(tmp_path / "b", "b", delay_s=3), "--say", "hello")
    assert script.stderr
    assert "attached to `moot chat`" in script.stderr.readline()
    assert script.stdout
    while "hello" not in script.stdout.readline():
        pass
    chat.type("\x04")
    chat.until("1 other window uses this process")
    out, err = script.communicate(timeout=60)
    assert (script.returncode, "bob: from b" in out) == (0, True), err
    assert chat.end() == 0


def test_leaving_the_last_window_says_what_stops(moot: Moot, tmp_path: Path) -> None:
    """Work that ends with the window is named, with how to keep such work running."""
    chat = Keyboard([*MOOT, "chat", write_team(tmp_path / "a", "a", delay_s=60), "--plain"], environment(moot))
    chat.until("ann> ")
    chat.type("hello\n")
    chat.until("Queue")
    chat.type("\x04")
    seen = chat.until("stopped with this window:")
    assert chat.end() == 0
    assert "`moot serve --background` keeps work running" in chat.seen, seen


def test_a_background_server_is_found_and_stopped(moot: Moot, tmp_path: Path) -> None:
    """--background prints the URL and returns; other commands use that server; `moot stop` ends it, once."""
    command = [*MOOT, "serve", CHAT, "--port", "0", "--background"]
    started = subprocess.run(command, capture_output=True, text=True, env=environment(moot), timeout=90, check=False)
    assert started.returncode == 0, started.stderr
    url, _, token = started.stdout.strip().partition("#token=")
    try:
        assert "serves in the background" in started.stderr
        headers = {"authorization": f"Bearer {token}"}
        assert httpx.get(f"{url}api/sessions", headers=headers, trust_env=False).json() == []
        said = moot("run", write_team(tmp_path / "mine", "mine"), "--say", "hello")
        assert (said.code, "attached to `moot serve`" in said.err) == (0, True), said.err
    finally:
        stopped = moot("stop")
    assert (stopped.code, stopped.out) == (0, ""), stopped.err
    assert "stopped process" in stopped.err
    again = moot("stop")
    assert (again.code, again.out) == (4, "")


def test_a_window_is_not_stopped_from_elsewhere(moot: Moot, tmp_path: Path) -> None:
    """`moot stop` ends servers; a chat in a terminal is exit 5, and a server beside it too."""
    chat = Keyboard([*MOOT, "chat", write_team(tmp_path / "a", "a"), "--plain"], environment(moot))
    chat.until("ann> ")
    said = moot("stop")
    assert (said.code, "is `moot chat` in a terminal; close it there" in said.err) == (5, True), said.err
    assert moot("serve", CHAT, "--port", "0").code == 5
    chat.type("\x04")
    assert chat.end() == 0


def test_the_socket_is_its_owner_s_and_goes_with_the_process(moot: Moot) -> None:
    """Its mode is 0600. A server that ends in order removes it; one that a dead process left is replaced."""
    for number in range(2):
        with serving(moot.data) as server:
            mode = (moot.data / SOCKET_FILE).stat().st_mode
            assert stat.S_ISSOCK(mode)
            assert stat.S_IMODE(mode) == 0o600
            if number == 0:
                server.process.kill()
                server.process.wait()
                assert (moot.data / SOCKET_FILE).exists()
            else:
                server.stop()
    assert not (moot.data / SOCKET_FILE).exists()


def test_the_socket_needs_the_owner_s_token(moot: Moot) -> None:
    """A server whose token comes from the environment refuses a window without it, with exit 5 and what to do."""
    with serving(moot.data, MOOT_TOKEN="a-token-that-only-it-knows"):
        said = moot("run", CHAT, "--say", "alice: hello")
        assert (said.code, said.out) == (5, "")
        assert "has another owner's token, from MOOT_TOKEN; set the same one here" in said.err


def test_the_private_operations_are_private(server: Serving) -> None:
    """Over the network they do not exist, not even for the owner."""
    for method, path in (("GET", "about"), ("POST", "teams"), ("POST", "import"), ("POST", "stop")):
        answer = server.request(method, f"/private/{path}", json={})
        assert answer.status_code == 404
        assert answer.json()["metadata"]["code"] == "unknown_path"


@pytest.mark.skipif(sys.platform != "linux", reason="the peer of a connection is known on Linux only")
def test_an_agent_s_program_is_refused_on_the_socket(moot: Moot, server: Serving) -> None:
    """Whatever token it has: a program that Moot started, or a child of one, is not a person's window."""
    arguments = [str(moot.data / SOCKET_FILE), server.token]
    person = [sys.executable, "-c", ASK_PRIVATELY, *arguments]
    assert subprocess.run(person, capture_output=True, text=True, check=True).stdout.strip() == "200"
    assert play(Sandbox(), ASK_PRIVATELY, *arguments) == "403"


def test_a_folder_with_a_long_name_has_a_socket_too(
    moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Addresses of sockets are short; longer paths work all the same."""
    data = tmp_path / ("long " * 30)
    monkeypatch.setenv("MOOT_DATA", str(data))
    with serving(data):
        said = moot("run", CHAT, "--say", "alice: hello")
    assert (said.code, "attached to" in said.err) == (0, True), said.err


def test_what_is_offered_is_checked_by_the_holder_too(server: Serving, moot: Moot, tmp_path: Path) -> None:
    """A file that starts programs and is not trusted is refused by the process itself, whatever the window says."""
    file = tmp_path / "evil.yaml"
    file.write_text(
        "moot: 1\nname: evil\nmembers:\n  - {id: ann, kind: human}\n"
        "  - {id: bob, kind: ai, agent: {type: cli, command: [touch, /tmp/evil]}}\n"
    )
    headers = {"authorization": f"Bearer {server.token}"}
    with httpx.Client(transport=httpx.HTTPTransport(uds=str(moot.data / SOCKET_FILE))) as client:
        for offered, sentence in ((str(file), "would start"), ("evil.yaml", "is no absolute path")):
            answer = client.post("http://moot/private/teams", headers=headers, json={"file": offered})
            assert answer.status_code == 422
            assert sentence in json.loads(answer.text)["content"]
    assert moot("run", str(file), "--say", "hello").code == 3
