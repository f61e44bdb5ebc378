"""Writing: history, completion, the editor, the keys that terminals send, the place of the cursor."""

import asyncio
import json
import stat
from pathlib import Path

import pytest
from textual._xterm_parser import XTermParser
from textual.events import Key

from moot.core.session.team import Kind, Member
from moot.tui.composer.completion import complete
from moot.tui.composer.composer import Composer
from moot.tui.composer.external_editor import edit_text
from moot.tui.composer.file_list import list_files
from moot.tui.fuzzy import find_fuzzy
from moot.tui.remembered import HISTORY, Memory
from moot.tui.terminal_keys import ALIASES, teach_keys
from tests.client.deadline import run
from tests.tui.screens import EN, ai, chat_team, messages, playing

TEAM = chat_team(ai("claude", "Hello. [NEXT: Ann]"), ai("bob", "Hello from Bob. [NEXT: Ann]"))
CLAUDE = Member(id="claude", kind=Kind.AI, name="Claude", display_name="Claude", order=1)


def test_text_typed_fast_is_not_replaced() -> None:
    """Enter takes only an offer for what stands there now; [NEXT: is closed; what is whole is sent."""

    async def play() -> None:
        async with playing(TEAM) as here:
            composer = here.ui.query_one(Composer)
            await here.press(*"[NEXT: Cl", "tab")
            assert composer.text == "[NEXT: Claude]"
            composer.insert(" What is 2+2?")  # the message that the text has changed comes later
            composer._press("enter")
            await here.until(lambda: [each.text for each in messages(here.ui)][:1] == ["What is 2+2?"])
            await here.press(*"@Bob")
            await here.sees("▸ Bob")
            await here.press("enter")
            await here.until(lambda: any(each.text == "Hello from Bob." for each in messages(here.ui)))

    run(play())


def test_history_is_kept(tmp_path: Path) -> None:
    """What was said comes back after a new start; a text twice is there once; only its owner may read the file."""
    memory = Memory(tmp_path / "terminal")
    for text in ("one", "two\nlines", "one"):
        memory.remember(text)
    assert Memory(tmp_path / "terminal").history == ["two\nlines", "one"]
    path = tmp_path / "terminal" / "history.jsonl"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text("".join(f"{json.dumps(str(number))}\n" for number in range(3 * HISTORY)) + "{ broken\n")
    assert Memory(tmp_path / "terminal").history == [str(number) for number in range(2 * HISTORY, 3 * HISTORY)]
    assert len(path.read_text().splitlines()) == HISTORY


def test_what_cannot_be_remembered_breaks_nothing(tmp_path: Path) -> None:
    """A folder that cannot be written, a layout that is no layout: the defaults hold."""
    (tmp_path / "file").write_text("")
    memory = Memory(tmp_path / "file" / "folder")
    memory.remember("x")
    memory.keep_layout()
    assert memory.history == ["x"]
    (tmp_path / "layout.json").write_text('{"tab": 7}')
    assert Memory(tmp_path).layout.tab == "timeline"


def test_a_message_is_written_in_an_editor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """$VISUAL counts before $EDITOR; what the editor leaves in the file is the message; no editor is no message."""
    script = tmp_path / "edit.sh"
    script.write_text('#!/bin/sh\nprintf "and more\\n" >> "$1"\n')
    script.chmod(0o755)
    monkeypatch.setenv("EDITOR", "/nowhere/editor")
    assert asyncio.run(edit_text("begun ")) is None
    monkeypatch.setenv("VISUAL", str(script))
    assert asyncio.run(edit_text("begun ")) == "begun and more"
    monkeypatch.setenv("VISUAL", "false")
    assert asyncio.run(edit_text("begun ")) is None


def test_files_are_completed(tmp_path: Path) -> None:
    """After @ some letters of a path find it, behind the members; hidden files and paths with spaces are left out."""
    for name in ("src/app.py", "src/other.py", ".hidden/x.py", "a b.txt", "node_modules/x.js"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    files = asyncio.run(list_files(tmp_path))
    assert files == ("src/app.py", "src/other.py")
    found = complete("look at @srapp", 14, [CLAUDE], EN, files)
    assert found
    assert [offer.insert for offer in found.offers] == ["@src/app.py "]
    both = complete("@c", 2, [CLAUDE], EN, ("claude.md", "src/code.py"))
    assert both
    assert [offer.label for offer in both.offers] == ["Claude", "claude.md", "src/code.py"]
    assert find_fuzzy("a" * 30, ["a" * 29 + "b"] * 1_000, str, 5) == []


def test_what_terminals_send_with_alt() -> None:
    """Alt+Enter is no Enter, Alt+2 is no trade mark, and Shift+Enter in the form of xterm is known."""
    teach_keys()

    def read(sequence: str) -> list[str]:
        parser = XTermParser()
        return [event.key for event in [*parser.feed(sequence), *parser.feed("")] if isinstance(event, Key)]

    assert [read(sequence) for sequence in ("\x1b\r", "\x1b2", "\r")] == [["alt+enter"], ["alt+2"], ["enter"]]
    assert [ALIASES[key] for key in read("\x1b[27;2;13~")] == ["shift+enter"]


def test_the_cursor_of_the_terminal_stands_in_the_composer() -> None:
    """Input methods open their window at the cursor, also while the field is empty and after a card has moved it."""

    async def play() -> None:
        async with playing(TEAM) as here:
            composer = here.ui.query_one(Composer)
            await here.until(lambda: here.ui.cursor_position == composer.cursor_screen_offset)
            assert here.ui.cursor_position.y == composer.content_region.y
            await here.say("/queue clear")
            await here.pilot.resize_terminal(100, 28)
            await here.until(lambda: here.ui.cursor_position.y == composer.content_region.y < 28)

    run(play())
