"""A person at a terminal: a pseudo-terminal with the program behind it."""

import os
import pty
import select
import time
from collections.abc import Mapping, Sequence

WAIT_S = 60.0


class Keyboard:
    """`until` a text is on the screen, `type` a line; `seen` is all that was written there, echoes too."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._child, self._terminal = pty.fork()
        if self._child == 0:
            os.execvpe(command[0], list(command), {**environment, "PYTHONUNBUFFERED": "1"})  # noqa: S606
        self.seen = ""

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def until(self, text: str, count: int = 1) -> str:
        deadline = time.monotonic() + WAIT_S
        while self.seen.count(text) < count:
            assert time.monotonic() < deadline, self.seen
            assert self._read(), self.seen
        return self.seen

    def end(self) -> int:
        """The exit code, when it has ended by itself."""
        while self._read():
            pass
        os.close(self._terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self._child, 0)[1])

    def _read(self) -> bool:
        """Whether the program still has the terminal open."""
        if not select.select([self._terminal], [], [], WAIT_S)[0]:
            raise AssertionError(f"nothing comes any more:\n{self.seen}")
        try:
            read = os.read(self._terminal, 65_536)
        except OSError:  # how Linux says that nobody is there any more
            return False
        self.seen += read.decode(errors="replace").replace("\r\n", "\n")
        return bool(read)
