"""`moot serve`: starting, refusing to start, stopping."""

import json
import os
import signal
import socket
import subprocess
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from moot.agents.starts import list_starts
from moot.cli import serve
from moot.config.loading import load_team
from moot.config.trust import NotTrusted, TrustStore
from moot.core.errors import ConfigError
from moot.gateway.auth import Tokens
from moot.gateway.opening import open_page
from tests.cli.command import CHAT, MOOT, TEAMS, Moot
from tests.cli.serving import Serving, serving

CLI_TEAM = """\
moot: 1
name: mine
members:
  - {id: alice, kind: human}
  - {id: claude, kind: ai, agent: {type: cli, command: [rm, -rf, everything]}}
  - {id: codex, kind: ai, agent: {type: cli, preset: codex}}
  - {id: py, kind: ai, agent: {type: python, call: some.module:function}}
"""
SCRIPT_TEAM = """\
moot: 1
name: found
members:
  - {id: alice, kind: human}
  - {id: bob, kind: ai, agent: {type: script, replies: [hello]}}
"""


def test_one_line_on_stdout(tmp_path: Path) -> None:
    """The URL with the token in its fragment, the same at every start; it works; Ctrl-C ends with 0."""
    with serving(tmp_path) as first:
        assert first.token
        assert first.request("GET", "/api/teams").status_code == 200
        assert first.stop(signal.SIGINT)[0] == 0
        assert first.out == ""
        assert "Ctrl-C stops" in first.err
    with serving(tmp_path) as second:
        assert second.token == first.token


