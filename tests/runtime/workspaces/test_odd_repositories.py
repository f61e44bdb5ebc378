"""Repositories that are not plain: each works, or is refused with a sentence before anything runs.

The table of docs/workspaces.md says the same.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.app import open_app
from moot.core.errors import ConfigError
from moot.core.session.workspace_events import WorkspaceChanged
from moot.runtime.workspaces.git import NO_LFS
from tests.core.teams import only
from tests.runtime.workspaces.repositories import (
    CALC,
    MUL,
    awaited,
    chat_team,
    git,
    make_repository,
    say,
    take,
    working,
)

NEW = {"text": "done", "files": {"calc.py": MUL, "new/file.txt": "x\n"}}
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12345\n"


async def _work(top: Path, tmp_path: Path, how: str = "apply", reply: Any = NEW, **workspace: Any) -> list[str]:
    """Have a member change files, take the work, and return the paths that were recorded."""
    team = chat_team(reply, workspace=workspace)
    async with open_app(team, folders={"pair": top}, trees=tmp_path / "trees") as app:
        session = await app.session()
        events = await say(session, "[NEXT: bob] go")
        changes = only((event.fact for event in events), WorkspaceChanged)
        taken = await take(session, app, how)
        assert taken[-1].fact.event in ("workspace.taken", "session.paused"), taken[-1].fact
        assert any(event.fact.event == "workspace.taken" for event in taken), [event.fact for event in taken]
    return [file.path for change in changes for file in change.files]


def _commit(top: Path, message: str = "more") -> None:
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "--message", message)


def _submodule(top: Path) -> None:
    other = make_repository(top.parent / "other", {"lib.c": "int x;\n"})
    git(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "lib")
    _commit(top)


def _pointer(top: Path) -> None:
    (top / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    (top / "big.bin").write_text(POINTER)
    git(top, *NO_LFS, "add", "--all")
    git(top, "commit", "--quiet", "--message", "pointer")


def _real_lfs(top: Path) -> None:
    """A file that git-lfs itself keeps, with its hooks and its settings in the repository."""
    if shutil.which("git-lfs") is None:
        pytest.skip("git-lfs is not installed")
    git(top, "lfs", "install", "--local")
    git(top, "lfs", "track", "*.bin")
    (top / "big.bin").write_bytes(bytes(range(256)) * 400)
    _commit(top)
    assert "big.bin" in git(top, "lfs", "ls-files")


def _links(top: Path) -> None:
    (top / "out").symlink_to("/etc")
    (top / "loop").symlink_to("loop")
    _commit(top)


def _modes(top: Path) -> None:
    (top / "calc.py").chmod(0o755)
    _commit(top)


def _case_clash(top: Path) -> None:
    (top / "Readme").write_text("1\n")
    (top / "README").write_text("2\n")
    _commit(top)


def _line_ends(top: Path) -> None:
    (top / ".gitattributes").write_text("*.py text eol=crlf\n")
    (top / "calc.py").write_bytes(CALC.replace("\n", "\r\n").encode())
    _commit(top)


def _detached(top: Path) -> None:
    git(top, "checkout", "--quiet", "--detach")


def _sparse(top: Path) -> None:
    (top / "deep").mkdir()
    (top / "deep" / "file").write_text("x\n")
    _commit(top)
    git(top, "sparse-checkout", "set", "--cone", "new")


def _signing(top: Path) -> None:
    git(top, "config", "commit.gpgsign", "true")
    git(top, "config", "gpg.program", "/bin/false")


def _odd_names(top: Path) -> None:
    for name in ("a b.txt", "文件.txt", '"quoted".txt', "-dash", "tab\there", "line\nbreak", ":colon", "*"):
        (top / name).write_text("x\n")
    (top / os.fsdecode(b"latin-\xe9")).write_text("x\n")
    _commit(top)


def _settings(top: Path) -> None:
    """Settings of the person that would change what git does or prints."""
    for name, value in {
        "core.autocrlf": "true",
        "core.safecrlf": "true",
        "diff.noprefix": "true",
        "diff.external": "/bin/false",
        "diff.renames": "false",
        "status.showUntrackedFiles": "no",
        "core.fsmonitor": "/bin/false",
        "merge.conflictStyle": "diff3",
        "color.ui": "always",
        "core.pager": "/bin/false",
        "push.default": "nothing",
        "fetch.prune": "true",
        "remote.origin.url": "/nowhere",
    }.items():
        git(top, "config", name, value)


def _converted(top: Path) -> None:
    """A checkout with other line ends than the commits, by a setting of the person alone."""
    git(top, "config", "core.autocrlf", "true")
    (top / "calc.py").unlink()
    git(top, "checkout", "--", ".")
    assert b"\r\n" in (top / "calc.py").read_bytes()


@pytest.mark.parametrize(
    "prepare",
    [
        *(_submodule, _pointer, _real_lfs, _links, _modes, _case_clash, _line_ends, _detached, _sparse),
        *(_signing, _odd_names, _settings, _converted),
    ],
)
@awaited
async def test_odd_repositories_work(tmp_path: Path, prepare: Callable[[Path], None]) -> None:
    """Exactly what the member changed is recorded and taken; everything else stays as it is, byte for byte."""
    top = make_repository(tmp_path / "a b 文件")
    prepare(top)
    before = _read_all(top)
    head = git(top, "rev-parse", "HEAD")
    assert await _work(top, tmp_path) == ["calc.py", "new/file.txt"]
    after = _read_all(top)
    is_converted = prepare in (_settings, _converted)
    assert after.pop("new/file.txt") == (b"x\r\n" if is_converted else b"x\n", False)
    text = MUL.replace("\n", "\r\n") if is_converted or prepare is _line_ends else MUL
    assert after.pop("calc.py") == (text.encode(), prepare is _modes)
    del before["calc.py"]
    assert after == before
    assert git(top, "rev-parse", "HEAD") == head


@pytest.mark.parametrize("how", ["apply", "merge"])
@awaited
async def test_a_large_file_that_a_member_changes_is_taken_whole(tmp_path: Path, how: str) -> None:
    """Its content goes to the repository's git-lfs; the commit has the pointer, the person the file."""
    top = make_repository(tmp_path / "repo")
    _real_lfs(top)
    reply: dict[str, Any] = {"text": "done", "files": {"big.bin": "new\n", "other.bin": "other\n"}}
    assert await _work(top, tmp_path, how, reply) == ["big.bin", "other.bin"]
    assert {name: (top / name).read_text() for name in reply["files"]} == reply["files"]
    if how == "merge":
        assert git(top, "status", "--porcelain") == ""
        assert git(top, "show", "HEAD:big.bin").startswith("version https://git-lfs.github.com/spec/v1")
        assert git(top, "lfs", "fsck") == "Git LFS fsck OK"


