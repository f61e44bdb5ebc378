"""`moot serve` as a process of its own, on a free port."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.cli.command import CHAT, MOOT

URL = re.compile(r"http://127\.0\.0\.1:\d+/(#token=\S+)?\n")


class Serving:
    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.url = url
        parts = urlsplit(url.strip())
        self.base, self.port = f"http://{parts.netloc}", parts.port or 0
        self.token = parts.fragment.removeprefix("token=")
        self.out, self.err = "", ""

    def request(self, method: str, path: str, token: str | None = None, **options: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {token or self.token}"}
        return httpx.request(method, self.base + path, headers=headers, trust_env=False, **options)

    def create(self) -> str:
        session_id: str = self.request("POST", "/api/sessions", json={}).json()["session_id"]
        return session_id

    def say(self, session_id: str, text: str) -> None:
        body = {"event": "user.message", "content": text}
        answer = self.request("POST", f"/api/sessions/{session_id}/commands", json=body)
        assert answer.status_code == 200, answer.text

    def names(self, session_id: str) -> list[str]:
        """The events of the whole session, which come in pages."""
        names: list[str] = []
        while page := self.request("GET", f"/api/sessions/{session_id}/events?after={len(names)}").json():
            names += [frame["event"] for frame in page]
        return names

    def has(self, session_id: str, name: str, times: int = 1) -> None:
        """Wait for an event of that name, or for so many."""
        deadline = time.monotonic() + 20
        while self.names(session_id).count(name) < times:
            assert time.monotonic() < deadline, self.names(session_id)
            time.sleep(0.02)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, float]:
        """Its exit code, and how many seconds it took."""
        asked_at = time.monotonic()
        self.process.send_signal(number)
        self.out, self.err = self.process.communicate(timeout=60)
        return self.process.returncode, time.monotonic() - asked_at


@contextmanager
def serving(data: Path, *arguments: str, cwd: Path | None = None, **environment: str) -> Iterator[Serving]:
    command = [*MOOT, "serve", *(arguments or [CHAT]), "--port", "0", "--data", str(data)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={key: value for key, value in os.environ.items() if key != "MOOT_TOKEN"} | environment,
    ) as process:
        try:
            assert process.stdout
            url = process.stdout.readline()
            assert URL.fullmatch(url), (url, process.stderr.read() if process.stderr and not url else "")
            yield Serving(process, url)
        finally:
            if process.poll() is None:
                process.kill()
