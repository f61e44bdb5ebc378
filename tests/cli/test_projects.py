"""Sessions belong to the team file that started them."""

from pathlib import Path

import pytest

from moot.cli.projects import load_own
from moot.core.codec import Head
from moot.core.errors import NotFound
from moot.core.machines.session import Status
from moot.runtime.ports import Listing, Summary
from tests.cli.command import Moot, texts

TEAM = """\
moot: 1
name: %s
language: en
members:
  - {id: ann, kind: human}
  - {id: bob, kind: ai, agent: {type: script, replies: [from %s, again]}}
"""


def write_team(folder: Path, name: str = "my-team") -> str:
    folder.mkdir(exist_ok=True)
    file = folder / "moot.yaml"
    file.write_text(TEAM % (name, folder.name))
    return str(file)


def start(moot: Moot, file: str) -> str:
    return moot.talk("hello", team=file)[0]


def test_the_last_session_of_this_team_file_goes_on(
    moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--continue` opens the last active session of the team file here, whatever was said in other folders."""
    one, two = write_team(tmp_path / "one"), write_team(tmp_path / "two")
    start(moot, one)
    wanted = start(moot, one)
    start(moot, two)
    monkeypatch.chdir(tmp_path / "one")
    said = moot("chat", "--continue", "--plain", stdin=b"[NEXT: bob] more\n")
    assert said.code == 0, said.err
    assert said.err.startswith(f"session {wanted}\n")
    assert texts(moot.frames(wanted)) == ["hello", "more", "from one"]


def test_a_session_of_moot_chat_is_continued(moot: Moot, tmp_path: Path) -> None:
    """What `moot chat` started is found again; a session that is over is not."""
    file = write_team(tmp_path / "one")
    first = moot("chat", file, "--plain", stdin=b"hi\n").err.split()[1]
    again = moot("chat", file, "--plain", "--continue", stdin=b"bye [DONE]\n")
    assert again.err.split()[1] == first
    over = moot("chat", file, "--plain", "--continue")
    assert (over.code, over.out) == (4, "")
    assert "leave --continue out" in over.err


def test_what_another_window_has_just_opened_is_not_continued(tmp_path: Path) -> None:
    """Nothing was said in it, so it is not what anybody means, and it goes when that window closes."""
    own = load_own(write_team(tmp_path / "one"))
    summary = Summary(title="", team="one", flow="chat", status=Status.PAUSED, waiting_for=None, busy=False)

    def list_one(session_id: str, seq: int) -> Listing:
        head = Head(seq, "hash")
        return Listing(
            session_id=session_id, created_at="", updated_at="", head=head, summary=summary, project=own.project
        )

    assert own.find_last([list_one("s_opened", 1), list_one("s_used", 5)]) == "s_used"
    with pytest.raises(NotFound, match="no session of"):
        own.find_last([list_one("s_opened", 1)])


def test_continue_goes_with_no_other_session(moot: Moot, tmp_path: Path) -> None:
    """With --session or --connect it is a usage error."""
    file = write_team(tmp_path / "one")
    for other in (("--session", "s_1"), ("--connect", "http://127.0.0.1:9")):
        said = moot("chat", file, "--plain", "--continue", *other)
        assert (said.code, said.out) == (2, "")


@pytest.mark.parametrize("command", [("run",), ("chat", "--plain")])
def test_another_teams_file_is_refused(moot: Moot, tmp_path: Path, command: tuple[str, ...]) -> None:
    """Exit 3 with the file that the session wants, also if both teams have the same name; nothing is said there."""
    one, two = write_team(tmp_path / "one"), write_team(tmp_path / "two")
    session_id = start(moot, one)
    for file in (two, "chat-demo"):
        said = moot(command[0], file, *command[1:], "--session", session_id)
        assert (said.code, said.out) == (3, "")
        assert f"belongs to {one}; `moot chat {one} --session {session_id}` goes on" in said.err
    assert texts(moot.frames(session_id)) == ["hello"]


def test_a_team_file_that_was_moved(moot: Moot, tmp_path: Path) -> None:
    """A file of the same team takes the place of one that is gone; another team's file is refused by its name."""
    one = write_team(tmp_path / "one")
    session_id = start(moot, one)
    Path(one).unlink()
    assert moot("run", write_team(tmp_path / "two"), "--session", session_id, "--say", "hello again").code == 0
    said = moot("run", write_team(tmp_path / "three", "others"), "--session", session_id)
    assert said.code == 3
    assert "belongs to the team 'my-team'" in said.err
    assert "is the team 'others'; name the team file of 'my-team'" in said.err