def _read_all(top: Path) -> dict[str, tuple[bytes, bool]]:
    """Every file with its content, or where it leads, and whether it is executable."""
    files = {}
    for place, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name != ".git"]
        for name in (*names, *(each for each in folders if (Path(place) / each).is_symlink())):
            path = Path(place) / name
            data = os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes()
            files[str(path.relative_to(top))] = data, os.access(path, os.X_OK) and not path.is_symlink()
    return files


@awaited
async def test_a_dirty_repository_keeps_what_is_uncommitted(tmp_path: Path) -> None:
    """Work starts from the commit; staged, changed and new files of the person stay, and so does what is staged."""
    top = make_repository(tmp_path / "repo", {"calc.py": CALC, "mine.txt": "1\n", "staged.txt": "1\n"})
    (top / "mine.txt").write_text("2\n")
    (top / "staged.txt").write_text("2\n")
    (top / "untracked.txt").write_text("2\n")
    git(top, "add", "staged.txt")
    assert await _work(top, tmp_path) == ["calc.py", "new/file.txt"]
    status = git(top, "status", "--porcelain", "--untracked-files=all").split("\n")
    assert sorted(line.strip() for line in status) == [
        *("?? new/file.txt", "?? untracked.txt", "M  staged.txt", "M calc.py", "M mine.txt"),
    ]


@awaited
async def test_hooks_run_only_where_the_person_merges(tmp_path: Path) -> None:
    """None in Moot's own commits and trees, or when work is kept; those of the person's merge do."""
    top = make_repository(tmp_path / "repo")
    seen = tmp_path / "hooks"
    for name in ("pre-commit", "post-commit", "post-checkout", "reference-transaction", "post-index-change"):
        hook = top / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\necho {name} >> {seen}\n")
        hook.chmod(0o755)
    (top / ".git" / "hooks" / "post-merge").write_text(f"#!/bin/sh\necho post-merge >> {seen}\n")
    (top / ".git" / "hooks" / "post-merge").chmod(0o755)
    await _work(top, tmp_path, "keep")
    assert not seen.exists()
    await _work(top, tmp_path, "merge")
    assert "post-merge" in seen.read_text().split()


