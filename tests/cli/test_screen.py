"""What is left on the normal screen when the terminal UI is closed."""

import io
import logging
from pathlib import Path

import pytest

from moot.cli.screen import HELD_RECORDS, PRINTED_LINES, hold_log, say_goodbye
from moot.tui.viewer_state import Item, ViewerState


def state_with(lines: int) -> ViewerState:
    viewer_state = ViewerState()
    viewer_state.story.items = [
        Item(seq=2, at="", name="Bob", text="\n".join(f"line {number}" for number in range(lines)))
    ]
    return viewer_state


def test_what_was_said_is_printed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The transcript on stdout, the id and the command to go on beside it."""
    say_goodbye(state_with(3), "s_1", "moot chat --session s_1", tmp_path)
    said = capsys.readouterr()
    assert said.out.splitlines() == ["Bob: line 0", "  line 1", "  line 2"]
    assert said.err.splitlines() == ["session s_1", "to go on: moot chat --session s_1"]


def test_it_says_to_whom_and_what_was_not_finished(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Messages name their addressees, as everywhere else, and the text of a stopped turn is marked."""
    viewer_state = ViewerState()
    viewer_state.story.items = [
        Item(seq=2, at="", kind="message", name="Ann", to=("Bob", "Carol"), text="hello"),
        Item(seq=5, at="", kind="partial", name="Bob", text="half a sen\n"),
    ]
    say_goodbye(viewer_state, "s_1", None, tmp_path)
    assert capsys.readouterr().out.splitlines() == ["Ann → Bob, Carol: hello", "Bob (not finished): half a sen"]


def test_a_session_that_was_not_used_leaves_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """It is not kept, so there is no command to go on with it."""
    unused = ViewerState()
    unused.story.items = [Item(seq=1, at="", text="— team · Ann, Bob")]
    say_goodbye(unused, "s_1", "moot chat --session s_1", tmp_path)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == ""


def test_a_long_transcript_goes_into_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Beyond 200 lines its path is printed; only its owner may read the file."""
    say_goodbye(state_with(PRINTED_LINES + 1), "s_1", None, tmp_path / "transcripts")
    path = tmp_path / "transcripts" / "s_1.txt"
    assert capsys.readouterr().out == f"transcript: {path}\n"
    assert path.read_text(encoding="utf-8").splitlines()[-1] == f"  line {PRINTED_LINES}"
    assert path.stat().st_mode & 0o777 == 0o600


def test_tracebacks_wait_until_the_screen_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is logged across the screen; afterwards the newest records are, with where a member's error came from."""
    stderr = io.StringIO()
    monkeypatch.setattr(logging.getLogger(), "handlers", [logging.StreamHandler(stderr)])
    logger = logging.getLogger("moot.test_screen")
    with hold_log():
        logger.warning("the oldest")
        for _ in range(HELD_RECORDS - 1):
            logger.warning("a record")
        logger.warning("agent %s failed", "bob", exc_info=ValueError("boom"))
        assert stderr.getvalue() == ""
    lines = stderr.getvalue().splitlines()
    assert (lines[0], lines[-1], lines.count("a record")) == ("a record", "ValueError: boom", HELD_RECORDS - 1)
    assert "agent bob failed" in lines
    logger.warning("now at once")
    assert stderr.getvalue().endswith("now at once\n")
