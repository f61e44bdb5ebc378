"""Keys that people change, in the settings file and on the screen."""

from pathlib import Path

import pytest

from moot.cli.user_settings import read_keys
from moot.config.own_folders import find_settings_file
from moot.core.errors import ConfigError
from moot.core.view import Question, View
from moot.tui.keys import DEFAULTS, Keys, find_key_problems
from moot.tui.panes.top_lines import key_line
from moot.tui.screens.help import list_help
from moot.tui.words import Words
from tests.client.deadline import run
from tests.tui.screens import EN, ai, chat_team, messages, playing


def settle(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(text, encoding="utf-8")
    monkeypatch.setenv("MOOT_CONFIG", str(path))
    return path


def test_the_keys_there_are_do_not_clash() -> None:
    """Out of the box every key means one thing, and none swallows what is typed."""
    assert list(find_key_problems(DEFAULTS)) == []


def test_keys_are_read_from_the_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One key or several for an action; the others stay; no file and an empty one change nothing."""
    settle(monkeypatch, tmp_path, "keys:\n  quit: ctrl+x\n  send: [enter, f10]\n")
    keys = read_keys()
    assert (keys["quit"], keys["send"], keys["help"]) == (("ctrl+x",), ("enter", "f10"), ("f1",))
    settle(monkeypatch, tmp_path, "# nothing yet\n")
    assert read_keys().keymap == Keys().keymap
    monkeypatch.delenv("MOOT_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert find_settings_file() == tmp_path / "xdg" / "moot" / "config.yaml"
    assert read_keys().keymap == Keys().keymap


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("keys:\n  sned: f9\n", "2: keys.sned: unknown action 'sned'; did you mean 'send'?"),
        ("keyes: {}\n", "1: keyes: unknown key 'keyes'; did you mean 'keys'?"),
        ("keys:\n  quit: 3\n", "2: keys.quit: found the number 3; expected text or a list"),
        ("keys:\n  quit: q\n", "2: keys.quit: 'q' is typed in messages"),
        ("keys:\n  quit: hyper+q\n", "2: keys.quit: 'hyper+q' is no key; keys are written like ctrl+q"),
        ("keys:\n  help: f2\n", "2: keys.help: 'f2' is a key of 'timeline' too"),
        ("keys:\n  send: []\n", "2: keys.send: there is no key"),
        ("- a\n", "1: found a list; settings are a mapping"),
        ("keys: {\n", "2: "),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, told: str
) -> None:
    """A bad settings file is a sentence with file, line and what would do; it is not ignored."""
    path = settle(monkeypatch, tmp_path, text)
    with pytest.raises(ConfigError) as raised:
        read_keys()
    assert str(raised.value).startswith(f"{path}:{told}")


def test_no_letter_is_a_key() -> None:
    """What text could trigger is no key of anything; twice in one place a key may not be used either."""
    assert [action for action, _ in find_key_problems({"copy": ("e",), "approve": ("shift+a",)})] == ["copy", "approve"]
    assert [action for action, _ in find_key_problems({"copy": ("ctrl+l",)})] == ["copy"]


def test_changed_keys_work_and_are_shown() -> None:
    """The changed key does it, the old one does not; the line at the bottom and the help say so."""
    keys = Keys({"timeline": ("ctrl+t",), "send": ("f10",), "copy": ("alt+c",)})

    async def play() -> None:
        async with playing(chat_team(ai("bob", "Hello.")), keys=keys) as here:
            await here.sees("F10 sends")
            await here.press("ctrl+c")
            await here.sees("Ctrl+C again leaves")
            await here.press("f2")
            assert here.ui.pane == "talk"
            await here.press("ctrl+t")
            await here.until(lambda: here.ui.pane == "timeline")
            await here.press("escape")
            await here.type("one")
            await here.press("enter", *"two", "f10")
            await here.until(lambda: [line.text for line in messages(here.ui)] == ["one\ntwo"])
            assert "Ctrl+T" in str(list_help(Words("en"), keys))

    run(play())


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
def test_the_line_of_keys_fits(width: int) -> None:
    """No key is cut off; help, quitting and the question stay longest."""
    asked = View(questions=(Question(step_id="s", kind="plan", text="?"),))
    for view in (View(), asked):
        line = key_line(EN, Keys(), view, width)
        assert line.cell_length <= width
        assert "^q quit" in line.plain
        assert ("f7 answer" in line.plain) == bool(view.questions)