@awaited
async def test_a_shallow_clone_works(tmp_path: Path) -> None:
    """Its history ends early; work on top of it does not need what is missing."""
    source = make_repository(tmp_path / "source")
    (source / "calc.py").write_text(f"{CALC}\n")
    _commit(source)
    (source / "calc.py").write_text(CALC)
    _commit(source)
    git(tmp_path, "clone", "--quiet", "--depth", "1", source.as_uri(), "shallow")
    await _work(tmp_path / "shallow", tmp_path, "merge")
    assert (tmp_path / "shallow" / "calc.py").read_text() == MUL
    assert git(tmp_path / "shallow", "rev-list", "--count", "HEAD") == "2"


@awaited
async def test_a_worktree_of_the_person_works(tmp_path: Path) -> None:
    """The team file may lie in a linked worktree: its branch and its files are the ones that are taken to."""
    main = make_repository(tmp_path / "main")
    git(main, "worktree", "add", "--quiet", "-b", "feature", str(tmp_path / "linked"))
    await _work(tmp_path / "linked", tmp_path, "merge")
    assert git(tmp_path / "linked", "branch", "--show-current") == "feature"
    assert (tmp_path / "linked" / "calc.py").read_text() == MUL
    assert (main / "calc.py").read_text() == CALC
    assert git(main, "status", "--porcelain") == ""


@awaited
async def test_a_repository_that_borrows_objects_works(tmp_path: Path) -> None:
    """A clone that shares the objects of another one."""
    make_repository(tmp_path / "source")
    git(tmp_path, "clone", "--quiet", "--shared", "source", "borrowed")
    await _work(tmp_path / "borrowed", tmp_path, "merge")
    assert (tmp_path / "borrowed" / "calc.py").read_text() == MUL


@awaited
async def test_hashes_of_the_longer_kind_work(tmp_path: Path) -> None:
    """A repository with SHA-256 object names."""
    top = tmp_path / "repo"
    top.mkdir()
    git(top, "init", "--quiet", "--object-format=sha256")
    (top / "calc.py").write_text(CALC)
    _commit(top)
    await _work(top, tmp_path, "merge")
    assert (top / "calc.py").read_text() == MUL


@awaited
async def test_a_merge_that_cannot_be_signed_is_refused(tmp_path: Path) -> None:
    """The person's own merge signs as they set it up; if that fails nothing is merged, and they are told."""
    top = make_repository(tmp_path / "repo")
    (top / "calc.py").write_text(f"{CALC}# later\n")
    team = chat_team({"text": "1", "files": {"new.txt": "x\n"}})
    async with open_app(team, folders={"pair": top}, trees=tmp_path / "trees") as app:
        session = await app.session()
        await say(session, "[NEXT: bob] go")
        _commit(top)
        _signing(top)
        events = await take(session, app, "merge")
        assert [event.fact.event for event in events if event.fact.event.startswith("workspace.")][
            -1
        ] == "workspace.failed"
    assert git(top, "status", "--porcelain") == ""
    assert not (top / "new.txt").exists()


