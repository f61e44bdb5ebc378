"""The trees of one session: worktrees of a bare clone of Moot's own, and what is recorded of them.

Every method may be interrupted between any two commands of git and called again: it looks at what is there before it
does anything. Commits are made from a tree, parents, a date and a message that are the same each time, so that doing
it again gives the same commit.
"""

import fcntl
import hashlib
import os
import re
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cached_property
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from moot.core.errors import WorkspaceError
from moot.core.session.workspace import MAIN, LineCounts
from moot.runtime.workspaces import guard
from moot.runtime.workspaces.diffs import compare
from moot.runtime.workspaces.git import NO_LFS, Git, Watch, ignore
from moot.runtime.workspaces.nested import add_all
from moot.runtime.workspaces.private_index import PrivateIndex
from moot.runtime.workspaces.recordings import Author, Recording, write_message
from moot.runtime.workspaces.repository import Repository
from moot.runtime.workspaces.tree_files import escape, exclude, is_inside, measure, read

CLONE = ".repository"
OWN = ".moot"  # what git reads for Moot's own commands in place of settings that a member may have changed
LOCK = ".lock"
READY, FORKED = "ready", "forked"  # marks of trees
COPIED = "copied"  # names of the copied files, for callers that do not know the team file
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_NAME_CHARS = 60
_SHARED = ("objects", "refs", "packed-refs", "worktrees")
_HEAD = re.compile(rb"ref: refs/\S+\s*|[0-9a-f]{40,64}\s*")
MEGABYTE = 1_048_576


class Settings(Struct, frozen=True, kw_only=True):
    """What the team file says about the trees."""

    base: str = "HEAD"
    copy: tuple[str, ...] = ()
    merge: str = "squash"
    max_disk_mb: int = 5_000


def name_tree(task_id: str) -> str:
    """The name of a task's tree and branch: its id, where that can be a file name and a branch."""
    name = _UNSAFE.sub("-", task_id).strip("-.")[:_NAME_CHARS].rstrip("-.")
    is_same = name == task_id and ".." not in name and not name.endswith(".lock") and name.lower() != MAIN
    if is_same:
        return name
    digest = hashlib.sha256(task_id.encode(errors="replace")).hexdigest()[:6]
    return f"{name.replace('..', '-').removesuffix('.lock')}-{digest}".lstrip("-")


