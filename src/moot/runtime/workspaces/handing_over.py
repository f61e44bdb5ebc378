"""Gives a person the work of a session: in their files, in their branch, or as a branch.

Nothing is touched if it does not fit. Doing it again after a crash ends the same.
"""

import os
import stat
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from moot.core.errors import WorkspaceError
from moot.core.session.workspace import MAIN, LineCounts
from moot.runtime.workspaces.git import Git, GitFailed
from moot.runtime.workspaces.merging import merge_three
from moot.runtime.workspaces.recordings import Author, write_message
from moot.runtime.workspaces.trees import SessionTrees

LINK, EXECUTABLE, MODULE = "120000", "100755", "160000"
UNFINISHED = {  # files of git's folder that say what a person has begun
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
}


class Unfit(WorkspaceError):
    """The work conflicts with what the person has. `files` says where."""

    def __init__(self, message: str, files: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.files = files


class Taken(Struct, frozen=True, kw_only=True):
    commit: str
    branch: str = ""
    restored: str = ""
    total: LineCounts | None = None  # of what was restored


def gather(trees: SessionTrees, head: str, author: Author, title: str) -> str:
    """One commit with all the work since it was gathered last, for a chat whose turns are recorded apart.

    The integration branch of a plan is taken as it is, with one commit for each task.
    """
    git, ref = trees.git, f"{trees.refs}/gathered"
    branch = git.run("rev-parse", f"refs/heads/{trees.branch(MAIN)}").text
    last, tree = git.find(ref) or branch, git.tree(head)
    for known in (branch, last):
        if git.tree(known) == tree and git.is_ancestor(last, known):
            return known
    message = write_message(title or "Work of a session", session=trees.session_id)
    parents = [last] if git.is_ancestor(branch, last) else [last, branch]  # with commits that a member made itself
    return trees.commit(tree, parents, author, message)


def bring(trees: SessionTrees, commit: str, ref: str, *, is_forced: bool = False) -> None:
    """Copy a commit into the person's repository, under this name."""
    known = trees.repository.git.find(ref)
    if known != commit:
        trees.git.update_refs(f"update {trees.refs}/hand-over {commit}")
        spec = f"{'+' if is_forced else ''}{trees.refs}/hand-over:{ref}"
        trees.repository.git.run("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", str(trees.clone), spec)


def keep(trees: SessionTrees, commit: str) -> Taken:
    """Make a branch of the work in the person's repository. A branch with commits of their own is left as it is."""
    name, number = f"moot/{trees.session_id}", 1
    while not _may_move(trees, f"refs/heads/{name}", commit):
        number += 1
        name = f"moot/{trees.session_id}-{number}"
    bring(trees, commit, f"refs/heads/{name}")
    trees.git.update_refs(f"update {trees.refs}/gathered {commit}")
    return Taken(commit=commit, branch=name)


def _may_move(trees: SessionTrees, ref: str, commit: str) -> bool:
    """Whether moving a branch of the person to this commit loses nothing and changes no checkout."""
    known = trees.repository.git.find(ref)
    if known is None or known == commit:
        return True
    shown = trees.repository.git.run("for-each-ref", "--format=%(worktreepath)", ref).text
    return not shown and trees.git.is_ancestor(known, commit)


def merge(trees: SessionTrees, commit: str, title: str) -> Taken:
    """Merge the work into the person's branch, with their own hooks.

    Raises Unfit if it cannot be merged: that is found out beforehand, so that their files never hold half a merge.
    """
    bring(trees, commit, f"{trees.refs}/taken", is_forced=True)
    own = replace(trees.repository.git, has_hooks=True)
    head = own.run("rev-parse", "HEAD").text
    if not own.is_ancestor(commit, head):
        _merge(own, head, commit, f"Merge the work of Moot: {title or trees.session_id}")
    trees.git.update_refs(f"update {trees.refs}/gathered {commit}")
    return Taken(commit=commit)


def _merge(own: Git, head: str, commit: str, message: str) -> None:
    done = own.run("merge-tree", "--write-tree", "--name-only", "-z", "--no-messages", head, commit, allowed=(0, 1))
    tree, *files = done.parts
    _end_unfinished(own, commit, tree)
    if done.code:
        raise _refuse_merge(tuple(dict.fromkeys(files)))
    try:
        own.run("merge", "--no-edit", "--commit", "--no-squash", "--no-autostash", "-m", message, commit)
    except GitFailed as failure:
        unmerged = tuple(own.run("diff", "--name-only", "-z", "--diff-filter=U").parts)
        if own.find("MERGE_HEAD") == commit:
            own.run("merge", "--abort")
        reason = str(failure).removeprefix("git merge: ").strip().splitlines()
        raise _refuse_merge(unmerged, reason[0]) from None


def _refuse_merge(files: tuple[str, ...], reason: str = "") -> Unfit:
    return Unfit(f"it cannot be merged into your branch: {'; '.join(files[:20]) or reason}", files)


def _end_unfinished(own: Git, commit: str, tree: str) -> None:
    """End a merge of ours that was interrupted. Raises Unfit if the person is in the middle of something."""
    folder = own.folder / own.run("rev-parse", "--git-dir").text
    begun = next((name for name in UNFINISHED if (folder / name).exists()), None)
    if begun is None:
        return
    if own.find("MERGE_HEAD") == commit and own.run("write-tree", allowed=(0, 128)).text == tree:
        own.run("merge", "--abort")
        return
    what = UNFINISHED[begun]
    raise Unfit(f"a {what} is unfinished in your checkout; finish it (git {what} --continue) or end it (--abort) first")


def discard(trees: SessionTrees, commit: str, base: str, number: int) -> Taken:
    """Reset the whole to what the person already has. Its old state is kept aside while there are trees."""
    git, branch = trees.git, f"refs/heads/{trees.branch(MAIN)}"
    git.update_refs(f"update {trees.refs}/discarded/{number} {commit}")
    head = git.run("rev-parse", branch).text
    if trees.is_ready(MAIN):
        trees.reset(MAIN, base, base if git.is_ancestor(base, head) else head)
    return Taken(commit=commit, restored=base, total=trees.count(MAIN, base))


def apply(trees: SessionTrees, commit: str, base: str, number: int) -> Taken:
    """Write the work into the person's files, beside what they changed themselves. Raises Unfit if both touch the same.

    What lay there is kept in Moot's clone until the work is written, so that an interrupted attempt can go on.
    """
    ref = f"{trees.refs}/applied/{number}"
    before = trees.git.find(ref)
    if before is None:
        before = _snapshot(trees)
        trees.git.update_refs(f"update {ref} {before}")
    result, files = merge_three(trees, base, before, commit)
    if files:
        trees.git.update_refs(f"delete {ref}")
        raise Unfit(f"it does not apply to your files: you changed the same lines of {', '.join(files[:20])}", files)
    _write_files(trees, before, result, f"moot-{trees.session_id}")
    return Taken(commit=commit)


def _snapshot(trees: SessionTrees) -> str:
    """A commit, in Moot's clone, of what lies in the person's checkout. Their index and objects stay as they are."""
    git = trees.person_git
    index = Path(git.environment["GIT_INDEX_FILE"])
    index.unlink(missing_ok=True)
    head = git.run("rev-parse", "HEAD").text
    git.run("read-tree", head)
    git.run("add", "--all", "--", ":/")
    tree = git.run("write-tree").text
    index.unlink(missing_ok=True)
    return trees.commit(tree, [head], Author(name="Moot", id="moot", at=""), b"The person's files\n")


def _write_files(trees: SessionTrees, before: str, result: str, mark: str) -> None:
    """Change the person's files from one tree of files to another: each one whole or not at all.

    `mark` is the end of the names under which files are written first.
    """
    top = trees.repository.top
    changes = _list_changes(trees, before, result)
    removed = {path for path, _, new in changes if not new}
    seen: dict[str, tuple[int, ...]] = {}
    for path, old, new in changes:  # look at all of them first
        _check_place(top, path)
        seen[path] = _look(top / path)
        if not _is_emptied(top, path, removed):
            _check_content(trees, path, old, new)
    for path, _, new in sorted(changes, key=lambda change: bool(change[2])):  # a file may take the place of a folder
        target = top / path
        if _look(target) != seen[path] and not _is_emptied(top, path, removed):
            raise Unfit(f"{path} was changed meanwhile; take the work once more", (path,))
        mode, _, blob = new.partition(" ")
        if not new:
            target.unlink(missing_ok=True)
            _remove_empty(target.parent, top)
        elif mode != MODULE:
            _replace(trees, target, path, mode, blob, mark)


def _look(target: Path) -> tuple[int, ...]:
    """Return what changes whenever a file is written; empty if there is no file."""
    try:
        info = target.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return ()
    return info.st_ino, info.st_size, info.st_mtime_ns


def _is_emptied(top: Path, path: str, removed: set[str]) -> bool:
    """Whether there is a folder, or nothing any more, and all files in it are to be removed."""
    folder = top / path
    if folder.is_symlink() or not folder.is_dir():
        return not folder.is_symlink() and not folder.exists() and any(name.startswith(f"{path}/") for name in removed)
    found = [(Path(place) / name).relative_to(top) for place, _, names in os.walk(folder) for name in names]
    return all(str(name) in removed for name in found)


def _check_content(trees: SessionTrees, path: str, old: str, new: str) -> None:
    """Raise Unfit if a file is neither what it was nor what it is to be."""
    now = _hash(trees, trees.repository.top / path, old or new)
    if now in (old.partition(" ")[2], new.partition(" ")[2]):
        return
    if old:
        raise Unfit(f"{path} was changed meanwhile; nothing more was written", (path,))
    raise Unfit(f"{path} is there already, and your repository ignores it; nothing more was written", (path,))


def _list_changes(trees: SessionTrees, before: str, result: str) -> list[tuple[str, str, str]]:
    """Return each changed path with its old and new `mode hash`; empty where there is no file."""
    parts = trees.git.run("diff-tree", "-r", "-z", "--no-renames", before, result).parts
    changes = []
    for header, path in zip(parts[0::2], parts[1::2], strict=True):
        old_mode, mode, old, new, _ = header[1:].split(" ")
        changes.append(
            (path, "" if set(old) == {"0"} else f"{old_mode} {old}", "" if set(new) == {"0"} else f"{mode} {new}")
        )
    return changes


def _check_place(top: Path, path: str) -> None:
    """Raise Unfit if a link on the way leads out of the checkout."""
    parent = (top / path).parent
    while not parent.exists() and not parent.is_symlink():
        parent = parent.parent
    if not parent.resolve().is_relative_to(top.resolve()) or ".git" in Path(path).parts:
        raise Unfit(f"{path} leads out of the checkout", (path,))


def _hash(trees: SessionTrees, target: Path, kind: str) -> str:
    """Return the hash of what lies there now, as git would store it; empty if nothing does."""
    if kind.startswith(MODULE):
        return kind.partition(" ")[2]
    try:
        info = target.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    if stat.S_ISLNK(info.st_mode):
        return trees.git.run("hash-object", "--stdin", data=os.readlink(os.fsencode(target))).text
    if not stat.S_ISREG(info.st_mode):
        return "another kind of file"
    name = str(target.relative_to(trees.repository.top))
    return trees.person_git.run("hash-object", f"--path={name}", "--stdin", data=target.read_bytes()).text


def _replace(trees: SessionTrees, target: Path, path: str, mode: str, blob: str, mark: str) -> None:
    """Write one file at once, under another name first: the same one if it is done again after a crash."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name[:60]}.{mark}")
    temporary.unlink(missing_ok=True)
    try:
        if mode == LINK:
            os.symlink(trees.git.run("cat-file", "blob", blob).output, os.fsencode(temporary))
        else:
            temporary.write_bytes(trees.person_git.run("cat-file", "--filters", f"--path={path}", blob).output)
            temporary.chmod(_choose_permissions(target, temporary, is_executable=mode == EXECUTABLE))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _choose_permissions(target: Path, new: Path, *, is_executable: bool) -> int:
    """Return the mode of the replaced file, or of a new one; whoever may read an executable may run it."""
    known = target if target.is_file() and not target.is_symlink() else new
    readable = stat.S_IMODE(known.stat().st_mode) & ~0o111
    return readable | ((readable & 0o444) >> 2 if is_executable else 0)


def _remove_empty(folder: Path, top: Path) -> None:
    while folder != top:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
