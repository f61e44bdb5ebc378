"""Finds, repairs and removes trees that were left behind, also by a process that was killed."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from moot.core.errors import WorkspaceError
from moot.core.session.workspace import MAIN
from moot.runtime.workspaces.git import Git
from moot.runtime.workspaces.tree_files import measure
from moot.runtime.workspaces.trees import CLONE, LOCK, OWN, SessionTrees
from moot.runtime.workspaces.work_changes import open_trees

REFS = "refs/moot"


class FoundTrees(Struct, frozen=True, kw_only=True):
    """The trees of one session, as they lie on the disk.

    `is_busy`: another process works with them now. `half_made` names what a killed process left; `unsaved` the trees
    with files that no commit has. `has_work`: there are commits that the session did not start from. `problem`: why git
    cannot read them, for example because the repository that they were made from is gone.
    """

    session_id: str
    folder: Path
    trees: tuple[str, ...] = ()
    size: int = 0
    is_busy: bool = False
    half_made: tuple[str, ...] = ()
    unsaved: tuple[str, ...] = ()
    has_work: bool = False
    problem: str = ""


def find_all(root: Path) -> Iterator[FoundTrees]:
    """Yield the trees of all sessions. Nothing is changed."""
    for folder in sorted(root.iterdir()) if root.is_dir() else ():
        if folder.is_dir():
            try:
                yield _examine(root, folder)
            except WorkspaceError as error:
                yield FoundTrees(session_id=folder.name, folder=folder, size=measure(folder), problem=str(error))


def _examine(root: Path, folder: Path) -> FoundTrees:
    found = FoundTrees(session_id=folder.name, folder=folder, size=measure(folder))
    with _try_lock(folder) as is_free:
        if not is_free:
            return FoundTrees(session_id=folder.name, folder=folder, size=found.size, is_busy=True)
        if not (folder / CLONE).is_dir():
            half_made = tuple(sorted(entry.name for entry in folder.iterdir() if entry.name != LOCK))
            return FoundTrees(session_id=folder.name, folder=folder, size=found.size, half_made=half_made)
        trees = open_trees(root, folder.name)
        names = tuple(trees.list_trees())
        return FoundTrees(
            session_id=folder.name,
            folder=folder,
            trees=names,
            size=found.size,
            half_made=tuple(_list_half_made(trees, names)),
            unsaved=tuple(name for name in names if trees.path(name).is_dir() and trees.has_unsaved(name)),
            has_work=_has_work(trees),
        )


@contextmanager
def _try_lock(folder: Path) -> Iterator[bool]:
    """Hold the lock of a session's trees, if nobody has it. A folder without a lock file gets none."""
    path = folder / LOCK
    if not path.exists():
        yield True
        return
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        yield False
    else:
        yield True
    finally:
        os.close(descriptor)


def _list_half_made(trees: SessionTrees, ready: tuple[str, ...]) -> Iterator[str]:
    """Name the trees that were not finished or have lost their folder, and lock files of commands that were killed."""
    known = {entry.name for entry in (trees.clone / "worktrees").glob("*")}
    there = {entry.name for entry in trees.folder.iterdir() if entry.name not in (CLONE, OWN, LOCK, "empty")}
    yield from sorted(name for name in there if name not in ready)
    yield from sorted(name for name in known if name not in there)
    yield from sorted(str(lock.relative_to(trees.folder)) for lock in trees.clone.glob("*.lock"))


def _has_work(trees: SessionTrees) -> bool:
    base = trees.git.find(f"{trees.refs}/base")
    heads = trees.git.run("for-each-ref", "--format=%(objectname)", f"{trees.refs}/trees").lines
    main = trees.git.find(f"refs/heads/{trees.branch(MAIN)}")
    return any(head not in (base, None) for head in (*heads, main))


def repair(root: Path, found: FoundTrees) -> None:
    """Finish what a killed process left half done. Trees that were being made are made again when they are needed."""
    if not (found.folder / CLONE).is_dir():
        shutil.rmtree(found.folder, ignore_errors=True)
        return
    trees = open_trees(root, found.session_id)
    with trees.hold():  # sweeps lock files and half-made clones
        for name in found.half_made:
            tree = trees.path(name)
            if "/" not in name and tree.is_dir() and not trees.is_ready(name):
                shutil.rmtree(tree, ignore_errors=True)
            if trees.is_ready(name) and not tree.is_dir():
                trees.remove_tree(name)
        trees.git.run("worktree", "prune", "--expire=now")


def remove(root: Path, session_id: str) -> None:
    """Remove all trees of a session, its clone, and what the person's repository keeps for it."""
    if not (root / session_id / CLONE).is_dir():
        shutil.rmtree(root / session_id, ignore_errors=True)
        return
    trees = open_trees(root, session_id)
    with trees.hold():
        trees.remove_all()


def find_stray_refs(folder: Path, root: Path) -> list[str]:
    """List the refs that the repository of a folder keeps for sessions whose trees are gone."""
    try:
        done = Git(folder=folder).run("for-each-ref", "--format=%(refname)", REFS, allowed=(0, 128))
    except WorkspaceError:  # no git here
        return []
    return [ref for ref in done.lines if not (root / ref.split("/")[2] / CLONE).is_dir()]


def remove_refs(folder: Path, refs: list[str]) -> None:
    Git(folder=folder).update_refs(*(f"delete {ref}" for ref in refs))
