"""The workspace of a session: the trees that members work in, as far as the log knows of them.

What a turn did to a tree is a fact; the files themselves are git's. A tree has a name: `main` for the session's own,
which is also where the tasks of a plan come together, and one for each task whose member may edit.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

MAIN = "main"
# Git and the file system are given these names. A log may come from elsewhere, and then name an option or a folder.
COMMIT = r"^[0-9A-Za-z]*(?!\n)$"
Commit = Annotated[str, Meta(pattern=COMMIT)]
TreeName = Annotated[str, Meta(pattern=r"^[0-9A-Za-z_][0-9A-Za-z._-]*(?!\n)$")]
Branch = Annotated[str, Meta(pattern=r"^(?!-)[^\x00-\x20\x7f]*(?!\n)$")]
FileStatus = Literal["added", "modified", "deleted", "renamed"]
TakeHow = Literal["apply", "merge", "keep", "discard"]
Stage = Literal["task", "merge"]


class FileChange(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A file that a change touches. `was` is its name before, if it was renamed; a binary file has no lines."""

    path: str
    status: FileStatus
    added: int
    removed: int
    was: str = ""
    is_binary: bool = False


class LineCounts(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """How much a tree, or the work as a whole, differs from what it started from."""

    files: int = 0
    added: int = 0
    removed: int = 0


class Check(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """How a check command ended."""

    command: str
    exit: int
    tail: str = ""  # the end of its output


class Tree(Struct, frozen=True, kw_only=True, gc=False):
    """A tree, and what is recorded of it.

    `commit` is the newest recording. `files`, `added` and `removed` count what the task itself changed.
    """

    name: str
    branch: str
    base: str
    task_id: str = ""
    commit: str = ""
    added: int = 0
    removed: int = 0
    files: int = 0
    checked: str = ""  # the commit, or the tree of files, that the last checks ran on
    checks: tuple[Check, ...] = ()
    conflicts: tuple[str, ...] = ()  # files that are to be resolved
    is_merged: bool = False
    is_removed: bool = False
    is_discarded: bool = False  # with everything else that nobody had taken

    @property
    def is_unmerged(self) -> bool:
        """Whether it holds work of a task that is not part of the whole, and that nobody has discarded."""
        has_work = bool(self.task_id) and self.commit != self.base
        return has_work and not (self.is_merged or self.is_removed or self.is_discarded)

    @property
    def has_passed(self) -> bool:
        return bool(self.checks) and all(check.exit == 0 for check in self.checks)


class Taking(Struct, frozen=True, kw_only=True, gc=False):
    """A request of a person that git still has to carry out: to take the work, or to undo a part of it."""

    number: int
    how: TakeHow | Literal["undo"]
    by: str = ""
    at: str = ""
    turn_id: str = ""
    task_id: str = ""


class LineComment(Struct, frozen=True, kw_only=True, gc=False):
    """A comment on lines that waits to be sent together with others."""

    commit: str
    path: str
    lines: tuple[int, int]
    text: str
    hunk: str = ""
    to: str = ""

    @property
    def place(self) -> str:
        first, last = self.lines
        return f"{self.path}:{first}" + (f"–{last}" if last != first else "")


class Workspace(Struct, frozen=True, kw_only=True, gc=False):
    """All trees by name.

    `head` is the newest state of the work as a whole, `taken` the one that a person took last, `received` the one that
    is in their own files or branch: a kept branch is in neither. `is_undone`: the whole holds again just what the
    session started from.
    """

    trees: dict[str, Tree] = {}
    base: str = ""
    head: str = ""
    added: int = 0  # lines of the work as a whole
    removed: int = 0
    is_undone: bool = False
    taken: str = ""
    received: str = ""
    how: str = ""  # it was taken
    requests: int = 0
    pending: Taking | None = None
    is_removed: bool = False
    authors: dict[str, str] = {}  # commit → member, of the newest changes
    comments: tuple[LineComment, ...] = ()  # that are not sent yet

    def find(self, task_id: str) -> Tree | None:
        """The newest tree of a task."""
        return next((tree for tree in reversed(self.trees.values()) if tree.task_id == task_id), None)

    @property
    def has_work(self) -> bool:
        """Whether there is something that nobody has taken."""
        is_nothing = self.is_undone and not self.taken
        return bool(self.head) and self.head not in (self.base, self.taken) and not is_nothing

    @property
    def is_only_kept(self) -> bool:
        """Whether the newest work is a branch of the person, and not in their files."""
        return not self.is_removed and self.how == "keep" and self.head == self.taken != self.received

    @property
    def unmerged(self) -> tuple[str, ...]:
        """The tasks with work that is not part of the whole."""
        return tuple(dict.fromkeys(tree.task_id for tree in self.trees.values() if tree.is_unmerged))

    @property
    def is_needed(self) -> bool:
        """Whether there is work that would be lost with the trees."""
        return self.has_work or bool(self.unmerged)

    @property
    def is_spent(self) -> bool:
        """Whether there are trees with which nothing would be lost."""
        return bool(self.trees) and not (self.is_removed or self.is_needed)

    def name_for(self, task_id: str) -> str:
        """A name for a new tree of a task: its id, or with a number if an earlier task had the same id."""
        names, number, name = {MAIN, *self.trees}, 1, task_id
        while name in names:
            number += 1
            name = f"{task_id}-{number}"
        return name
