"""What a person has is never lost when they take the work: their merge, their branches, their files."""

import os
import signal
import stat
from pathlib import Path

import pytest

from moot.app import open_app
from moot.core.codec import Event
from moot.core.errors import Refused
from moot.core.session.workspace_events import WorkspaceChanged, WorkspaceFailed, WorkspaceTaken
from moot.runtime.workspaces.recordings import Author
from moot.runtime.workspaces.trees import SessionTrees
from tests.core.teams import only
from tests.runtime.workspaces.repositories import (
    BOTH,
    MUL,
    awaited,
    git,
    make_repository,
    names,
    plan_team,
    say,
    take,
    working,
    write,
)


def _why(events: list[Event]) -> str:
    (failed,) = only((event.fact for event in events), WorkspaceFailed)
    return failed.detail


def _diverge(top: Path) -> None:
    """Two branches that change the same line."""
    for branch in ("side", "main"):
        git(top, "checkout", "--quiet", *(["-b", branch] if branch == "side" else [branch]))
        (top / "note").write_text(f"{branch}\n")
        git(top, "commit", "--quiet", "--all", "--message", branch)


@pytest.mark.parametrize("what", ["merge", "rebase", "cherry-pick"])
@awaited
async def test_what_a_person_has_begun_in_their_checkout_stays(tmp_path: Path, what: str) -> None:
    """A conflict that they are resolving is neither ended nor taken for Moot's own, and they are told."""
    top = make_repository(tmp_path / "repo", {"note": "start\n"})
    _diverge(top)
    async with working(top, write(new="1\n")) as (app, session):
        with pytest.raises(AssertionError):  # it stops at the conflict
            git(top, what, "side")
        (top / "note").write_text("what both mean\n")
        head, status = git(top, "rev-parse", "HEAD"), git(top, "status", "--porcelain")
        assert _why(await take(session, app, "merge")).startswith(f"a {what} is unfinished in your checkout")
        assert (top / "note").read_text() == "what both mean\n"
        assert (git(top, "rev-parse", "HEAD"), git(top, "status", "--porcelain")) == (head, status)


@awaited
async def test_a_merge_that_conflicts_touches_no_file(tmp_path: Path) -> None:
    """That is found out before git begins: there is no moment at which their files hold both sides."""
    top = make_repository(tmp_path / "repo", {"note": "start\n"})
    async with working(top, write(note="bob\n")) as (app, session):
        (top / "note").write_text("ann\n")
        git(top, "commit", "--quiet", "--all", "--message", "ann")
        (top / "other").write_text("not committed\n")
        before = (top / "note").stat().st_mtime_ns
        assert _why(await take(session, app, "merge")) == "it cannot be merged into your branch: note"
        assert (top / "note").stat().st_mtime_ns == before
        assert not (top / ".git" / "MERGE_HEAD").exists()
        assert git(top, "status", "--porcelain") == "?? other"


@awaited
async def test_a_kept_branch_with_commits_of_the_person_is_not_moved(tmp_path: Path) -> None:
    """Later work becomes a branch beside it; where nothing was added, the branch goes on."""
    top = make_repository(tmp_path / "repo")
    async with working(top, write(a="1\n"), write(b="1\n"), write(c="1\n")) as (app, session):
        first = f"moot/{session.id}"
        for turn in range(3):
            if turn:
                await say(session, "[NEXT: bob] more")
            (taken,) = only((event.fact for event in await take(session, app, "keep")), WorkspaceTaken)
            assert taken.branch == (first if turn < 2 else f"{first}-2")
            if turn == 1:
                git(top, "checkout", "--quiet", first)
                (top / "mine").write_text("mine\n")
                git(top, "add", "mine")
                git(top, "commit", "--quiet", "--message", "mine")
                git(top, "checkout", "--quiet", "main")
    assert git(top, "log", "--format=%s", "-1", first) == "mine"
    assert git(top, "ls-tree", "--name-only", f"{first}-2").split() == ["a", "b", "c", "calc.py"]


