"""What members do with git in their trees: nothing of it reaches others, and nothing ends the session."""

import subprocess
from pathlib import Path

import pytest

from moot.core.session.events import TurnFailed
from moot.runtime.workspaces.work_changes import WorkChanges
from tests.runtime.workspaces.repositories import MUL, awaited, git, make_repository, say, take, working, write


@awaited
async def test_what_a_member_has_git_substitute_is_shown_as_it_is(tmp_path: Path) -> None:
    """`git replace` in a tree would show people and reviewers other text than the one that they take."""
    top = make_repository(tmp_path / "repo")

    def substitute(folder: Path) -> None:
        (folder / "calc.py").write_text("bad\n")
        (folder / "good").write_text("good\n")
        bad, good = git(folder, "hash-object", "-w", "calc.py", "good").split()
        git(folder, "replace", bad, good)
        (folder / "good").unlink()

    async with working(top, substitute) as (app, session):
        shown = await WorkChanges(app.log, tmp_path / "trees").read_patch(session.id, language="en")
        assert "+bad" in shown
        assert "good" not in shown


@pytest.mark.parametrize("lines", ["", "{other}\n", "{own}\n{other}\n"])
@awaited
async def test_objects_are_borrowed_from_the_person_s_repository_alone(tmp_path: Path, lines: str) -> None:
    """A member that names other repositories, or none, in its clone gets no objects of theirs, and breaks nothing."""
    top, other = make_repository(tmp_path / "repo"), make_repository(tmp_path / "other", {"secret": "s\n"})
    secret = git(other, "rev-parse", "HEAD:secret")

    def name_others(folder: Path) -> None:
        borrowed = folder.parent / ".repository" / "objects" / "info" / "alternates"
        own = borrowed.read_text().strip()
        borrowed.write_text(lines.format(own=own, other=other / ".git" / "objects"))
        (folder / "calc.py").write_text(MUL)

    async with working(top, name_others) as (app, session):
        clone = tmp_path / "trees" / session.id / ".repository"
        with pytest.raises(AssertionError):
            git(clone, "cat-file", "-e", secret)
        await take(session, app, "apply")
    assert (top / "calc.py").read_text() == MUL


BREAKING = {
    "an orphan branch": ("git checkout -q --orphan other", True),
    "no branch": ("git update-ref -d HEAD", True),
    "a head that names nothing": ("echo nonsense > $(git rev-parse --git-dir)/HEAD", True),
    "no git directory": ("rm -r $(git rev-parse --git-dir)", True),
    "no folder": ('rm -r "$PWD"', False),
    "a folder elsewhere": ('mv "$PWD" "$PWD-elsewhere"', False),
    "a worktree that git removed": ('git worktree remove --force "$PWD"', False),
}


@pytest.mark.parametrize("how", BREAKING)
@awaited
async def test_a_tree_that_a_member_broke_is_mended(tmp_path: Path, how: str) -> None:
    """What lies in it is recorded; if the folder is gone the turn fails, and the next one finds what was recorded."""
    top = make_repository(tmp_path / "repo")
    command, is_recorded = BREAKING[how]

    def break_it(folder: Path) -> None:
        (folder / "new").write_text("1\n")
        subprocess.run(command, shell=True, cwd=folder, check=True)  # noqa: S602 - the commands are above

    async with working(top, write(first="1\n"), break_it, write(second="2\n")) as (app, session):
        events = await say(session, "[NEXT: bob] go on")
        failed = [event.fact for event in events if isinstance(event.fact, TurnFailed)]
        assert [fact.message for fact in failed if "is gone" not in fact.message] == []
        assert bool(failed) is not is_recorded
        await say(session, "[NEXT: bob] go on")
        await take(session, app, "apply")
    new = ["new"] if is_recorded else []
    assert git(top, "status", "--porcelain").splitlines() == [f"?? {name}" for name in ["first", *new, "second"]]