def test_a_given_token_is_not_repeated(tmp_path: Path) -> None:
    """MOOT_TOKEN works and is neither printed nor kept."""
    with serving(tmp_path, MOOT_TOKEN="canary-from-outside") as server:
        assert server.token == ""
        assert server.request("GET", "/api/teams", "canary-from-outside").status_code == 200
        assert server.stop()[0] == 0
        assert "canary" not in server.out + server.err
    assert not any(b"canary" in path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize("token", ["a", " ", "\u00e4" * 20])
def test_a_token_that_can_be_guessed_stops_the_start(tmp_path: Path, token: str) -> None:
    """MOOT_TOKEN of another form is a mistake in the configuration: exit code 3, and what is wanted."""
    command = [*MOOT, "serve", "--port", "0"]
    environment = {**os.environ, "MOOT_TOKEN": token, "MOOT_DATA": str(tmp_path)}
    ended = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 3
    assert "at least 16 printable ASCII characters" in ended.stderr


def test_nothing_secret_leaks_at_debug_level(tmp_path: Path) -> None:
    """With everything logged and warnings shown, the token is in the URL and nowhere else."""
    with serving(tmp_path, PYTHONASYNCIODEBUG="1", PYTHONDEVMODE="1") as server:
        session_id = server.create()
        server.say(session_id, "[FROM: alice] hello")
        for path in (f"/api/sessions?token={server.token}", "/api/nothing", f"/?token={server.token}"):
            server.request("GET", path)
        code, _ = server.stop()
        assert code == 0
        assert server.token not in server.out + server.err
    assert server.token.encode() not in (tmp_path / "moot.db").read_bytes()


def upgrade(server: Serving) -> socket.socket:
    """A WebSocket, by hand: it answers nothing, not even a close."""
    link = socket.create_connection(("127.0.0.1", server.port), timeout=15)
    link.sendall(
        f"GET /ws?token={server.token} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
    )
    assert link.recv(12) == b"HTTP/1.1 101"
    return link


def read_all(link: socket.socket) -> bytes:
    data = b""
    while chunk := link.recv(65536):
        data += chunk
    return data


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stopping_with_work_under_way(number: signal.Signals, tmp_path: Path) -> None:
    """A running turn, an open stream, an open socket: told 1012, parked, exit 0 within 10 s; it goes on later."""
    with serving(tmp_path) as server:
        session_id = server.create()
        server.say(session_id, "[FROM: alice] [NEXT: sleepy] hello")
        server.has(session_id, "turn.started")
        before = server.names(session_id)
        with upgrade(server) as link:
            path = f"/api/sessions/{session_id}/stream?token={server.token}"
            with socket.create_connection(("127.0.0.1", server.port), timeout=15) as stream:
                stream.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
                assert stream.recv(12) == b"HTTP/1.1 200"
                code, took_s = server.stop(number)
                assert code == 0, server.err
                assert took_s < 10
                assert b"\x03\xf4" in read_all(link)  # 1012
                assert read_all(stream).endswith(b"0\r\n\r\n")  # the last chunk: ended, not cut
        assert "Traceback" not in server.err
    with serving(tmp_path) as server:
        assert server.names(session_id)[: len(before)] == before
        assert server.request("GET", f"/api/sessions/{session_id}").json()["state"]["executing"] == "sleepy"


def stall(server: Serving, session_id: str) -> socket.socket:
    """A request for more than the socket's buffers hold, by somebody who reads nothing."""
    for _ in range(35):
        server.say(session_id, "[FROM: alice] " + "x" * 190_000)
    link = socket.socket()
    link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    link.connect(("127.0.0.1", server.port))
    path = f"/api/sessions/{session_id}/events?token={server.token}"
    link.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
    link.settimeout(15)
    assert link.recv(12) == b"HTTP/1.1 200"
    return link


def test_stopping_with_a_reader_that_does_not_read(tmp_path: Path) -> None:
    """It is given its time, and then the server ends with 0 all the same."""
    with serving(tmp_path) as server:
        with stall(server, server.create()):
            code, took_s = server.stop()
        assert code == 0, server.err
        assert 1 < took_s < 10  # it was really in the way


def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    """Who cannot wait does not have to; what was said is kept."""
    with serving(tmp_path) as server:
        session_id = server.create()
        with stall(server, session_id):
            server.process.send_signal(signal.SIGTERM)
            with pytest.raises(subprocess.TimeoutExpired):
                server.process.wait(0.5)
            code, took_s = server.stop(signal.SIGTERM)
        assert code == -signal.SIGTERM
        assert took_s < 1
    with serving(tmp_path) as server:
        assert server.names(session_id).count("message.posted") == 35


def test_a_token_made_and_revoked_while_it_runs(tmp_path: Path) -> None:
    """`moot token` acts on the running server within a second."""
    with serving(tmp_path) as server:
        made = subprocess.run(
            [*MOOT, "token", "create", "--role", "viewer", "--data", str(tmp_path), "--json"],
            capture_output=True,
            text=True,
            check=True,
        )
        token, token_id = (json.loads(made.stdout)[key] for key in ("token", "token_id"))
        assert server.request("GET", "/api/sessions", token).status_code == 200
        assert server.request("POST", "/api/sessions", token, json={}).status_code == 403
        subprocess.run([*MOOT, "token", "revoke", token_id, "--data", str(tmp_path)], check=True)
        assert server.request("GET", "/api/sessions", token).status_code == 401


def test_a_port_in_use(tmp_path: Path, moot: Moot) -> None:
    """One clear sentence, exit 5, nothing on stdout."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = moot("serve", CHAT, "--port", port, "--data", str(tmp_path))
        assert (said.code, said.out) == (5, "")
        assert said.err.splitlines() == [
            f"moot: port {port} on 127.0.0.1 is in use; stop what listens there or use --port N"
        ]


def test_data_in_use(tmp_path: Path, moot: Moot) -> None:
    """One server per folder: exit 5, and the token of the other one is not touched."""
    with serving(tmp_path) as server:
        said = moot("serve", CHAT, "--port", "0", "--data", str(tmp_path))
        assert (said.code, said.out) == (5, "")
        assert f"process {server.process.pid}" in said.err
        assert len(said.err.splitlines()) == 1
        assert server.request("GET", "/api/teams").status_code == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104
def test_the_network_is_refused(host: str, moot: Moot) -> None:
    """A usage error, and why."""
    said = moot("serve", CHAT, "--host", host, "--port", "0")
    assert (said.code, said.out) == (2, "")
    assert "without TLS" in said.err
    assert "--insecure" in said.err


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_a_port_that_is_none(port: str, moot: Moot) -> None:
    """A usage error, which says what was acceptable."""
    said = moot("serve", CHAT, "--port", port)
    assert (said.code, said.out) == (2, "")
    assert f"{port!r} is no port; use a number from 0 to 65535" in said.err


def test_invalid_teams_are_refused(moot: Moot, tmp_path: Path) -> None:
    """Exit 3 before anything is opened."""
    said = moot("serve", str(tmp_path / "nothing.yaml"), "--port", "0")
    assert (said.code, said.out) == (3, "")
    assert not moot.data.exists()


def test_several_teams(tmp_path: Path) -> None:
    """They are on offer in the order given, and one is chosen by its name; two of one name are refused."""
    relay = str(TEAMS / "good" / "relay.yaml")
    teams = serve.choose_teams([relay, CHAT])
    assert len({team.name for _, team in teams}) == 2
    assert serve.choose_teams([CHAT, relay])[0] == teams[1]
    with pytest.raises(ConfigError, match="2 of the files"):
        serve.choose_teams([CHAT, CHAT])


def test_the_file_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without FILE ./moot.yaml, if it starts nothing or is trusted; else it is told what it would start."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MOOT_DATA", str(tmp_path / "data"))
    built_in = serve.choose_teams([])
    assert built_in[0][1].flow == "chat"
    (tmp_path / "moot.yaml").write_text(SCRIPT_TEAM)
    assert [team.name for _, team in serve.choose_teams([])] == ["found"]
    (tmp_path / "moot.yaml").write_text(CLI_TEAM)
    assert serve.choose_teams([]) == built_in
    shown = capsys.readouterr().err
    for part in ("claude: rm -rf everything", "codex: codex exec --json", "py: python some.module:function"):
        assert part in shown
    with pytest.raises(NotTrusted, match=r"moot trust moot\.yaml"):
        serve.choose_teams(["moot.yaml"])
    TrustStore(tmp_path / "data").add(tmp_path, list_starts(load_team("moot.yaml")))
    for files in ([], ["moot.yaml"]):
        assert [team.name for _, team in serve.choose_teams(files)] == ["mine"]


def test_opening_the_browser_hides_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser's command line is public; it gets a private file that leads on."""
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url))
    open_page(tmp_path, "http://127.0.0.1:1/#token=canary").join(10)
    [url] = opened
    path = Path(url.removeprefix("file://"))
    assert "canary" not in url
    assert path.stat().st_mode & 0o777 == 0o600
    assert 'url=http://127.0.0.1:1/#token=canary"' in path.read_text()


def test_a_file_with_the_token_is_for_its_owner(tmp_path: Path) -> None:
    """`moot serve > moot.log` writes the address, with the token, into a file that others cannot read."""
    path = tmp_path / "moot.log"
    with path.open("w") as file, redirect_stdout(file):
        path.chmod(0o644)
        serve.announcement("http://127.0.0.1:1/", Tokens(tmp_path), None)()
    assert "#token=" in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    with path.open("w") as file, redirect_stdout(file):
        path.chmod(0o644)
        serve.announcement("http://127.0.0.1:1/", Tokens(tmp_path, owner_token="x" * 16), None)()
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("http://127.0.0.1:1/\n", 0o644)