@awaited
async def test_a_folder_becomes_a_file_and_a_file_a_folder(tmp_path: Path) -> None:
    """The work is written as it is; a folder that also holds ignored files of the person is not removed."""
    top = make_repository(tmp_path / "repo", {"old/x": "1\n", "plain": "1\n", ".gitignore": "*.log\n"})

    def swap(folder: Path) -> None:
        (folder / "old" / "x").unlink()
        (folder / "old").rmdir()
        (folder / "old").write_text("now a file\n")
        (folder / "plain").unlink()
        (folder / "plain").mkdir()
        (folder / "plain" / "y").write_text("2\n")

    async with working(top, swap) as (app, session):
        (top / "old" / "x.log").write_text("precious\n")
        assert "old is there already" in _why(await take(session, app, "apply"))
        assert ((top / "old" / "x.log").read_text(), (top / "plain").read_text()) == ("precious\n", "1\n")
        (top / "old" / "x.log").unlink()
        await take(session, app, "apply")
    assert ((top / "old").read_text(), (top / "plain" / "y").read_text()) == ("now a file\n", "2\n")


@awaited
async def test_permissions_of_a_file_stay_when_work_is_applied(tmp_path: Path) -> None:
    """Who may read it is the person's affair; only whether it can be run is part of the work."""
    top = make_repository(tmp_path / "repo", {"a": "1\n", "b": "1\n"})

    def edit(folder: Path) -> None:
        write(a="2\n", b="2\n", c="2\n")(folder)
        (folder / "b").chmod(0o755)

    async with working(top, edit) as (app, session):
        (top / "a").chmod(0o600)
        (top / "b").chmod(0o640)
        await take(session, app, "apply")
        (top / "plain").write_text("")
        assert [oct(stat.S_IMODE((top / name).stat().st_mode)) for name in "ab"] == ["0o600", "0o750"]
        assert (top / "c").stat().st_mode == (top / "plain").stat().st_mode


@awaited
async def test_an_ignored_file_of_the_person_is_not_overwritten(tmp_path: Path) -> None:
    """A member made a file of a name that the person has, but git does not know: nothing is written."""
    top = make_repository(tmp_path / "repo", {"a": "1\n"})
    async with working(top, write(a="2\n", local="bob\n")) as (app, session):
        (top / "local").write_text("ann\n")
        (top / ".git" / "info" / "exclude").write_text("local\n")
        assert "local" in _why(await take(session, app, "apply"))
        assert ((top / "a").read_text(), (top / "local").read_text()) == ("1\n", "ann\n")


@pytest.mark.parametrize("how", ["apply", "merge"])
@awaited
async def test_work_is_taken_again_after_more_turns(tmp_path: Path, how: str) -> None:
    """Later work comes on top of what was taken, also where it changes the same lines."""
    top = make_repository(tmp_path / "repo", {"a": "0\n"})
    async with working(top, write(a="1\n"), write(a="2\n"), write(b="3\n")) as (app, session):
        for turn in range(3):
            if turn:
                await say(session, "[NEXT: bob] more")
            assert only((event.fact for event in await take(session, app, how)), WorkspaceTaken)
    assert ((top / "a").read_text(), (top / "b").read_text()) == ("2\n", "3\n")
    assert len(git(top, "log", "--format=%s").split("\n")) == (4 if how == "merge" else 1)


@awaited
async def test_work_that_was_kept_can_still_be_applied(tmp_path: Path) -> None:
    """A branch is not in one's files: kept work is applied alone, and with later work."""
    top = make_repository(tmp_path / "repo")
    async with working(top, write(**{"calc.py": MUL}), write(**{"calc.py": BOTH})) as (app, session):
        await take(session, app, "keep")
        await take(session, app, "apply")
        assert (top / "calc.py").read_text() == MUL
        git(top, "checkout", "--", "calc.py")
        with pytest.raises(Refused, match="nothing_to_take"):
            await take(session, app, "keep")
    async with working(top, write(**{"calc.py": MUL}), write(**{"calc.py": BOTH})) as (app, session):
        await take(session, app, "keep")
        await say(session, "[NEXT: bob] more")
        await take(session, app, "apply")
        assert (top / "calc.py").read_text() == BOTH


@awaited
@pytest.mark.parametrize("how", ["apply", "merge", "keep"])
async def test_a_person_s_edits_in_the_tree_are_taken_too(tmp_path: Path, how: str) -> None:
    """What they did there since the last turn is recorded as a change of nobody's turn, then taken with the rest."""
    top = make_repository(tmp_path / "repo", {"a": "0\n"})
    async with working(top, write(a="bob\n", b="bob\n")) as (app, session):
        tree = tmp_path / "trees" / session.id / "main"
        (tree / "b").write_text("bob\nann\n")
        events = await take(session, app, how)
        (change,) = only((event.fact for event in events), WorkspaceChanged)
        assert (change.is_outside, change.member, change.turn_id, change.added) == (True, "", "", 1)
        assert names(events)[-1] == "workspace.taken"
        branch = f"moot/{session.id}" if how == "keep" else "HEAD"
        taken = (top / "b").read_text() if how == "apply" else git(top, "show", f"{branch}:b") + "\n"
        assert taken == "bob\nann\n"


