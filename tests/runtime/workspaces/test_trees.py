"""Sessions that work in trees of a real repository."""

import shutil
from pathlib import Path

import pytest

from moot.app import open_app
from moot.core.errors import ConfigError
from moot.core.session.commands import End
from moot.core.session.events import SessionPaused
from moot.core.session.workspace_events import WorkspaceChanged, WorkspaceChecked, WorkspaceFailed, WorkspaceTaken
from moot.runtime.workspaces.trees import CLONE
from tests.core.teams import only
from tests.runtime.apps import has
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

PARSES = ["python3", "-c", "import ast; ast.parse(open('calc.py').read())"]
TWO = [{"id": "mul", "title": "add mul"}, {"id": "sub", "title": "add sub"}]
RESOLVED = {"text": "both", "files": {"calc.py": BOTH}}
SCRIPTS = {
    "mul": [{"text": "mul", "files": {"calc.py": MUL}}, RESOLVED],
    "sub": [{"text": "sub", "files": {"calc.py": SUB}}, RESOLVED],
}


@awaited
async def test_two_tasks_that_edit_one_file_lose_nothing(tmp_path: Path) -> None:
    """The second one conflicts, its executor resolves it in its own tree, and both functions are in the result."""
    top = make_repository(tmp_path / "repo")
    team = plan_team(TWO, SCRIPTS, workspace={"check": [PARSES]})
    async with open_app(team, folders={"coders": top}, trees=tmp_path / "trees") as app:
        session = await app.session()
        events = await say(session, "extend the calculator")
        assert names(events, "workspace.con") == ["workspace.conflicted"]
        assert names(events, "workspace.merged") == ["workspace.merged"] * 2
        workspace = (await session.state()).workspace
        assert {(tree.added, tree.removed) for tree in workspace.trees.values() if tree.task_id} == {(4, 0)}
        assert (workspace.added, workspace.removed) == (8, 0)
        assert (top / "calc.py").read_text() == CALC  # nothing of the person's is touched
        assert git(top, "for-each-ref", "--format=%(refname)") == f"refs/heads/main\nrefs/moot/{session.id}/base"
        taken = await take(session, app, "merge")
        assert only((event.fact for event in taken), WorkspaceTaken)[0].how == "merge"
    assert (top / "calc.py").read_text() == BOTH
    assert (
        git(top, "log", "--format=%an %s") == "will add mul\nwill add sub\nAnn start"
        or git(top, "log", "--format=%an %s") == "will add sub\nwill add mul\nAnn start"
    )
    assert git(top, "status", "--porcelain") == ""


@awaited
async def test_failed_checks_and_rejected_reviews_go_back_in_the_same_tree(tmp_path: Path) -> None:
    """A broken file does not pass, the executor mends it, the reviewer is shown the difference and sends it back."""
    top = make_repository(tmp_path / "repo")
    scripts = {
        "mul": [
            {"text": "broken", "files": {"calc.py": "def ("}},
            {"text": "mended", "files": {"calc.py": MUL}},
            {"text": "with a note", "files": {"NOTE": "mul\n"}},
        ]
    }
    reviews = [{"review": {"pass": False, "feedback": "a note is missing"}}, {"review": {"pass": True}}]
    team = plan_team(TWO[:1], scripts, reviews=reviews, workspace={"check": [PARSES]})
    async with open_app(team, folders={"coders": top}, trees=tmp_path / "trees") as app:
        session = await app.session()
        events = await say(session, "go")
        assert names(events, "workspace.checked") == ["workspace.checked"] * 3
        assert names(events, "task.sent_back") == ["task.sent_back"]
        assert names(events, "task.reviewed") == ["task.reviewed"] * 2
        await take(session, app, "apply")
    assert ((top / "calc.py").read_text(), (top / "NOTE").read_text()) == (MUL, "mul\n")
    assert git(top, "status", "--porcelain") == "M calc.py\n?? NOTE"


@awaited
async def test_each_turn_of_a_chat_is_recorded_with_its_author(tmp_path: Path) -> None:
    """One tree for the session; what a turn changed is a commit that names session, turn and event."""
    top = make_repository(tmp_path / "repo")
    first = {"text": "1", "files": {"calc.py": MUL}}
    second = {"text": "2", "files": {"a/b.txt": "x\n", "calc.py": None}}
    async with open_app(chat_team(first, second), folders={"pair": top}, trees=tmp_path / "trees") as app:
        session = await app.session()
        changes = only((event.fact for event in await say(session, "[NEXT: bob] one")), WorkspaceChanged)
        changes += only((event.fact for event in await say(session, "[NEXT: bob] two")), WorkspaceChanged)
        assert [(change.path, change.status) for change in changes[1].files] == [
            ("a/b.txt", "added"),
            ("calc.py", "deleted"),
        ]
        assert changes[1].parent == changes[0].commit
        clone = tmp_path / "trees" / session.id / ".repository"
        shown = git(clone, "log", "-1", "--format=%an%n%b", f"refs/moot/{session.id}/turns/t1")
        author, *trailers = shown.splitlines()
        assert author == "bob"
        assert trailers[:2] == [f"Moot-Session: {session.id}", "Moot-Turn: t1"]
        started = next(event for event in [event async for event in session.history()] if event.name == "turn.started")
        assert trailers[2] == f"Moot-Seq: {started.seq}"


