"""Merges the work of one task into the whole, and takes changes back.

A merge has a number, which its commits name: one that was made before a crash is recognised and not made again.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from moot.core.errors import WorkspaceError
from moot.core.session.workspace import MAIN, FileChange, LineCounts
from moot.core.session.workspace_commands import MergeTask
from moot.runtime.workspaces.recordings import Author, Recording, write_message
from moot.runtime.workspaces.trees import SessionTrees, name_tree

_MARK = re.compile(rb"^(?:<<<<<<<|>>>>>>>)(?: .*)?$", re.MULTILINE)


_BESIDE = re.compile(r"(.+)~[0-9a-f]{40,64}(?:_\d+)?")  # what git calls a file whose name is a folder of the other side


class Merged(Struct, frozen=True, kw_only=True):
    """The work is part of the whole."""

    commit: str
    parent: str
    files: tuple[FileChange, ...] = ()
    total: LineCounts


class Conflict(Struct, frozen=True, kw_only=True):
    """The task's tree holds both sides of these files."""

    files: tuple[str, ...]
    commit: str


class Unchecked(Struct, frozen=True, kw_only=True):
    """The task's tree holds what the whole would be; it has to pass the checks first. `files` is the tree of files."""

    files: str


class Merger:
    """Merges one task. `author` is its executor."""

    def __init__(self, trees: SessionTrees, job: MergeTask, author: Author, seq: int = 0) -> None:
        self._trees = trees
        self._job = job
        self._author = author
        self._seq = seq
        self._git = trees.git
        self._name = name_tree(job.tree)
        self._main = f"refs/heads/{trees.branch(MAIN)}"
        self._branch = f"refs/heads/{trees.branch(self._name)}"
        self._conflicts = f"{trees.refs}/conflicts/{self._name}"
        self._key = f"{self._name}.{job.number}"

    def merge(self, *, needs_checks: bool) -> Merged | Conflict | Unchecked:
        """Go as far as possible: to the merge, to a conflict, or to files that have not passed the checks."""
        main, main_tree, merged_by = self._read(self._main, "Merge")
        if merged_by == self._key:
            self._sync_main(main)
            return self._describe(main)
        if self._job.side:
            self._resolve()
        head, head_tree, conflict_of = self._read(self._branch, "Conflict")
        if conflict_of == self._key:  # found before a crash
            self._trees.reset(self._name, head)
            return Conflict(files=self._find_unresolved(head), commit=head)
        unresolved = self._find_unresolved(head)
        if unresolved:
            return Conflict(files=unresolved, commit=head)
        done = self._git.run(
            "merge-tree", "--write-tree", "--name-only", "-z", "--no-messages", main, head, allowed=(0, 1)
        )
        tree, *files = done.parts
        if done.code:
            return self._keep_conflict(tree, tuple(dict.fromkeys(files)), head, main)
        if tree == main_tree:  # nothing that the others do not have already
            self._git.update_refs(f"update {self._trees.merged(self._name)} {head}")
            self._sync_main(main)
            return Merged(commit=main, parent=main, total=self._trees.count(MAIN, main))
        if needs_checks and tree != self._job.checked:
            if tree != head_tree or not self._git.is_ancestor(main, head):
                subject = f"Bring {self._job.tree} up to date"
                head = self._trees.commit(tree, [head, main], self._author, self._message(subject, update=self._key))
            self._trees.reset(self._name, head)
            return Unchecked(files=tree)
        return self._finish(tree, head, main)

    def _message(self, subject: str, *lines: str, **trailers: object) -> bytes:
        return write_message(subject, *lines, session=self._trees.session_id, task=self._job.task_id, **trailers)

    def _read(self, ref: str, trailer: str) -> tuple[str, str, str]:
        """Return the commit of a ref, its tree of files, and the value of a trailer of its message."""
        form = f"%H%n%T%n%(trailers:key=Moot-{trailer},valueonly,separator=%x2C)"
        commit, tree, *rest = self._git.run("log", "-1", f"--format={form}", ref).text.split("\n")
        return commit, tree, rest[0].strip() if rest else ""

    def _finish(self, tree: str, head: str, main: str) -> Merged:
        parents = [main] if self._trees.settings.merge == "squash" else [main, head]
        message = self._message(self._job.title, merge=self._key)
        commit = self._trees.commit(tree, parents, self._author, message)
        self._git.update_refs(
            f"update {self._main} {commit} {main}",
            f"update {self._trees.merged(self._name)} {head}",
        )
        self._sync_main(commit)
        return self._describe(commit)

    def _describe(self, commit: str) -> Merged:
        parent = self._git.run("rev-parse", f"{commit}^1").text
        recording = self._trees.describe(MAIN, commit, parent)
        return Merged(commit=commit, parent=parent, files=recording.files, total=recording.total)

    def _sync_main(self, commit: str) -> None:
        """Bring the tree of the whole to what the branch holds. What somebody left there is kept aside."""
        if not self._trees.is_ready(MAIN):
            return
        if self._trees.has_unsaved(MAIN):
            message = self._message("Left in the tree of the whole")
            self._trees.record(MAIN, self._author, message, f"left/{self._key}")
        self._trees.reset(MAIN, commit)

    # conflicts

    def _keep_conflict(self, tree: str, files: tuple[str, ...], head: str, main: str) -> Conflict:
        """Put both sides into the task's tree, as a commit that names the files."""
        message = self._message(f"Both sides of {self._job.tree}", *files, conflict=self._key)
        commit = self._trees.commit(tree, [head, main], self._author, message)
        self._git.update_refs(f"update {self._conflicts} {commit}", f"update {self._branch} {commit}")
        self._trees.reset(self._name, commit)
        return Conflict(files=files, commit=commit)

    def _list_conflicts(self) -> tuple[str, tuple[str, ...]]:
        """Return the last commit with both sides, and its files."""
        commit = self._git.find(self._conflicts)
        if commit is None:
            return "", ()
        return commit, self._read_lines(commit)

    def _read_lines(self, commit: str) -> tuple[str, ...]:
        """The lines of a message between its subject and its trailers."""
        body = self._git.run("log", "-1", "--format=%b", commit).output.decode(errors="surrogateescape")
        return tuple(line for line in body.partition("\n\n")[0].split("\n") if line and not line.startswith("Moot-"))

    def _find_unresolved(self, head: str) -> tuple[str, ...]:
        """The files of the last conflict that still hold marks, or that have no marks and nobody has touched."""
        commit, files = self._list_conflicts()
        if not files:
            return ()
        both, now = self._entries(commit, files), self._entries(head, files)
        sides = [self._entries(f"{commit}^{number}", files) for number in (1, 2)]
        settled = self._list_settled(commit)
        left = []
        for path in files:
            own = {mark for side in sides for mark in self._find_marks(side.get(path))}  # text of the file itself
            is_marked = bool(self._find_marks(now.get(path)) - own)
            is_untouched = both.get(path) == now.get(path) and not self._find_marks(both.get(path)) - own
            if is_marked or (is_untouched and path not in settled):
                left.append(path)
        return tuple(left)

    def _entries(self, commit: str, paths: Sequence[str]) -> dict[str, str]:
        """Path to `mode type hash`, for those that the commit has."""
        entries: dict[str, str] = {}
        for line in self._git.run("ls-tree", "-r", "-z", "--full-tree", commit, "--", *paths).parts:
            entry, _, path = line.partition("\t")
            entries[path] = entry
        return entries

    def _find_marks(self, entry: str | None) -> set[bytes]:
        """The lines of a file that look like marks of a conflict."""
        _, kind, blob = (entry or "  ").split(" ")
        return set(_MARK.findall(self._git.run("cat-file", "blob", blob).output)) if kind == "blob" else set()

    def _list_settled(self, conflict: str) -> tuple[str, ...]:
        """The files for which a person chose a side since this conflict: they may stay as they were."""
        chosen = self._git.find(f"{self._trees.refs}/settled/{self._name}")
        return self._read_lines(chosen) if chosen and self._git.is_ancestor(conflict, chosen) else ()

    def _resolve(self) -> None:
        """Carry out what a person chose: one side for some files, or what they made of the tree."""
        message = self._message("What a person decided", *self._job.files, resolve=self._key)
        if self._job.side == "tree":
            self._trees.record(self._name, self._author, message, f"resolved/{self._key}", moves_branch=True)
        head, tree, resolved = self._read(self._branch, "Resolve")
        if resolved != self._key:
            if self._job.side != "tree":
                tree = self._replace_files(head, self._find_side(), self._job.files)
            head = self._trees.commit(tree, [head], self._author, message)
        self._git.update_refs(
            f"update {self._branch} {head}",
            f"update {self._trees.refs}/settled/{self._name} {head}",
        )
        self._trees.reset(self._name, head)

    def _find_side(self) -> str:
        """The commit that has the side which a person chose."""
        conflict, _ = self._list_conflicts()
        if not conflict:
            raise WorkspaceError(f"no conflict of {self._job.tree} is known")
        return f"{conflict}^2" if self._job.side == "ours" else f"{conflict}^1"

    def _replace_files(self, commit: str, side: str, files: Sequence[str]) -> str:
        """Return the tree of `commit` with `files` as they are in `side`, without those that `side` does not have.

        A file that lies beside a folder of its name gets its name back, in place of the folder, if the side has it.
        """
        index = self._trees.clone / "moot" / "side.index"
        index.unlink(missing_ok=True)
        environment = {"GIT_INDEX_FILE": str(index)}
        self._git.run("read-tree", commit, environment=environment)
        beside = {path: found[1] for path in files if (found := _BESIDE.fullmatch(path))}
        entries = self._entries(side, [*files, *beside.values()])
        missing = f"0 - {'0' * len(commit)}"
        replaced = {path: entries.get(path, missing) for path in files}
        replaced.update({path: entries[path] for path in beside.values() if path in entries})
        lines = []
        for path, entry in replaced.items():
            mode, _, blob = entry.split(" ")
            lines.append(f"{mode} {blob}\t{path}")
        data = "".join(f"{line}\0" for line in lines).encode(errors="surrogateescape")
        self._git.run("update-index", "--replace", "-z", "--index-info", data=data, environment=environment)
        tree = self._git.run("write-tree", environment=environment).text
        index.unlink(missing_ok=True)
        return tree


