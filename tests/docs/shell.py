"""A shell as a reader has one: a folder with the examples, a home, `moot` on the path, no other settings."""

import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self

from tests.docs.blocks import ROOT

_LOOP = r"""while IFS= read -r -d '' -u "$0" command; do eval "$command" </dev/null; printf '\036%d\037' "$?"; done"""
_END = re.compile(rb"(?P<said>.*?)\x1e(?P<code>\d+)\x1f", re.DOTALL)
_JOB = re.compile(r"^\d+: line \d+: +\d+ Killed .*\n", re.MULTILINE)  # what the shell itself says of a job
_DEADLINE_S = 300  # of a page


class Said(NamedTuple):
    text: str
    code: int


class Shell:
    """It lives for a page. What runs in the background shares the screen and is ended with the shell."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "examples").symlink_to(ROOT / "examples")
        given, self._commands = os.pipe()
        path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"  # not ours: it may have agents
        self._process = subprocess.Popen(
            ["bash", "-o", "pipefail", "-c", _LOOP, str(given)],
            cwd=folder,
            env={"PATH": path, "HOME": str(folder), "LC_ALL": "C.UTF-8", "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[given],
            start_new_session=True,
        )
        os.close(given)
        self._watchdog = threading.Timer(_DEADLINE_S, self._kill)
        self._watchdog.start()
        self._screen = b""

    def run(self, command: str) -> Said:
        os.write(self._commands, command.encode() + b"\0")
        assert self._process.stdout
        while not (ended := _END.match(self._screen)):
            more = os.read(self._process.stdout.fileno(), 65_536)
            assert more, f"the shell has ended or took more than {_DEADLINE_S} s: $ {command}\n{self._screen.decode()}"
            self._screen += more
        self._screen = self._screen[ended.end() :]
        return Said(_JOB.sub("", ended["said"].decode()), int(ended["code"]))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._watchdog.cancel()
        os.close(self._commands)
        self._kill()
        self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()

    def _kill(self) -> None:
        with suppress(ProcessLookupError):  # nobody is left in it
            os.killpg(self._process.pid, signal.SIGKILL)
