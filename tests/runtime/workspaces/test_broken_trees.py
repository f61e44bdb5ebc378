"""What members do with git in their trees: nothing of it reaches others, and nothing ends the session."""

import asyncio
import subprocess
from pathlib import Path
from typing import Any

import pytest

from moot.app import open_app
from moot.core.flows.turns import TurnInput
from moot.core.session.events import TurnFailed
from moot.runtime.workspaces.work_changes import WorkChanges
from tests.runtime.workspaces.repositories import (
    MUL,
    awaited,
    git,
    make_repository,
    plan_team,
    say,
    take,
    working,
    write,
)


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


FORGETTING = {
    "Moot's": "git for-each-ref --format='delete %(refname)' refs/moot | git update-ref --stdin",
    "packed": "git pack-refs --all; sed -i '/moot/d' $(git rev-parse --git-common-dir)/packed-refs",
    "all": "rm -r $(git rev-parse --git-common-dir)/refs/*",
}


@pytest.mark.parametrize("refs", FORGETTING)
@awaited
async def test_refs_that_a_member_removed_are_made_again(tmp_path: Path, refs: str) -> None:
    """All that lies in the tree is taken, what was done before and after; the whole is counted from the start."""
    top = make_repository(tmp_path / "repo")

    def forget(folder: Path) -> None:
        (folder / "new").write_text("1\n")
        subprocess.run(FORGETTING[refs], shell=True, cwd=folder, check=True)  # noqa: S602 - the commands are above

    async with working(top, write(first="1\n"), forget, write(second="2\n")) as (app, session):
        for _ in range(2):
            events = await say(session, "[NEXT: bob] go on")
            assert [event.fact.message for event in events if isinstance(event.fact, TurnFailed)] == []
        assert (await session.state()).workspace.added == 3
        await take(session, app, "apply")
    assert git(top, "status", "--porcelain").splitlines() == ["?? first", "?? new", "?? second"]


@awaited
async def test_a_plan_goes_on_after_a_member_removed_all_refs(tmp_path: Path) -> None:
    """What was merged before is not lost: it lies in the tree of the whole."""
    top = make_repository(tmp_path / "repo")
    tasks: list[dict[str, Any]] = [{"id": "a", "title": "a"}, {"id": "b", "title": "b", "depends_on": ["a"]}]
    team = plan_team(tasks, {})
    team["members"][2]["agent"] = {"type": "python", "call": "played:elsewhere"}

    def forget(turn: TurnInput) -> str:
        (Path(turn.folder) / turn.task_id).write_text("1\n")
        if turn.task_id == "b":
            subprocess.run(FORGETTING["all"], shell=True, cwd=turn.folder, check=True)  # noqa: S602
        return "done"

    async def play(turn: TurnInput) -> str:
        return await asyncio.to_thread(forget, turn)

    async with open_app(team, folders={"coders": top}, trees=tmp_path / "trees", agents={"will": play}) as app:
        session = await app.session()
        await say(session, "go")
        await take(session, app, "merge")
    assert git(top, "ls-files").split() == ["a", "b", "calc.py"]


@awaited
async def test_what_a_member_does_not_check_out_is_not_deleted(tmp_path: Path) -> None:
    """A member that narrows its tree to one folder changes nothing of the others."""
    top = make_repository(tmp_path / "repo", {"kept/file": "kept\n", "calc.py": "calc\n"})

    def narrow(folder: Path) -> None:
        (folder / "wide").mkdir()
        (folder / "wide" / "new").write_text("1\n")
        git(folder, "add", "--all")
        git(folder, "sparse-checkout", "set", "wide")
        assert not (folder / "kept").exists()

    def widen(folder: Path) -> None:
        git(folder, "sparse-checkout", "disable")
        (folder / "kept" / "file").unlink()

    async with working(top, write(first="1\n"), narrow, write(second="2\n"), widen) as (app, session):
        for removed in (0, 0, 1):
            await say(session, "[NEXT: bob] go on")
            assert (await session.state()).workspace.removed == removed
        await take(session, app, "merge")
    assert git(top, "ls-files").split() == ["calc.py", "first", "second", "wide/new"]


@awaited
async def test_a_file_that_git_cannot_encode_is_named_until_somebody_mends_it(tmp_path: Path) -> None:
    """Nothing is recorded without it; what lies in the tree stays there and is recorded afterwards."""
    top = make_repository(tmp_path / "repo", {".gitattributes": "*.txt working-tree-encoding=UTF-16\n"})
    odd = write(**{"odd.txt": "a"})
    async with working(top, write(first="1\n"), odd, write(second="2\n")) as (app, session):
        tree = tmp_path / "trees" / session.id / "main"
        failed = [event.fact for event in await say(session, "[NEXT: bob] go on") if isinstance(event.fact, TurnFailed)]
        assert "odd.txt" in failed[0].message
        (tree / "odd.txt").write_text("a", encoding="utf-16")
        await say(session, "[NEXT: bob] go on")
        await take(session, app, "merge")
    assert git(top, "show", "HEAD:odd.txt") == "a"
    assert (top / "odd.txt").read_text(encoding="utf-16") == "a"


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