def is_conflict(trees: SessionTrees, commit: str) -> bool:
    """Whether a commit holds both sides of a conflict."""
    form = "%(trailers:key=Moot-Conflict,valueonly)"
    return bool(trees.git.run("log", "-1", f"--format={form}", commit).text)


def merge_three(trees: SessionTrees, base: str, ours: str, theirs: str) -> tuple[str, tuple[str, ...]]:
    """Merge two trees of files with a given base. Returns the result and the files that conflict.

    Git finds the base of commits by itself, so it is given commits that have no other history.
    """
    author = Author(name="Moot", id="moot", at="")
    root = trees.commit(trees.git.tree(base), [], author, b"base\n")
    left = trees.commit(trees.git.tree(ours), [root], author, b"ours\n")
    right = trees.commit(trees.git.tree(theirs), [root], author, b"theirs\n")
    done = trees.git.run(
        "merge-tree", "--write-tree", "--name-only", "-z", "--no-messages", left, right, allowed=(0, 1)
    )
    tree, *files = done.parts
    return tree, tuple(dict.fromkeys(files)) if done.code else ()


def revert(
    trees: SessionTrees, name: str, commit: str, parent: str, author: Author, key: str, *, is_branch: bool
) -> Recording | tuple[str, ...]:
    """Take back the difference between two commits in a tree.

    Returns the recording, or the files that were changed again since."""
    ref = f"{trees.refs}/reverts/{key}"
    made = trees.git.find(ref)
    if made is None:
        message = write_message("What was done outside of turns", session=trees.session_id)
        trees.record(name, author, message, f"between/{key}", moves_branch=is_branch)
        now = trees.git.run("rev-parse", f"{trees.refs}/trees/{name}").text
        tree, files = merge_three(trees, commit, now, parent)
        if files:
            return files
        message = write_message(f"Take back {key}", session=trees.session_id, undo=key)
        made = trees.commit(tree, [now], author, message)
        trees.git.update_refs(f"update {ref} {made}")
    last = trees.git.run("rev-parse", f"{made}^1").text
    head = None if is_branch else trees.find_head(name)
    trees.reset(name, made, head)
    return trees.describe(name, made, last)
