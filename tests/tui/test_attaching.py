"""Files that go with what a person types at the terminal."""

from pathlib import Path

import pytest

from moot.core.errors import MootError
from moot.tui.attaching import find_files
from tests.client.deadline import run
from tests.files import PNG
from tests.tui.screens import EN, ai, chat_team, messages, playing

TEAM = chat_team(ai("bob", "I see."))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a shot.png", "shot.png", "notes.txt"):
        (tmp_path / name).write_bytes(PNG)
    return tmp_path


def test_which_files_a_text_names(folder: Path) -> None:
    """/attach takes any file, also with spaces; @ takes pictures that are there and leaves the text as it is."""
    for text, names, rest in (
        ("/attach notes.txt", ["notes.txt"], ""),
        ("/attach 'a shot.png' what's this?", ["a shot.png"], "what's this?"),
        ("/attach shot.png [NEXT: bob] look", ["shot.png"], "[NEXT: bob] look"),
        ("@bob see @shot.png and @notes.txt", ["shot.png"], "@bob see @shot.png and @notes.txt"),
        ("see @none.png, mail me@shot.png", [], "see @none.png, mail me@shot.png"),
        ("/attached is a word", [], "/attached is a word"),
    ):
        paths, sent = find_files(text, folder, EN)
        assert ([path.name for path in paths], sent) == (names, rest)
    with pytest.raises(MootError, match="needs a file"):
        find_files("/attach", folder, EN)


def test_a_picture_is_sent_from_the_terminal(folder: Path) -> None:
    """It is shown with the message; a file that is not there is said, and what was typed comes back."""

    async def play() -> None:
        async with playing(TEAM) as here:
            await here.type(f"/attach {folder / 'shot.png'} [NEXT: Bob] look")
            await here.press("enter")
            await here.sees("📎 shot.png (image/png, 70 B)", "I see.")
            assert messages(here.ui)[0].member == "ann"
            await here.type("/attach nowhere.png look")
            await here.press("enter")
            await here.sees("nowhere.png cannot be read", "/attach nowhere.png look")

    run(play())
