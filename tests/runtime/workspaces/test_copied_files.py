"""Files that a tree needs and git does not have: they are in every tree, and never part of the work."""

from pathlib import Path

import pytest

from moot.core.session.commands import End
from moot.core.session.workspace_events import WorkspaceChanged
from moot.runtime.workspaces import housekeeping
from tests.core.teams import only
from tests.runtime.apps import has
from tests.runtime.workspaces.repositories import awaited, git, make_repository, say, take, working, write

COPIED = [".env.local", "-odd [x]!", "keys"]


def _prepare(top: Path) -> None:
    (top / ".env.local").write_text("SECRET=1\n")
    (top / "-odd [x]!").write_text("SECRET=2\n")
    (top / "keys").mkdir()
    (top / "keys" / "a.pem").write_text("SECRET=3\n")


def _edit(folder: Path) -> None:
    """Use and change what was copied, and commit everything, as an agent may do."""
    assert (folder / ".env.local").read_text() == "SECRET=1\n"
    assert (folder / "keys" / "a.pem").read_text() == "SECRET=3\n"
    (folder / "keys" / "b.pem").write_text("SECRET=4\n")
    (folder / "-odd [x]!").write_text("SECRET=5\n")
    (folder / "work.txt").write_text("1\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "everything")


@pytest.mark.parametrize("ignored", ["", "/.env.local\n*.pem\n-odd*\n"], ids=["not ignored", "ignored"])
@pytest.mark.parametrize("how", ["merge", "apply"])
@awaited
async def test_copied_files_are_never_recorded(tmp_path: Path, ignored: str, how: str) -> None:
    """Not by Moot, not in what a member commits itself, not after `moot doctor` looked; ignored or not."""
    top = make_repository(tmp_path / "repo", {".gitignore": ignored, "a": "1\n"})
    _prepare(top)
    async with working(top, _edit, write(a="2\n"), workspace={"copy": COPIED}) as (app, session):
        (found,) = housekeeping.find_all(tmp_path / "trees")
        assert (found.unsaved, found.half_made) == ((), ())
        await say(session, "[NEXT: bob] more")
        changes = only((event.fact for event in [event async for event in session.history()]), WorkspaceChanged)
        assert [[file.path for file in change.files] for change in changes] == [["work.txt"], ["a"]]
        await take(session, app, how)
        await session.submit(End())
        await has(app, session, "workspace.removed")
    assert git(top, "log", "--all", "--name-only", "--format=").split() == (
        ["a", "work.txt", ".gitignore", "a"] if how == "merge" else [".gitignore", "a"]
    )
    assert ((top / "-odd [x]!").read_text(), (top / "work.txt").read_text()) == ("SECRET=2\n", "1\n")


@awaited
async def test_a_copied_file_that_is_tracked_is_not_recorded_either(tmp_path: Path) -> None:
    """What a member changes in it stays in its tree."""
    top = make_repository(tmp_path / "repo", {"config": "1\n", "a": "1\n"})
    async with working(top, write(config="2\n", a="2\n"), workspace={"copy": ["config"]}) as (_, session):
        (change,) = only((event.fact for event in [event async for event in session.history()]), WorkspaceChanged)
        assert [file.path for file in change.files] == ["a"]


@awaited
async def test_what_the_person_ignores_for_themselves_is_no_work(tmp_path: Path) -> None:
    """The patterns of `.git/info/exclude` count in the trees too."""
    top = make_repository(tmp_path / "repo")
    (top / ".git" / "info" / "exclude").write_text("*.local\n")
    async with working(top, write(a="1\n", notes="1\n", **{"my.local": "1\n"})) as (_, session):
        (change,) = only((event.fact for event in [event async for event in session.history()]), WorkspaceChanged)
        assert [file.path for file in change.files] == ["a", "notes"]