@awaited
async def test_edits_in_the_tree_of_a_plan_are_taken_too(tmp_path: Path) -> None:
    """Tasks come together in the tree of the whole: its branch follows what a person did there."""
    top = make_repository(tmp_path / "repo")
    team = plan_team([{"id": "mul", "title": "add mul"}], {"mul": [{"text": "mul", "files": {"calc.py": MUL}}]})
    async with open_app(team, folders={"coders": top}, trees=tmp_path / "trees") as app:
        session = await app.session()
        await say(session, "go")
        (tmp_path / "trees" / session.id / "main" / "NOTE").write_text("ann\n")
        events = await take(session, app, "merge")
        assert only((event.fact for event in events), WorkspaceChanged)[0].is_outside
    assert (top / "NOTE").read_text() == "ann\n"
    assert (top / "calc.py").read_text() == MUL


def test_edits_that_were_recorded_before_a_crash_are_found_again(tmp_path: Path) -> None:
    """The recording is the same one, so that the log still hears of it."""
    trees = SessionTrees(tmp_path / "trees", "s_1", make_repository(tmp_path / "repo"))
    author = Author(name="Moot", id="moot", at="2026-01-01T00:00:00Z")
    with trees.hold():
        trees.open_clone()
        trees.make_tree("main")
        trees.finish_tree("main")
        (trees.path("main") / "NOTE").write_text("ann\n")
        made = [trees.record_between("main", "take-1", author, b"edits", moves_branch=False) for _ in range(2)]
        assert made[0] is not None
        assert made[0] == made[1]
        assert trees.record_between("main", "take-2", author, b"edits", moves_branch=False) is None


@awaited
async def test_discarded_work_does_not_come_back(tmp_path: Path) -> None:
    """The tree is again what the person has, and later work starts from there; files left in it are kept aside."""
    top = make_repository(tmp_path / "repo", {"a": "0\n"})
    deeds = write(a="1\n"), write(a="bad\n", b="bad\n"), write(c="3\n")
    async with working(top, *deeds) as (app, session):
        await take(session, app, "merge")
        await say(session, "[NEXT: bob] more")
        tree = tmp_path / "trees" / session.id / "main"
        (tree / "left").write_text("ann\n")
        await take(session, app, "discard")
        assert sorted(path.name for path in tree.iterdir()) == [".git", "a"]
        assert (tree / "a").read_text() == "1\n"
        clone = tmp_path / "trees" / session.id / ".repository"
        assert git(clone, "show", f"refs/moot/{session.id}/discarded/2:left") == "ann"
        await say(session, "[NEXT: bob] more")
        await take(session, app, "merge")
    assert git(top, "ls-files").split() == ["a", "c"]
    assert "bad" not in git(top, "log", "-p")


@awaited
async def test_the_person_s_own_way_to_merge_counts(tmp_path: Path) -> None:
    """Whether the work can be merged is found out with their merge drivers; a hook may leave a program running."""
    top = make_repository(tmp_path / "repo", {"note": "start\n", ".gitattributes": "note merge=mine\n"})
    git(top, "config", "merge.mine.driver", "true")
    hook = top / ".git" / "hooks" / "post-merge"
    hook.write_text("#!/bin/sh\nsleep 600 >/dev/null 2>&1 &\necho $! > pid\n")
    hook.chmod(0o755)
    async with working(top, write(note="bob\n", new="1\n"), write(new="2\n")) as (app, session):
        (top / "note").write_text("ann\n")
        git(top, "commit", "--quiet", "--all", "--message", "ann")
        assert only((event.fact for event in await take(session, app, "merge")), WorkspaceTaken)
        assert only((event.fact for event in await say(session, "[NEXT: bob] more")), WorkspaceChanged)
        os.kill(int((top / "pid").read_text()), signal.SIGTERM)
    assert ((top / "note").read_text(), (top / "new").read_text()) == ("ann\n", "1\n")
