"""An agent's program that connects to the server is refused, whatever token it has: it is not a person."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from moot.agents.process import start
from moot.agents.sandbox import Sandbox, find_bubblewrap
from tests.agents.programs import nothing_left, python_program
from tests.cli.serving import Serving, serving

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the peer of a connection is known on Linux only")

ASK = """
import json, sys, urllib.error, urllib.request
url, token = sys.argv[1:]
request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
if url.endswith("/login"):
    request = urllib.request.Request(url, json.dumps({"token": token}).encode())
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
try:
    print(opener.open(request, timeout=20).status)
except urllib.error.HTTPError as error:
    print(error.code)
"""
SHAKE_HANDS = """
import socket, sys
from urllib.parse import urlsplit
url, token = sys.argv[1:]
place = urlsplit(url)
with socket.create_connection((place.hostname, place.port), timeout=20) as link:
    link.sendall((
        f"GET /ws?token={token} HTTP/1.1\\r\\nHost: {place.netloc}\\r\\n"
        "Upgrade: websocket\\r\\nConnection: Upgrade\\r\\n"
        "Sec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n"
    ).encode())
    print(link.recv(100).split()[1].decode())
"""
FLEE = "import subprocess, sys; subprocess.run(['setsid', '-w', 'env', '-i', sys.executable, '-c', *sys.argv[1:]])"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Serving]:
    with nothing_left(), serving(tmp_path / "data") as running:
        yield running


@pytest.fixture(params=["sandbox", "launcher"])
def either(request: pytest.FixtureRequest) -> Sandbox:
    """With bubblewrap, and without."""
    path, problem = find_bubblewrap()
    if request.param == "sandbox" and path is None:
        pytest.skip(problem)
    return Sandbox(bubblewrap=path if request.param == "sandbox" else None)


def play(sandbox: Sandbox, code: str, *arguments: str) -> str:
    """What an agent's program prints."""

    async def read() -> bytes:
        program = replace(python_program(code, *arguments), sandbox=sandbox)
        async with start(program) as child:
            return b"".join([chunk async for chunk in child.chunks()])

    return asyncio.run(read()).decode().strip()


@pytest.mark.parametrize(
    ("code", "path", "welcome"),
    [(ASK, "sessions", "200"), (SHAKE_HANDS, "sessions", "101"), (ASK, "login", "200")],
    ids=["rest", "websocket", "login"],
)
def test_an_agent_with_the_owner_s_token_is_refused(
    code: str, path: str, welcome: str, either: Sandbox, server: Serving
) -> None:
    """The same request with the same token is answered to a person's program and forbidden to an agent's."""
    arguments = [f"{server.base}/api/{path}", server.token]
    person = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    assert person.stdout.strip() == welcome
    assert play(either, code, *arguments) == "403"
    assert subprocess.run(person.args, capture_output=True, text=True, check=True).stdout.strip() == welcome


@pytest.mark.skipif(shutil.which("setsid") is None, reason="no setsid")
def test_a_child_that_drops_session_and_environment_is_still_an_agent_s(either: Sandbox, server: Serving) -> None:
    """Who descends from a program is refused as the program is."""
    assert play(either, FLEE, ASK, f"{server.base}/api/sessions", server.token) == "403"


def test_a_moot_that_an_agent_started_serves_that_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mark of the server's own ancestors says nothing about its clients."""
    monkeypatch.setenv("MOOT_PROCESS", "1-of-another-moot")
    with serving(tmp_path / "data") as server:
        assert server.request("GET", "/api/sessions").status_code == 200
        command = [sys.executable, "-c", ASK, f"{server.base}/api/sessions", server.token]
        ended = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ))
        assert ended.stdout.strip() == "200"