@pytest.mark.parametrize(
    ("prepare", "sentence"),
    [
        (lambda top: None, "is in none; run git init and commit"),
        (lambda top: git(top, "init", "--quiet"), "has no commit yet"),
        (lambda top: git(top, "init", "--quiet", "--bare"), "is in a bare repository"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_runs(
    tmp_path: Path, prepare: Callable[[Path], object], sentence: str
) -> None:
    """The sentence says what to do."""
    top = tmp_path / "repo"
    top.mkdir()
    prepare(top)

    @awaited
    async def play() -> None:
        with pytest.raises(ConfigError, match=sentence):
            async with open_app(chat_team("x"), folders={"pair": top}, trees=tmp_path / "trees"):
                pass

    play()
    assert not (tmp_path / "trees").exists()


def test_a_base_that_names_nothing_is_refused(tmp_path: Path) -> None:
    """So is a name that would be an option of git."""
    top = make_repository(tmp_path / "repo")

    @awaited
    async def play(base: str) -> None:
        with pytest.raises(ConfigError, match="names no commit"):
            async with open_app(
                chat_team("x", workspace={"base": base}), folders={"pair": top}, trees=tmp_path / "trees"
            ):
                pass

    play("nowhere")
    play("--help")


@awaited
async def test_a_member_s_git_cannot_change_the_repository_of_the_person(tmp_path: Path) -> None:
    """Commits, branches, hooks and settings that a member makes in its tree stay in Moot's clone."""
    top = make_repository(tmp_path / "repo")
    refs, config = git(top, "for-each-ref", "refs/heads", "refs/tags"), (top / ".git" / "config").read_text()
    team = chat_team({"text": "1", "files": {"calc.py": MUL}}, {"text": "2", "files": {"b.txt": "b\n"}})
    async with open_app(team, folders={"pair": top}, trees=tmp_path / "trees") as app:
        session = await app.session()
        await say(session, "[NEXT: bob] go")
        tree = tmp_path / "trees" / session.id / "main"
        git(tree, "checkout", "--quiet", "-b", "own")
        git(tree, "commit", "--quiet", "--all", "--message", "own")
        git(tree, "tag", "mine")
        git(tree, "config", "core.hooksPath", str(tree))
        (tree / "post-commit").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (tree / "post-commit").chmod(0o755)
        await say(session, "[NEXT: bob] again")
        await take(session, app, "apply")
    assert git(top, "for-each-ref", "refs/heads", "refs/tags") == refs
    assert (top / ".git" / "config").read_text() == config
    assert (top / "b.txt").read_text() == "b\n"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("commits", [True, False])
@awaited
async def test_a_repository_that_a_member_makes_is_recorded_with_its_files(tmp_path: Path, commits: bool) -> None:
    """`git init` in a folder, as generators of projects do it, hides nothing; what is ignored there stays ignored."""
    top = make_repository(tmp_path / "repo", {".gitignore": "*.log\nvendor/\n"})

    def generate(folder: Path) -> None:
        for name in ("app", "vendor/lib"):
            (folder / name / "src").mkdir(parents=True)
            git(folder / name, "init", "--quiet")
            for file in ("src/main.c", "b.txt", "x.log"):
                (folder / name / file).write_text(f"{file}\n")
            if commits:
                git(folder / name, "add", "--all")
                git(folder / name, "commit", "--quiet", "--message", "start")

    async with working(top, generate, lambda tree: (tree / "app" / "b.txt").write_text("2\n")) as (app, session):
        events = await say(session, "[NEXT: bob] more")
        (change,) = only((event.fact for event in events), WorkspaceChanged)
        assert [file.path for file in change.files] == ["app/b.txt"]
        await take(session, app, "apply")
    assert git(top, "status", "--porcelain", "--untracked-files=all") == "?? app/b.txt\n?? app/src/main.c"
    assert (top / "app" / "b.txt").read_text() == "2\n"


@awaited
async def test_programs_that_a_member_names_in_its_settings_run_for_nobody_else(tmp_path: Path) -> None:
    """Filters and merge drivers of the clone are not those of Moot's own commands, which run outside of a sandbox."""
    top = make_repository(tmp_path / "repo")

    def plant(folder: Path) -> None:
        for name in ("filter.x.clean", "filter.x.smudge", "filter.x.process", "merge.x.driver", "diff.x.textconv"):
            git(folder, "config", name, f"touch {tmp_path}/ran; cat")
        (folder / ".gitattributes").write_text("* filter=x merge=x diff=x\n")
        (folder / "calc.py").write_text(MUL)

    async with working(top, plant, lambda tree: (tree / "calc.py").write_text(CALC + "# 2\n")) as (app, session):
        await say(session, "[NEXT: bob] more")
        await take(session, app, "apply")
    assert (top / "calc.py").read_text() == CALC + "# 2\n"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "place", ["refs/heads/moot/{id}", "worktrees/main/HEAD", "info/exclude", "objects/00", "objects/info/alternates"]
)
@awaited
async def test_a_link_that_a_member_plants_in_the_clone_is_not_written_through(tmp_path: Path, place: str) -> None:
    """Refs, settings and the state of a tree could lead to the person's own files: the turn fails and says where."""
    top = make_repository(tmp_path / "repo")
    before = git(top, "for-each-ref", "refs/heads")

    def plant(folder: Path) -> None:
        clone = folder.parent / ".repository"
        target = clone / place.format(id=folder.parent.name)
        if target.is_dir() or not target.exists():
            shutil.rmtree(target, ignore_errors=True)
            target.symlink_to(top / ".git" / "refs" / "heads")
        else:
            target.unlink()
            target.symlink_to(top / "calc.py")
        (folder / "calc.py").write_text(MUL)

    async with working(top, plant) as (_, session):
        told = [str(getattr(event.fact, "message", "")) for event in [event async for event in session.history()]]
        assert any("is a link that a member made" in each for each in told)
        failed = await say(session, "[NEXT: bob] again")
        assert any("is a link that a member made" in str(getattr(event.fact, "message", "")) for event in failed)
    assert git(top, "for-each-ref", "refs/heads") == before
    assert (top / "calc.py").read_text() == CALC
