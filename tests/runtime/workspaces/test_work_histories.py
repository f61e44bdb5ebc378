"""The work of sessions on real git: nothing is lost, anything can be taken back, every recorded state comes again."""

from pathlib import Path
from typing import Any

import pytest

from moot.app import App, Session, open_app
from moot.core.codec import Event
from moot.core.session.commands import Answer, Post
from moot.core.session.workspace_commands import Undo
from moot.core.session.workspace_events import WorkspaceChanged, WorkspaceFailed, WorkspaceReverted
from tests.core.teams import only
from tests.runtime.apps import has, until
from tests.runtime.workspaces.repositories import (
    BOTH,
    CALC,
    MUL,
    SUB,
    awaited,
    chat_team,
    git,
    make_repository,
    names,
    plan_team,
    say,
    take,
)

RESOLVED = {"text": "both", "files": {"calc.py": BOTH}}
README = {"text": "docs", "files": {"README": "mul and sub\n"}}
THREE: list[dict[str, Any]] = [
    {"id": "mul", "title": "add mul"},
    {"id": "sub", "title": "add sub"},
    {"id": "docs", "title": "write docs", "depends_on": ["mul", "sub"]},
]
SCRIPTS: dict[str, list[Any]] = {
    "mul": [{"text": "mul", "files": {"calc.py": MUL}}, RESOLVED],
    "sub": [{"text": "sub", "files": {"calc.py": SUB}}, RESOLVED],
    "docs": [README],
}


@pytest.mark.parametrize("_", range(6))
@awaited
async def test_two_executors_that_edit_one_file_at_once_lose_nothing(tmp_path: Path, _: int) -> None:
    """The plan that lost one of two functions in a shared folder: two tasks in one file, then the docs."""
    top = make_repository(tmp_path / "repo")
    async with open_app(plan_team(THREE, SCRIPTS), folders={"coders": top}, trees=tmp_path / "trees") as app:
        session = await app.session()
        await say(session, "add mul and sub, then docs")
        await take(session, app, "merge")
    assert (top / "calc.py").read_text() == BOTH
    assert (top / "README").read_text() == "mul and sub\n"
    assert sorted(git(top, "log", "--format=%s").split("\n")) == ["add mul", "add sub", "start", "write docs"]


@awaited
async def test_merge_keeps_the_commits_of_the_turns(tmp_path: Path) -> None:
    """With `merge: merge` the history has each recording, and a merge for each task."""
    top = make_repository(tmp_path / "repo")
    team = plan_team(THREE[:1], SCRIPTS, workspace={"merge": "merge"})
    async with open_app(team, folders={"coders": top}, trees=tmp_path / "trees") as app:
        session = await app.session()
        await say(session, "go")
        await take(session, app, "merge")
    assert git(top, "log", "--format=%s", "--topo-order").split("\n") == ["add mul", "will: mul", "start"]
    assert git(top, "log", "--merges", "--format=%s") == "add mul"


@pytest.mark.parametrize(("choice", "recorded"), [("use", "mine\n"), ("leave", "theirs\n")])
@awaited
async def test_uncommitted_changes_are_asked_about(tmp_path: Path, choice: str, recorded: str) -> None:
    """`base: working-tree` starts from them only if the person says so; their files stay as they are either way."""
    top = make_repository(tmp_path / "repo", {"calc.py": CALC, "note": "theirs\n"})
    (top / "note").write_text("mine\n")
    (top / "new").write_text("new\n")
    team = chat_team({"text": "1", "files": {"calc.py": MUL}}, workspace={"base": "working-tree"})
    async with open_app(team, folders={"pair": top}, trees=tmp_path / "trees") as app:
        session = await app.session()
        await session.submit(Post(text="[NEXT: bob] go"))

        async def is_asked() -> bool:
            return bool((await session.view()).questions)

        await until(is_asked)
        (question,) = (await session.view()).questions
        assert "note" in question.text
        await session.submit(Answer(step_id=question.step_id, choice=choice))
        await has(app, session, "workspace.changed")
        tree = tmp_path / "trees" / session.id / "main"
        assert (tree / "note").read_text() == recorded
        assert (tree / "new").exists() == (choice == "use")
        await take(session, app, "apply")
    assert ((top / "note").read_text(), (top / "new").read_text()) == ("mine\n", "new\n")
    assert (top / "calc.py").read_text() == MUL
    assert git(top, "diff", "--cached", "--name-only") == ""


@awaited
async def test_members_without_a_workspace_get_an_empty_folder(tmp_path: Path) -> None:
    """With `type: none` nothing is recorded, and the team's folder is not touched."""
    team = chat_team({"text": "1", "files": {"x.txt": "x\n"}}, workspace={"type": "none"})
    (tmp_path / "team").mkdir()
    async with open_app(team, folders={"pair": tmp_path / "team"}, trees=tmp_path / "trees") as app:
        session = await app.session()
        events = await say(session, "[NEXT: bob] go")
        assert not [event for event in events if event.fact.event.startswith("workspace.")]
        assert (tmp_path / "trees" / session.id / "empty" / "x.txt").read_text() == "x\n"
    assert list((tmp_path / "team").iterdir()) == []


async def _undo(app: App, session: Session, command: Undo, event: str) -> list[Event]:
    await session.submit(command)
    await has(app, session, event)
    return [event async for event in session.history()]