class SessionTrees:
    """Makes, records and removes the trees of one session.

    Args:
        root: the folder of all sessions' trees.
        session_id: of the session.
        top: the person's repository; None for reading what is there.
        watch: is called before each command of git.
    """

    def __init__(
        self,
        root: Path,
        session_id: str,
        top: Path | None,
        settings: Settings | None = None,
        watch: Watch = ignore,
    ) -> None:
        self.session_id = session_id
        self.folder = root / session_id
        self.clone = self.folder / CLONE
        self.settings = settings or Settings()
        self._watch = watch
        self._top = top
        self._lock = threading.RLock()
        self._descriptor: int | None = None
        self._depth = 0
        self._is_swept = False
        self._lfs: tuple[str, ...] = () if shutil.which("git-lfs") else NO_LFS

    # names

    @property
    def refs(self) -> str:
        return f"refs/moot/{self.session_id}"

    def branch(self, name: str) -> str:
        return f"moot/{self.session_id}/{name}"

    def path(self, name: str) -> Path:
        return self.folder / name

    def _place(self, name: str) -> Path:
        """The git directory of a tree."""
        return self.clone / "worktrees" / name

    @property
    def exists(self) -> bool:
        return self.clone.is_dir()

    @property
    def _common(self) -> Path:
        """The git directory of Moot's own commands: the clone, but with settings that no member can change."""
        own = self.folder / OWN
        return own if own.is_dir() else self.clone

    def list_trees(self) -> list[str]:
        """The names of the trees that have their files."""
        marks = self.clone / "moot"
        return sorted(mark.stem for mark in marks.glob(f"*.{READY}")) if marks.is_dir() else []

    # locking

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Let nobody else change the trees meanwhile: no other thread, and no command of a process that was killed."""
        with self._lock:
            if self._depth == 0:
                self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._descriptor = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                fcntl.flock(self._descriptor, fcntl.LOCK_EX)  # inherited by each git: held until the last one ends
            self._depth += 1
            try:
                if self._depth == 1:
                    self._prepare()
                yield
            finally:
                self._depth -= 1
                if self._depth == 0 and self._descriptor is not None:
                    fcntl.flock(self._descriptor, fcntl.LOCK_UN)  # also for what a hook left running
                    os.close(self._descriptor)
                    self._descriptor = None

    def _prepare(self) -> None:
        """Check that no member redirects git, and remove what a killed process left."""
        guard.refuse_links(self.folder, self.clone)
        if not self._is_swept:
            self._sweep()
        guard.restore_borrowed(self.clone, self.folder / OWN)

    def _sweep(self) -> None:
        """Remove the lock files and half-made clones of a process that was killed."""
        self._is_swept = True
        shutil.rmtree(self.folder / f"{CLONE}.new", ignore_errors=True)
        shutil.rmtree(self.folder / f"{OWN}.new", ignore_errors=True)
        if self.exists:
            self._keep_settings()
            for place, folders, files in os.walk(self.clone):
                if "objects" in folders and Path(place) == self.clone:
                    folders.remove("objects")
                for name in files:
                    if name.endswith(".lock"):
                        with suppress(OSError):
                            (Path(place) / name).unlink()
        if self._top is not None and self._top.is_dir():
            for lock in (self._person_folder / self.refs).glob("*.lock"):
                with suppress(OSError):
                    lock.unlink()

    # git

    @property
    def repository(self) -> Repository:
        if self._top is None:
            raise WorkspaceError("the repository of this session is not known here; start with its team file")
        return Repository(self._top, self.session_id, watch=self._watch, descriptors=self._descriptors)

    @cached_property
    def _person_folder(self) -> Path:
        """The git directory of the person's repository."""
        return self.repository.common_folder()

    @property
    def git(self) -> Git:
        """Git for the clone."""
        return self._git(self.clone, {"GIT_DIR": str(self._common)})

    @property
    def person_git(self) -> Git:
        """Git for the files of the person: their settings decide what is stored and written, such as line ends.

        It knows the objects of the clone and stores new ones there; its index is one of Moot's own.
        """
        own = self.repository.git
        environment = {
            "GIT_OBJECT_DIRECTORY": str(self.clone / "objects"),
            "GIT_INDEX_FILE": str(self.clone / "moot" / "person.index"),
        }
        whole = ("-c", "core.sparseCheckout=false")  # a file that is not checked out is not there
        return replace(own, environment=environment, options=(*self._lfs, *whole))

    def git_in(self, name: str) -> Git:
        """Git for a tree. A `.git` that a member puts there is not looked at."""
        environment = {
            "GIT_DIR": str(self._place(name)),
            "GIT_COMMON_DIR": str(self._common),
            "GIT_WORK_TREE": str(self.path(name)),
        }
        return self._git(self.path(name), environment)

    def _index(self, name: str) -> PrivateIndex:
        return PrivateIndex(self.git_in(name), self._place(name), self.clone / "moot" / name)

    def _git(self, folder: Path, environment: dict[str, str]) -> Git:
        return Git(
            folder=folder,
            environment=environment,
            descriptors=self._descriptors,
            options=self._lfs,
            watch=self._watch,
        )

    @property
    def _descriptors(self) -> tuple[int, ...]:
        return () if self._descriptor is None else (self._descriptor,)

    def commit(self, tree: str, parents: Sequence[str], author: Author, message: bytes) -> str:
        """Make a commit; the same arguments give the same one."""
        linked = [part for parent in dict.fromkeys(parents) for part in ("-p", parent)]
        return self.git.run("commit-tree", tree, *linked, data=message, environment=author.environment()).text

    # making

    def open_clone(self, *, with_uncommitted: bool = False, at: str = "") -> str:
        """Make the clone if there is none. Returns the commit that the session starts from."""
        seconds = int(datetime.fromisoformat(at).timestamp()) if at else 0
        if self.exists:
            self._write_excludes()
            self._restore_base()
            return self.git.run("rev-parse", f"{self.refs}/base").text
        new = self.folder / f"{CLONE}.new"
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        index = new / "person.index" if with_uncommitted else None
        base = self.repository.pin(self.settings.base, index=index, at=f"@{seconds} +0000")
        outside = self._git(self.folder, {})
        outside.run("clone", "--quiet", "--bare", "--shared", "--", str(self.repository.top), str(new))
        git = self._git(new, {"GIT_DIR": str(new)})
        git.run("config", "core.logAllRefUpdates", "false")
        git.run("config", "gc.auto", "0")
        if not self._lfs:
            git.run("config", "lfs.storage", str(self._person_folder / "lfs"))
            git.run("config", "lfs.skipdownloaderrors", "true")  # a file that nobody has stays a pointer
        git.update_refs(
            f"update {self.refs}/base {base}",
            f"update refs/heads/{self.branch(MAIN)} {base}",
        )
        (new / "moot").mkdir(exist_ok=True)
        new.rename(self.clone)
        self._keep_settings()
        self._write_excludes()
        return base

    def _keep_settings(self) -> None:
        """Make the git directory for Moot's own commands: it shares all but settings with the clone.

        A member can give the clone filters and merge drivers, which are programs: they must run for it alone.
        """
        own, new = self.folder / OWN, self.folder / f"{OWN}.new"
        if own.is_dir():
            return
        (new / "info").mkdir(parents=True)
        shutil.copyfile(self.clone / "config", new / "config")
        shutil.copyfile(self.clone / "HEAD", new / "HEAD")
        guard.remember_borrowed(self.clone, new)
        if (self.clone / "shallow").is_file():  # a member's `git fetch --depth` cuts no history short for the others
            shutil.copyfile(self.clone / "shallow", new / "shallow")
        (self.clone / "worktrees").mkdir(exist_ok=True)
        for name in _SHARED:
            (new / name).symlink_to(Path("..", CLONE, name))
        new.rename(own)

    def _write_excludes(self) -> None:
        """Have git ignore what the person's repository ignores by a file of its own, and the files that are copied."""
        own = self._person_folder / "info" / "exclude"
        lines = read(own).splitlines()
        for copied in self.settings.copy:
            lines.append(os.fsencode("/" + escape(copied.strip("/"))))
        text = b"".join(line + b"\n" for line in lines)
        for folder in (self.clone, self._common):
            (folder / "info").mkdir(exist_ok=True)
            (folder / "info" / "exclude").write_bytes(text)
        (self.clone / "moot" / COPIED).write_text("\0".join(self.settings.copy))

    def _mark(self, name: str, what: str) -> Path:
        return self.clone / "moot" / f"{name}.{what}"

    def is_ready(self, name: str) -> bool:
        """Whether a tree has its files."""
        return self._mark(name, READY).exists()

    def is_set_up(self, name: str) -> bool:
        """Whether a tree is ready to work in. That of a fork has its files before the commands of the team ran."""
        return self.is_ready(name) and not self._mark(name, FORKED).exists()

    def make_tree(self, name: str) -> Path:
        """Make a tree, up to the point where it is to be set up: its files and those that are copied.

        A tree starts from the integration branch as it is when the tree is made first.
        """
        git, branch, path = self.git, self.branch(name), self.path(name)
        self._check_room(name)
        for half_made in (path, self._place(name)):
            shutil.rmtree(half_made, ignore_errors=True)
        if git.find(f"refs/heads/{branch}") is None:
            start = git.run("rev-parse", f"refs/heads/{self.branch(MAIN)}").text
            git.update_refs(f"create refs/heads/{branch} {start}", f"create {self.refs}/starts/{name} {start}")
        names = {"GIT_DIR": str(self.clone), "GIT_COMMON_DIR": str(self.clone)}  # the tree is to name the clone
        bare = self._git(self.clone, names)
        bare.run("worktree", "add", "--quiet", "--no-checkout", str(path), branch)
        self.git_in(name).run("reset", "--hard", "--quiet")
        self._copy_files(path)
        recorded = git.find(f"{self.refs}/trees/{name}")
        if recorded:  # the tree was there before
            self.reset(name, recorded, git.find(f"refs/heads/{branch}"))
        return path

    def finish_tree(self, name: str) -> str:
        """Mark a tree as set up. Returns the commit that it starts from."""
        start = self.find_start(name)
        if not self.is_ready(name):
            if self.git.find(f"{self.refs}/trees/{name}") is None:
                self.git.update_refs(f"create {self.refs}/trees/{name} {start}")
            self._mark(name, READY).touch()
        self._mark(name, FORKED).unlink(missing_ok=True)
        return start

    def find_start(self, name: str) -> str:
        return self.git.find(f"{self.refs}/starts/{name}") or self.git.run("rev-parse", f"{self.refs}/base").text

    def mend(self, name: str) -> None:
        """Make a tree that a member broke usable again: as it was recorded last, or with the files that lie in it."""
        path, place = self.path(name), self._place(name)
        if not path.is_dir():
            self.make_tree(name)
            self._mark(name, FORKED).touch()  # the commands of the team run again
        elif not (_HEAD.fullmatch(read(place / "HEAD")) and read(place / "commondir") and read(place / "gitdir")):
            place.mkdir(parents=True, exist_ok=True)
            (place / "HEAD").write_text(f"ref: refs/heads/{self.branch(name)}\n")
            (place / "commondir").write_text("../..\n")
            (place / "gitdir").write_text(f"{path / '.git'}\n")
            self.git_in(name).run("read-tree", f"refs/heads/{self.branch(name)}")
        for each in (MAIN, name):  # a task is counted and merged by comparing it with the whole
            if self.is_ready(each) and not self._has_ref(f"{self.refs}/trees/{each}"):
                self._restore_refs(each)

    def _has_ref(self, ref: str) -> bool:
        """Look for a ref without a command of git."""
        return (self.clone / ref).is_file() or f" {ref}\n".encode() in read(self.clone / "packed-refs")

    def _restore_base(self) -> None:
        """Name again what the session started from, if a member's git removed that."""
        base = f"{self.refs}/base"
        if not self._has_ref(base):
            start = self.repository.git.find(base)
            if start is None:
                raise WorkspaceError(f"{base} is gone, and with it what the session started from: a member removed it")
            self.git.update_refs(f"update {base} {start}")

    def _restore_refs(self, name: str) -> None:
        """Make the refs of a tree again that a member's git removed, and record what lies in the tree as one change."""
        self._restore_base()
        branch = f"refs/heads/{self.branch(name)}"
        start = self.git.find(branch) or self.find_start(name)
        self.git.update_refs(f"update {branch} {start}", f"update {self.refs}/trees/{name} {start}")
        message = write_message("What was found in the tree", session=self.session_id)
        self.record(name, Author(name="Moot", id="moot", at=""), message, f"left/{name}", moves_branch=True)

    def _check_room(self, new: str) -> None:
        """Make room for one more tree: those of merged tasks go first.

        Raises WorkspaceError if it would still take more than the team file allows.
        """
        trees = [name for name in self.list_trees() if name != new]
        if not trees:
            return
        used = measure(self.path(MAIN))  # they hold about the same
        most = self.settings.max_disk_mb * MEGABYTE // max(used, 1)
        for name in list(trees):
            if len(trees) >= most and self._is_spent(name):
                self.remove_tree(name)
                trees.remove(name)
        if len(trees) >= most:
            raise WorkspaceError(
                f"{len(trees)} trees of about {used // MEGABYTE} MB are here, and one more would exceed "
                f"workspace.max_disk_mb: {self.settings.max_disk_mb}; raise the setting, or have fewer tasks at once"
            )

    def merged(self, name: str) -> str:
        """Return the ref of a tree's last merged commit."""
        return f"{self.refs}/merged/{name}"

    def _is_spent(self, name: str) -> bool:
        """Whether all of a tree was merged and nobody works in it: it may go, and is made again if it is needed."""
        merged, branch = self.git.find(self.merged(name)), self.git.find(f"refs/heads/{self.branch(name)}")
        return merged is not None and merged == branch and self.path(name).is_dir() and not self.has_unsaved(name)

    def _copy_files(self, path: Path) -> None:
        """Copy the files that a tree needs and git does not have. They are never recorded."""
        top = self.repository.top
        for name in self.settings.copy:
            source, target = top / name, path / name
            if not is_inside(source, top) or not is_inside(target, path):
                raise WorkspaceError(f"workspace.copy: {name} leads out of the repository")
            if not source.exists():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
            else:
                shutil.copy2(source, target, follow_symlinks=False)

    # recording

    def record(
        self, name: str, author: Author, message: bytes, ref: str, *, moves_branch: bool = False
    ) -> Recording | None:
        """Record what lies in a tree as a commit, if it differs from the last recording. `ref` will name it.

        The commits that a member made itself stay as they are: they become a parent. With `moves_branch` the branch of
        the tree moves to the recording.
        """
        if not self.path(name).is_dir():
            raise WorkspaceError(
                f"{self.path(name)} is gone: something removed or moved the folder. "
                "The next turn finds it as it was recorded last"
            )
        self.mend(name)
        git = self._index(name).open()
        last = self.git.run("rev-parse", f"{self.refs}/trees/{name}", f"{self.refs}/trees/{name}^{{tree}}").lines
        tree = self._write_tree(git)
        head = git.find("HEAD")
        parents = [last[0]]
        if head and head != last[0] and not self.git.is_ancestor(head, last[0]):
            parents.append(head)
        if tree == last[1] and len(parents) == 1:
            return None
        commit = self.commit(tree, parents, author, message)
        moved = [f"update refs/heads/{self.branch(name)} {commit}"] if moves_branch else []
        self.git.update_refs(f"update {self.refs}/{ref} {commit}", f"update {self.refs}/trees/{name} {commit}", *moved)
        if moves_branch:
            self._index(name).give()
        return self.describe(name, commit, last[0])

    def describe(self, name: str, commit: str, parent: str) -> Recording:
        """Describe what a commit of a tree changed."""
        files, total = compare(self.git, parent, commit), self.count(name, commit)
        return Recording(commit=commit, parent=parent, files=files, total=total)

    def count(self, name: str, commit: str) -> LineCounts:
        """Count how a state of a tree differs from what the tree started from, without what it got from other tasks."""
        base = f"{self.refs}/base"
        if name != MAIN:
            whole = f"refs/heads/{self.branch(MAIN)}"
            base = self.git.run("merge-base", whole, commit, allowed=(0, 1)).text or base
        files = compare(self.git, base, commit)
        added, removed = sum(file.added for file in files), sum(file.removed for file in files)
        return LineCounts(files=len(files), added=added, removed=removed)

    def record_between(
        self, name: str, key: str, author: Author, message: bytes, *, moves_branch: bool
    ) -> Recording | None:
        """Record what happened outside of turns. What was recorded under this key before is returned again."""
        ref = f"between/{key}"
        made = self.git.find(f"{self.refs}/{ref}")
        if made:
            return self.describe(name, made, self.git.run("rev-parse", f"{made}^1").text)
        return self.record(name, author, message, ref, moves_branch=moves_branch)

    def begin_turn(
        self, name: str, key: str, author: Author, message: bytes, *, moves_branch: bool
    ) -> Recording | None:
        """Record what happened outside of turns, and remember where the turn starts.

        Returns what was recorded. To be called once a turn: `restore_turn` goes back to it.
        """
        recording = self.record_between(name, key, author, message, moves_branch=moves_branch)
        commit = self.git.run("rev-parse", f"{self.refs}/trees/{name}").text
        head = self.find_head(name)
        self.git.update_refs(
            f"update {self.refs}/before/{key} {commit}",
            f"update {self.refs}/heads/{key} {head}",
            f"delete {self.merged(name)}",  # somebody works in it
        )
        return recording

    def find_head(self, name: str) -> str:
        """The commit that a member's own git starts from in a tree; the last recording if the member has left none."""
        found = self.git_in(name).find("HEAD")
        return found or self.git.run("rev-parse", f"{self.refs}/trees/{name}").text

    def find_turn(self, key: str) -> str | None:
        """The commit that a turn started from, None if it did not start."""
        return self.git.find(f"{self.refs}/before/{key}")

    def restore_turn(self, name: str, key: str, author: Author) -> None:
        """Go back to where a turn started, because it runs again after a crash. What it had done is kept aside."""
        start = self.git.run("rev-parse", f"{self.refs}/before/{key}", f"{self.refs}/heads/{key}").lines
        self.record(name, author, write_message("Left by a turn that was interrupted", turn=key), f"left/{key}")
        self.reset(name, start[0], start[1])

    def reset(self, name: str, commit: str, head: str | None = None) -> None:
        """Make a tree exactly what a commit holds; ignored and copied files stay. `head` is where its branch points."""
        head = head or commit
        git, branch = self.git_in(name), f"refs/heads/{self.branch(name)}"
        self.git.update_refs(f"update {branch} {head}", f"update {self.refs}/trees/{name} {commit}")
        (self._place(name) / "HEAD").write_text(f"ref: {branch}\n")
        kept = [part for copied in self.settings.copy for part in ("-e", f"/{copied}")]
        git.run("read-tree", "--reset", "-u", commit)
        git.run("clean", "--quiet", "-f", "-d", *kept)
        self._index(name).remove()
        if head != commit:
            git.run("read-tree", head)

    def tidy(self, name: str, key: str, author: Author) -> None:
        """Reset a tree to its last recording, and keep aside what the checks left in it."""
        found = self._find_unsaved(name)
        if found is None:
            return
        commit = self.git.run("rev-parse", f"{self.refs}/trees/{name}").text
        head = self.find_head(name)
        message = write_message("Left by the checks", session=self.session_id)
        self.git.update_refs(f"update {self.refs}/left/{key} {self.commit(found, [commit], author, message)}")
        self.reset(name, commit, head)

    # removing

    def has_unsaved(self, name: str) -> bool:
        """Whether a tree holds something that no recording has."""
        return self._find_unsaved(name) is not None

    def _find_unsaved(self, name: str) -> str | None:
        """The files that lie in a tree, as git's tree, if no recording has them."""
        tree = self._write_tree(self._index(name).open())
        return tree if tree != self.git.tree(f"{self.refs}/trees/{name}") else None

    def _write_tree(self, git: Git) -> str:
        excluded = [each for copied in self.settings.copy for each in exclude(copied)]
        add_all(git, git.folder, excluded)
        return git.run("write-tree").text

    def remove_tree(self, name: str) -> None:
        """Remove a tree; its branch and what was recorded stay."""
        self._mark(name, READY).unlink(missing_ok=True)
        self._index(name).remove()
        for removed in (self.path(name), self._place(name)):
            shutil.rmtree(removed, ignore_errors=True)

    def remove_all(self) -> None:
        """Remove the trees, the clone and what the person's repository pins for it."""
        if self._top is not None and self._top.is_dir():
            self.repository.forget()
        for entry in list(self.folder.iterdir()):
            if entry.name != LOCK:
                shutil.rmtree(entry, ignore_errors=True) if entry.is_dir() else entry.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def fork(self, source: "SessionTrees", trees: dict[str, str]) -> None:
        """Make the trees of a fork: each holds what `source` had recorded in the given commit."""
        self.open_clone()
        self.git.run("fetch", "--quiet", str(source.clone), f"+{source.refs}/*:{self.refs}/from/*")
        base = source.git.run("rev-parse", f"{source.refs}/base").text
        self.git.update_refs(f"update {self.refs}/base {base}")
        self.repository.git.update_refs(f"update {self.refs}/base {base}")
        for name, commit in trees.items():
            start = source.find_start(name)
            branch = self.branch(name)
            self.git.update_refs(
                f"update refs/heads/{branch} {commit}",
                f"update {self.refs}/starts/{name} {start}",
                *self._find_decisions(name, commit),
            )
            if not self.is_ready(name):
                self.make_tree(name)
                self.finish_tree(name)
                self._mark(name, FORKED).touch()
            self.reset(name, commit)

    def _find_decisions(self, name: str, commit: str) -> Iterator[str]:
        """Yield the refs of the last conflict that a commit comes from, and of what a person chose for it."""
        for kind, trailer in (("conflicts", "Conflict"), ("settled", "Resolve")):
            named = f"--grep=Moot-{trailer}: {name}."
            found = self.git.run("log", "-1", "--format=%H", "--fixed-strings", named, commit).text
            if found:
                yield f"update {self.refs}/{kind}/{name} {found}"
