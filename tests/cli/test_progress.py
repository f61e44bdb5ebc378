"""What takes longer than a second says what it does, to people only."""

import io
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from moot.cli import progress
from moot.cli.progress import ERASE, Progress
from tests.cli.command import Moot


class Screen:
    """A terminal's other side, which always reads."""

    def __init__(self, master: int) -> None:
        self._master = master
        self._seen = b""
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def close(self) -> None:
        """Once the terminal is closed, and not before: another one may get the same number."""
        self._reader.join()
        os.close(self._master)

    def _read(self) -> None:
        with suppress(OSError):  # all have closed it
            while piece := os.read(self._master, 1_000):
                with self._changed:
                    self._seen += piece
                    self._changed.notify()

    def take(self, wanted: str) -> str:
        """What came up to `wanted` and with it, once it has come."""
        with self._changed:
            assert self._changed.wait_for(lambda: wanted.encode() in self._seen, 30), self._seen
            taken, found, self._seen = self._seen.partition(wanted.encode())
            return (taken + found).decode()


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Screen]:
    """stderr is a terminal, and work is told at once. No fixture: pytest takes stderr back before the test."""
    master, slave = os.openpty()
    monkeypatch.setattr(progress, "QUIET_S", 0.0)
    monkeypatch.setattr(progress, "REPAINT_S", 0.001)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with os.fdopen(slave, "w", encoding="utf-8") as stderr:
        monkeypatch.setattr(sys, "stderr", stderr)
        screen = Screen(master)
        yield screen
    screen.close()


def say(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def test_a_bar_where_the_end_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """How much of how much; the line is gone when the work is done."""
    with terminal(monkeypatch) as screen:
        with Progress("checking", 2_000) as work:
            work.advance(1_000)
            screen.take("checking  ████████████░░░░░░░░░░░░  1,000 of 2,000 events")
            work.advance(5_000)
            screen.take("████████████████████████  6,000 of 2,000 events")
        say("after")
        assert screen.take("after").endswith(f"{ERASE}after")


def test_work_that_reports_nothing_is_told_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread paints: waiting for a server is work."""
    with terminal(monkeypatch) as screen, Progress("asking the server"):
        screen.take("asking the server …")


def test_data_does_not_run_into_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """stdout may be the same terminal: the line is taken away before something is printed."""
    with terminal(monkeypatch) as screen:
        monkeypatch.setattr(sys, "stdout", sys.stderr)
        with Progress("checking") as work:
            screen.take("checking …")
            work.print("s_1: ok")
            assert screen.take("s_1: ok").endswith(f"{ERASE}s_1: ok")


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_nothing_moves_where_nothing_should(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """NO_COLOR and TERM=dumb: said once, as a line, and nothing is erased."""
    with terminal(monkeypatch) as screen:
        monkeypatch.setenv(name, value)
        with Progress("checking", 10) as work:
            assert screen.take("\n") == "checking …\r\n"
            work.advance()
        say("after")
        assert screen.take("after") == "after"


def test_short_work_and_pipes_hear_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Less than a second is not worth a line; without a terminal nothing is ever said."""
    with terminal(monkeypatch) as screen:
        monkeypatch.setattr(progress, "QUIET_S", 60.0)
        with Progress("checking", 10) as work:
            work.advance()
        say("after")
        assert screen.take("after") == "after"
        monkeypatch.setattr(progress, "QUIET_S", 0.0)
        piped = io.StringIO()
        monkeypatch.setattr(sys, "stderr", piped)
        with Progress("checking") as work:
            work.advance()
        assert piped.getvalue() == ""


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["export", "ID"], "exporting ID"),
        (["verify"], "checking hashes"),
        (["show", "ID", "--json"], "reading ID"),
        (["replay", "ID"], "replaying ID"),
    ],
)
def test_commands_that_may_take_long_say_what_they_do(
    moot: Moot, monkeypatch: pytest.MonkeyPatch, arguments: list[str], line: str
) -> None:
    """Export, check and read: what they do, of which session, how far they are."""
    session_id, frames = moot.talk("alice: hello")
    told: list[str] = []
    monkeypatch.setattr(Progress, "__exit__", lambda work, *_: told.append(work.line))
    monkeypatch.setattr(Progress, "__enter__", lambda work: work)
    assert moot("sessions", *(each.replace("ID", session_id) for each in arguments)).code == 0
    whole = f"{len(frames)} of {len(frames)} events"
    assert told[-1:] == [f"{line.replace('ID', session_id)}  {'█' * progress.BAR_CELLS}  {whole}"]