@awaited
async def test_turns_and_tasks_are_undone_by_new_commits(tmp_path: Path) -> None:
    """What came later stays; what was changed again since is refused, and nothing changes."""
    top = make_repository(tmp_path / "repo")
    replies = [
        {"text": "1", "files": {"a.txt": "1\n"}},
        {"text": "2", "files": {"b.txt": "2\n"}},
        {"text": "3", "files": {"b.txt": "3\n"}},
    ]
    async with open_app(chat_team(*replies), folders={"pair": top}, trees=tmp_path / "trees") as app:
        session = await app.session()
        for number in range(3):
            await say(session, f"[NEXT: bob] {number}")
        tree = tmp_path / "trees" / session.id / "main"
        events = await _undo(app, session, Undo(turn_id="t1"), "workspace.reverted")
        (reverted,) = only((event.fact for event in events), WorkspaceReverted)
        assert [(file.path, file.status) for file in reverted.files] == [("a.txt", "deleted")]
        assert not (tree / "a.txt").exists()
        assert (tree / "b.txt").read_text() == "3\n"
        workspace = (await session.state()).workspace
        assert (workspace.added, workspace.removed) == (1, 0), "b.txt was changed twice, and is one line"
        await _undo(app, session, Undo(turn_id="t2"), "workspace.failed")
        assert (tree / "b.txt").read_text() == "3\n"
        await take(session, app, "merge")
    assert git(top, "ls-files") == "b.txt\ncalc.py"


@awaited
async def test_trees_of_merged_tasks_make_room_for_others(tmp_path: Path) -> None:
    """A plan with more tasks than there is room for trees goes on; what was merged is kept."""
    top = make_repository(tmp_path / "repo", {"large": "x" * 300_000})
    tasks = [{"id": name, "title": name} for name in "abcd"]
    scripts = {name: [{"text": name, "files": {name: "1\n"}}] for name in "abcd"}
    team = plan_team(tasks, scripts, workspace={"max_disk_mb": 1}, max_parallel=1)
    async with open_app(team, folders={"coders": top}, trees=tmp_path / "trees") as app:
        session = await app.session()
        events = await say(session, "go")
        assert names(events, "workspace.merged") == ["workspace.merged"] * 4
        assert {path.name for path in (tmp_path / "trees" / session.id).glob("[!.]*")} == {"main", "c", "d"}
        await take(session, app, "apply")
    assert git(top, "status", "--porcelain").split() == ["??", "a", "??", "b", "??", "c", "??", "d"]


@awaited
async def test_a_task_is_undone_after_others_were_merged(tmp_path: Path) -> None:
    """The whole has the work of the others, and not that of the task."""
    top = make_repository(tmp_path / "repo")
    scripts: dict[str, list[Any]] = {
        "mul": [{"text": "mul", "files": {"mul.py": "1\n"}}],
        "sub": [{"text": "sub", "files": {"sub.py": "1\n"}}],
    }
    async with open_app(plan_team(THREE[:2], scripts), folders={"coders": top}, trees=tmp_path / "trees") as app:
        session = await app.session()
        await say(session, "go")
        await _undo(app, session, Undo(task_id="mul"), "workspace.reverted")
        await take(session, app, "apply")
    assert sorted(path.name for path in top.glob("*.py")) == ["calc.py", "sub.py"]


@awaited
async def test_a_turn_of_a_merged_task_is_undone_in_the_whole(tmp_path: Path) -> None:
    """What it did is part of the whole, so it is taken back there; the task's later turns stay."""
    top = make_repository(tmp_path / "repo")
    scripts: dict[str, list[Any]] = {
        "mul": [{"text": "mul", "files": {"mul.py": "1\n"}}, {"text": "more", "files": {"more.py": "1\n"}}],
        "sub": [{"text": "sub", "files": {"sub.py": "1\n"}}],
    }
    reviews = [{"review": {"pass": False, "feedback": "more"}}, *[{"review": {"pass": True}}] * 2]
    team = plan_team(THREE[:2], scripts, reviews=reviews, max_parallel=1)
    async with open_app(team, folders={"coders": top}, trees=tmp_path / "trees") as app:
        session = await app.session()
        await say(session, "go")
        events = [event async for event in session.history()]
        first = next(fact for fact in only((event.fact for event in events), WorkspaceChanged) if fact.task_id == "mul")
        await _undo(app, session, Undo(turn_id=first.turn_id), "workspace.reverted")
        await take(session, app, "merge")
    assert sorted(path.name for path in top.glob("*.py")) == ["calc.py", "more.py", "sub.py"]


@awaited
async def test_a_turn_that_resolved_a_conflict_is_not_undone_in_the_whole(tmp_path: Path) -> None:
    """Before it there were both sides with marks: nobody wants them back. The task can be undone."""
    top = make_repository(tmp_path / "repo")
    async with open_app(plan_team(THREE[:2], SCRIPTS), folders={"coders": top}, trees=tmp_path / "trees") as app:
        session = await app.session()
        await say(session, "go")
        events = [event async for event in session.history()]
        last = only((event.fact for event in events), WorkspaceChanged)[-1]
        events = await _undo(app, session, Undo(turn_id=last.turn_id), "workspace.failed")
        (failed,) = only((event.fact for event in events), WorkspaceFailed)
        assert failed.detail == "that turn resolved a conflict; undo its task instead"
        await _undo(app, session, Undo(task_id=last.task_id), "workspace.reverted")
        await take(session, app, "apply")
    assert (top / "calc.py").read_text() == (SUB if last.task_id == "mul" else MUL)
