"""What happens to the trees that members work in (docs/workspaces.md)."""

from typing import ClassVar

from moot.core.facts import Fact
from moot.core.session.workspace import Branch, Commit, FileChange, LineCounts, Stage, TakeHow, TreeName


class WorkspaceOpened(Fact, frozen=True, kw_only=True):
    """A tree is ready to work in. `base` is the commit that it starts from."""

    event: ClassVar[str] = "workspace.opened"
    tree: TreeName
    branch: Branch
    base: Commit
    task_id: str | None = None
    turn_id: str = ""  # of the turn that needed it


class WorkspaceChanged(Fact, frozen=True, kw_only=True):
    """What a turn did to its tree, recorded as a commit. `more` counts the files that are not listed.

    `total`: how much the tree differs from what it started from, without what it got from other tasks.
    `is_outside`: a person or a program did it outside of turns, before this turn, or before the work was taken: then
    there is no turn.
    """

    event: ClassVar[str] = "workspace.changed"
    author: ClassVar[str] = "member"
    turn_id: str
    commit: Commit
    parent: Commit
    files: tuple[FileChange, ...]
    member: str = ""
    tree: TreeName = "main"
    task_id: str | None = None
    added: int = 0
    removed: int = 0
    more: int = 0
    total: LineCounts | None = None
    is_outside: bool = False


class WorkspaceChecked(Fact, frozen=True, kw_only=True):
    """A check command ended. `n` of `total`; the first that fails is the last. `tail` is the end of its output.

    `stage`: `task` for the work of a task, `merge` for what it is together with the work of others.
    """

    event: ClassVar[str] = "workspace.checked"
    command: str
    exit: int
    tail: str
    task_id: str | None = None
    turn_id: str | None = None
    n: int = 1
    total: int = 1
    stage: Stage = "task"
    files: str = ""  # the tree of files that was checked


class WorkspaceQueued(Fact, frozen=True, kw_only=True):
    """A task waits to be merged, at this place of the queue."""

    event: ClassVar[str] = "workspace.queued"
    task_id: str
    place: int
    number: int = 0
    queued_at: str = ""


class WorkspaceMerged(Fact, frozen=True, kw_only=True):
    """The work of a task is part of the whole. `state` is where the task stands, `ready` who may start now.

    `total`: how much the whole differs from what the session started from.
    """

    event: ClassVar[str] = "workspace.merged"
    task_id: str
    commit: Commit
    parent: Commit = ""
    files: tuple[FileChange, ...] = ()
    added: int = 0
    removed: int = 0
    more: int = 0
    total: LineCounts | None = None
    state: str = ""
    ready: tuple[str, ...] = ()


class WorkspaceConflicted(Fact, frozen=True, kw_only=True):
    """The work of a task and that of others contradict each other in these files."""

    event: ClassVar[str] = "workspace.conflicted"
    task_id: str
    files: tuple[str, ...]
    commit: Commit = ""  # with both sides, as they are in the task's tree


class WorkspaceResolved(Fact, frozen=True, kw_only=True):
    """A person chose one side for files that contradicted each other."""

    event: ClassVar[str] = "workspace.resolved"
    author: ClassVar[str] = "member"
    task_id: str
    side: str  # ours, theirs, tree
    files: tuple[str, ...]
    member: str | None = None


class TakeRequested(Fact, frozen=True, kw_only=True):
    """A person asked for the work. `workspace.taken` follows when it is done."""

    event: ClassVar[str] = "workspace.take_requested"
    author: ClassVar[str] = "member"
    how: TakeHow
    number: int
    member: str | None = None
    at: str = ""


class WorkspaceTaken(Fact, frozen=True, kw_only=True):
    """A person has the work: in their files, merged into their branch, as a branch; or it was discarded.

    `restored` is what the whole is again after it was discarded: what the person has already; `total`: how much that
    differs from what the session started from.
    """

    event: ClassVar[str] = "workspace.taken"
    author: ClassVar[str] = "member"
    how: TakeHow
    commit: Commit
    branch: Branch = ""
    member: str | None = None
    number: int = 0
    restored: Commit = ""
    total: LineCounts | None = None


class UndoRequested(Fact, frozen=True, kw_only=True):
    """A person asked to take a turn or a task back. `workspace.reverted` follows when it is done."""

    event: ClassVar[str] = "workspace.undo_requested"
    author: ClassVar[str] = "member"
    number: int
    turn_id: str | None = None
    task_id: str | None = None
    member: str | None = None
    at: str = ""


class WorkspaceReverted(Fact, frozen=True, kw_only=True):
    """What a turn or a task did was taken back, by a new commit. `total`: how much its tree differs now."""

    event: ClassVar[str] = "workspace.reverted"
    author: ClassVar[str] = "member"
    commit: Commit
    parent: Commit
    files: tuple[FileChange, ...] = ()
    turn_id: str | None = None
    task_id: str | None = None
    tree: TreeName = "main"
    total: LineCounts | None = None
    member: str | None = None
    number: int = 0


class WorkspaceFailed(Fact, frozen=True, kw_only=True):
    """Git could not do what was asked: nothing changed. `detail` says why, `files` where."""

    event: ClassVar[str] = "workspace.failed"
    what: str  # take, undo, check, merge, resolve, remove
    detail: str
    task_id: str | None = None
    files: tuple[str, ...] = ()
    number: int = 0


class WorkspaceRemoved(Fact, frozen=True, kw_only=True):
    """Trees were removed; what they held is saved or was discarded."""

    event: ClassVar[str] = "workspace.removed"
    trees: tuple[TreeName, ...]


class LinesCommented(Fact, frozen=True, kw_only=True):
    """A person commented on lines of a change. The message that follows quotes them."""

    event: ClassVar[str] = "workspace.commented"
    author: ClassVar[str] = "member"
    content: ClassVar[str] = "text"
    commit: Commit
    path: str
    lines: tuple[int, int]
    text: str
    hunk: str = ""
    member: str | None = None
    to: str = ""
    is_last: bool = True  # it is sent now, with those before it


class CommentsSent(Fact, frozen=True, kw_only=True):
    """The comments that were kept are sent, by the message that follows; or they are dropped."""

    event: ClassVar[str] = "workspace.comments_sent"
    author: ClassVar[str] = "member"
    count: int
    is_dropped: bool = False
    member: str | None = None


WORKSPACE_FACTS: tuple[type[Fact], ...] = (
    WorkspaceOpened,
    WorkspaceChanged,
    WorkspaceChecked,
    WorkspaceQueued,
    WorkspaceMerged,
    WorkspaceConflicted,
    WorkspaceResolved,
    TakeRequested,
    WorkspaceTaken,
    UndoRequested,
    WorkspaceReverted,
    WorkspaceFailed,
    WorkspaceRemoved,
    LinesCommented,
    CommentsSent,
)
