"""`moot chat` without a screen: lines in, lines out."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from moot.cli.hosting import LineSession
from moot.cli.line_mode import LineMode
from moot.core.machines.connection import State
from moot.protocol.happenings import Moved
from tests.cli.command import CHAT, MOOT, Moot
from tests.cli.keyboard import Keyboard

PLAN = "plan-demo"


def test_lines_are_said_and_answered(moot: Moot, tmp_path: Path) -> None:
    """Without a terminal line mode is chosen by itself; each line waits for the floor; the end of the
    input ends it."""
    said = moot("chat", CHAT, "--as", "alice", stdin="[NEXT: bob] 你好\n[DONE]\n".encode())
    assert said.code == 0, said.err
    assert said.err.startswith("session s_")
    assert any("你好" in line for line in said.lines)
    assert said.lines[-1].startswith("■")


def test_an_open_question_takes_the_answer(moot: Moot) -> None:
    """`approve` and `reject` answer the plan, other lines are said."""
    said = moot("chat", PLAN, "--plain", stdin=b"Please prepare the reading night.\nreject\n")
    assert said.code == 0, said.err
    assert "rejected" in said.out


def test_a_session_goes_on(moot: Moot) -> None:
    """--session shows the end of what was said, then goes on there."""
    session_id, _ = moot.talk("alice: [NEXT: bob] quince")
    said = moot("chat", CHAT, "--session", session_id[:8], "--as", "zoe", stdin=b"[NEXT: bob] medlar\n")
    assert said.code == 0, said.err
    assert sum("quince" in line for line in said.lines) == 1
    assert sum("medlar" in line for line in said.lines) == 1


def test_a_refused_line_fails_the_command(moot: Moot) -> None:
    """Exit 1 when a line was refused; the sentence is on stderr."""
    said = moot("chat", CHAT, stdin=b"/nonsense\n")
    assert said.code == 1
    assert "Unknown command /nonsense" in said.err


def test_no_input_is_no_error(moot: Moot) -> None:
    """No prompts without a terminal: an empty input ends it with exit 0."""
    assert moot("chat", CHAT).code == 0


def test_what_is_not_there_is_said(moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """3 for a file that is none, 4 for a session that is none; without FILE ./moot.yaml, else a
    built-in team."""
    monkeypatch.chdir(tmp_path)
    assert moot("chat", "no-such-file.yaml").code == 3
    assert moot("chat", CHAT, "--session", "s_none").code == 4
    assert "You, Ada, Bob, Carol" in moot("chat").out
    (tmp_path / "moot.yaml").write_text(Path(CHAT).read_text(encoding="utf-8"), encoding="utf-8")
    assert "You, Ada, Bob, Carol" not in moot("chat").out


def sit_down(tmp_path: Path, *arguments: str, **environment: str) -> Keyboard:
    return Keyboard([*MOOT, "chat", *arguments], {**os.environ, "MOOT_DATA": str(tmp_path), **environment})


def test_a_person_gets_a_prompt_and_sees_nothing_twice(tmp_path: Path) -> None:
    """A hint how it works, a prompt when the floor is theirs, no echo of what they typed; Ctrl-D leaves
    with the command to go on."""
    here = sit_down(tmp_path, "chat-demo", "--inline")
    opened = here.until("You> ")
    assert "Type a line and press Enter" in opened
    assert "— chat-demo · You, Ada, Bob, Carol" in opened
    here.type("[NEXT: Bob] 海报, please\n")
    said = here.until("You> ", 2)
    assert said.count("海报, please") == 1
    assert "Bob: First draft:" in said
    assert "Waiting for You" not in said
    here.type("\x04")
    assert here.end() == 0
    session_id = here.seen.partition("session ")[2].split()[0]
    assert here.seen.rstrip().endswith(f"to go on: moot chat chat-demo --session {session_id} --plain")


def test_a_person_leaves_with_ctrl_c(tmp_path: Path) -> None:
    """Exit 130, no traceback, and how to go on is said."""
    here = sit_down(tmp_path, CHAT, "--plain")
    here.until("> ")
    here.type("[FROM: Alice] hi\n")
    here.until("> ", 2)
    here.type("\x03")
    assert here.end() == 130
    assert "Traceback" not in here.seen
    assert "--session s_" in here.seen


def test_a_small_terminal_is_told_line_by_line(tmp_path: Path) -> None:
    """Below 60×15 line mode is chosen by itself, and the size is said."""
    here = sit_down(tmp_path, "chat-demo", COLUMNS="50", LINES="12")
    assert "This terminal is 50×12" in here.until("You> ")
    here.type("\x04")
    assert here.end() == 0


def test_a_lost_link_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Line mode says that the link is lost and that it is back, not every attempt."""

    async def moves() -> AsyncIterator[Moved]:
        states = [State.CONNECTING, State.CONNECTED, State.RECONNECTING, State.CONNECTING, State.RECONNECTING]
        for state in [*states, State.CONNECTED]:
            yield Moved(state=state)

    asyncio.run(LineMode(cast("LineSession", None), None).tell_link(moves()))
    assert capsys.readouterr().err.splitlines() == ["◌ The connection is lost", "● Connected again"]


def test_bad_settings_are_said_before_anything_is_opened(tmp_path: Path) -> None:
    """A key that cannot work is a sentence with its line and exit 3; no session is made."""
    (tmp_path / "config.yaml").write_text("keys:\n  quit: q\n", encoding="utf-8")
    data = tmp_path / "data"
    here = sit_down(
        data, "chat-demo", COLUMNS="120", LINES="32", TERM="xterm", MOOT_CONFIG=str(tmp_path / "config.yaml")
    )
    assert here.end() == 3
    assert "config.yaml:2: keys.quit: 'q' is typed in messages" in here.seen
    assert not data.exists()


UNADDRESSED = """\
moot: 1
name: duo
language: en
members:
  - {id: ann, kind: human}
  - {id: bob, kind: ai, agent: {type: script, replies: [I am Bob]}}
  - {id: carol, kind: ai, agent: {type: script, replies: [I am Carol]}}
"""


def test_a_number_gives_what_was_said_to_nobody(tmp_path: Path) -> None:
    """The AIs are offered by number; typing one gives that AI the floor, without a second message."""
    file = tmp_path / "duo.yaml"
    file.write_text(UNADDRESSED)
    here = sit_down(tmp_path, str(file), "--plain")
    here.until("ann> ")
    here.type("hello\n")
    here.until("type 1 bob · 2 carol to give it to them")
    here.type("2\n")
    here.until("carol: I am Carol")
    here.type("\x04")
    assert here.end() == 0
    assert "I am Bob" not in here.seen


def test_a_plan_is_approved_by_a_word(tmp_path: Path) -> None:
    """The whole line 批准, or yes, approves the plan that is open."""
    here = sit_down(tmp_path, "plan-demo", "--plain")
    here.until("You> ")
    here.type("Please prepare the reading night.\n")
    here.until("Approve, edit or reject")
    here.until("You> ", 2)
    here.type("批准\n")
    here.until("Find three people who read", 2)
    here.type("/stop\n")
    here.type("\x04")
    here.end()