@awaited
async def test_work_that_does_not_apply_is_refused_and_asked_about_again(tmp_path: Path) -> None:
    """The person changed the same lines meanwhile: their file stays as it is, byte for byte."""
    top = make_repository(tmp_path / "repo")
    reply = {"text": "1", "files": {"calc.py": CALC.replace("a + b", "b + a")}}
    async with open_app(chat_team(reply), folders={"pair": top}, trees=tmp_path / "trees") as app:
        session = await app.session()
        await say(session, "[NEXT: bob] one")
        (top / "calc.py").write_text(CALC.replace("a + b", "sum((a, b))"))
        events = await take(session, app, "apply")
        (failed,) = only((event.fact for event in events), WorkspaceFailed)
        assert failed.files == ("calc.py",)
        assert isinstance(events[-1].fact, SessionPaused)
        assert [question.code for question in (await session.view()).questions] == ["take_work"]
        await take(session, app, "keep")
    assert (top / "calc.py").read_text() == CALC.replace("a + b", "sum((a, b))")
    assert "b + a" in git(top, "show", f"moot/{session.id}:calc.py")


@pytest.mark.parametrize("kind", ["none", "bare", "empty"])
@awaited
async def test_a_place_without_trees_is_refused_before_anything_runs(tmp_path: Path, kind: str) -> None:
    """No repository, a bare one, one without a commit: one sentence says what to do."""
    folder = tmp_path / "place"
    folder.mkdir()
    if kind != "none":
        git(folder, "init", "--quiet", *(["--bare"] if kind == "bare" else []))
    said = {"none": "run git init", "bare": "bare repository", "empty": "has no commit yet"}[kind]
    with pytest.raises(ConfigError, match=said):
        async with open_app(chat_team("hi"), folders={"pair": folder}, trees=tmp_path / "trees"):
            pass
    assert not (tmp_path / "trees").exists()


@awaited
async def test_what_checks_leave_in_a_tree_is_no_work(tmp_path: Path) -> None:
    """New and changed files of a check command are neither recorded nor merged, also if it fails and runs again."""
    top = make_repository(tmp_path / "repo")
    litter = (
        "import pathlib; pathlib.Path('x.log').write_text('x'); f = pathlib.Path('calc.py'); text = f.read_text(); "
    )
    check = ["python3", "-c", f"{litter}f.write_text(text + '# seen'); raise SystemExit('mul' not in text)"]
    scripts = {"mul": [{"text": "not yet", "files": {"note": "1\n"}}, {"text": "now", "files": {"calc.py": MUL}}]}
    team = plan_team(TWO[:1], scripts, workspace={"check": [check]})
    async with open_app(team, folders={"coders": top}, trees=tmp_path / "trees") as app:
        session = await app.session()
        events = await say(session, "go")
        assert [fact.exit for fact in only((event.fact for event in events), WorkspaceChecked)] == [1, 0]
        changes = only((event.fact for event in events), WorkspaceChanged)
        assert [[file.path for file in change.files] for change in changes] == [["note"], ["calc.py"]]
        await take(session, app, "merge")
        await session.submit(End())
        await has(app, session, "workspace.removed")
    assert git(top, "ls-files") == "calc.py\nnote"
    assert (top / "calc.py").read_text() == MUL
    assert not (tmp_path / "trees" / session.id).exists()


@awaited
async def test_a_team_file_in_a_folder_that_no_commit_has(tmp_path: Path) -> None:
    """Its folder is made in each tree; checks run there. A link in its place leads nobody out of the tree."""
    top = make_repository(tmp_path / "repo")
    place = top / "new" / "team"
    place.mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    async with open_app(
        chat_team({"text": "1", "files": {"a.txt": "x\n"}}, "two"), folders={"pair": place}, trees=tmp_path / "trees"
    ) as app:
        session = await app.session()
        (change,) = only((event.fact for event in await say(session, "[NEXT: bob] one")), WorkspaceChanged)
        assert [file.path for file in change.files] == ["new/team/a.txt"]
        tree = tmp_path / "trees" / session.id / "main" / "new"
        shutil.rmtree(tree)
        tree.symlink_to(tmp_path / "outside")
        events = await say(session, "[NEXT: bob] two")
        assert any("leads out of the tree" in str(getattr(event.fact, "message", "")) for event in events)
    assert list((tmp_path / "outside").iterdir()) == []


@awaited
async def test_a_member_gives_moots_own_git_no_settings(tmp_path: Path) -> None:
    """A member can write into the clone, though not its settings. A file there that names others is not followed:
    they could name programs, which would run outside of the sandbox."""
    top = make_repository(tmp_path / "repo")
    replies = ({"text": "mul", "files": {"calc.py": MUL}}, {"text": "both", "files": {"calc.py": BOTH}})
    async with open_app(chat_team(*replies), folders={"pair": top}, trees=tmp_path / "trees") as app:
        session = await app.session()
        await say(session, "[NEXT: bob] write it")
        clone = tmp_path / "trees" / session.id / CLONE
        other, ran = tmp_path / "other", tmp_path / "ran"
        (other / "info").mkdir(parents=True)
        for name in ("objects", "refs", "packed-refs", "worktrees"):
            (other / name).symlink_to(clone / name)
        (other / "info" / "attributes").write_text("* filter=own merge=own\n")
        program = f"touch {ran}; cat"
        (other / "config").write_text(
            (clone / "config").read_text()
            + f'[filter "own"]\n\tclean = "{program}"\n\tsmudge = "{program}"\n[merge "own"]\n\tdriver = "{program}"\n'
        )
        (clone / "commondir").write_text(f"{other}\n")
        assert names(await say(session, "[NEXT: bob] and the rest"), "workspace.ch") == ["workspace.changed"]
        await take(session, app, "apply")
        assert (await session.changes()).total == 1
    assert (top / "calc.py").read_text() == BOTH
    assert not ran.exists()
