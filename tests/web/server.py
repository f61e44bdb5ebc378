"""`moot serve` in a process of its own, with scripted teams; it can be killed and started again on the same port."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx

from moot.core.session.principal import Role
from moot.gateway.auth import TOKENS_FILE
from moot.gateway.token_file import TokenFile
from moot.runtime.clock import SystemClock
from tests.web.node import ROOT

TEAMS = ROOT / "tests" / "web" / "teams"
TOKEN = "owner-token-of-the-web-tests"  # noqa: S105
START_S = 20.0


NAMES = ("chat", "pair", "work", "failing", "checked", "stream", "studio", "stuck", "post", "live")


class Server:
    def __init__(self, data: Path, teams: tuple[str, ...] = ()) -> None:
        """`teams`: files or built-in names; by default those of the tests."""
        self.data = data
        self.teams = teams or tuple(str(TEAMS / f"{name}.yaml") for name in NAMES)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = httpx.Client(base_url=self.url, headers={"authorization": f"Bearer {TOKEN}"}, trust_env=False)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        modules = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
        own = {"MOOT_DATA": str(self.data), "XDG_CACHE_HOME": str(self.data / "cache")}
        environment = {**os.environ, **own, "MOOT_TOKEN": TOKEN, "PYTHONPATH": modules}
        moot = [sys.executable, "-m", "moot.cli.main"]
        folders = {str(Path(team).parent) for team in self.teams if Path(team).is_file()}
        if folders:
            trust = [*moot, "trust", "add", *folders, "--yes"]
            subprocess.run(trust, check=True, cwd=ROOT, env=environment, capture_output=True)
        self._process = subprocess.Popen(
            [*moot, "serve", *self.teams, "--port", str(self.port)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.DEVNULL,
        )
        self._wait()

    def _wait(self) -> None:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            try:
                if self.client.get("/readyz").status_code == httpx.codes.OK:
                    return
            except httpx.TransportError:
                time.sleep(0.05)
        raise TimeoutError("the server did not start")

    def kill(self) -> None:
        """As a crash would."""
        if self._process:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def close(self) -> None:
        self.client.close()
        if self._process:
            self._process.terminate()
            self._process.wait(START_S)

    def create(self, team: str, title: str = "") -> str:
        answer = self.client.post("/api/sessions", json={"team": team, "title": title})
        answer.raise_for_status()
        return str(answer.json()["session_id"])

    def command(self, session_id: str, event: str, **fields: Any) -> None:
        answer = self.client.post(f"/api/sessions/{session_id}/commands", json={"event": event, **fields})
        assert answer.status_code == httpx.codes.OK, answer.text

    def events(self, session_id: str) -> list[dict[str, Any]]:
        frames: list[dict[str, Any]] = []
        while page := self.client.get(f"/api/sessions/{session_id}/events", params={"after": len(frames)}).json():
            frames += page
        return frames

    def issue(self, role: Role, session_id: str, member: str | None = None) -> str:
        tokens = TokenFile(self.data / TOKENS_FILE)
        token, _ = tokens.create(role, SystemClock().now(), session_id=session_id, member=member)
        return token
