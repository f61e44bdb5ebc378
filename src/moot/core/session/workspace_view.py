"""The public view of a workspace: the work as a whole, the tree of a task, and what changed."""

from typing import Literal

from msgspec import Struct

from moot.core.session.state import State
from moot.core.session.workspace import MAIN, FileChange, FileStatus, LineComment, Tree

TreeStage = Literal["working", "checking", "checked", "queued", "conflicted", "merged", "removed"]


class WorkspaceView(Struct, frozen=True, kw_only=True):
    """The work of a session whose members have trees.

    `has_work`: there are changes that nobody has taken. `pending` is what git does now because a person asked for it:
    apply, merge, keep, discard or undo. `comments` are kept until the last one, to be sent together.
    """

    branch: str = ""
    base: str = ""  # the commit that the work starts from
    head: str = ""  # the newest state of the work
    added: int = 0
    removed: int = 0
    has_work: bool = False
    taken: str = ""  # the state that a person took last
    how: str = ""  # it was taken
    pending: str = ""
    comments: tuple[LineComment, ...] = ()
    is_removed: bool = False


class CheckRow(Struct, frozen=True, kw_only=True):
    """How a check command ended; the log has its output."""

    command: str
    exit: int


class TreeRow(Struct, frozen=True, kw_only=True):
    """The tree of a task on the board. `place` is that in the merge queue, 1 for the task that is merged now."""

    name: str
    branch: str
    base: str
    commit: str
    stage: TreeStage
    added: int = 0
    removed: int = 0
    files: int = 0
    checks: tuple[CheckRow, ...] = ()
    place: int | None = None
    conflicts: tuple[str, ...] = ()  # files that are to be resolved


class Changes(Struct, frozen=True, kw_only=True):
    """A page of the files that differ between two commits, and counts of all.

    `next_offset` is where the next page starts; null if this is the last.
    """

    base: str
    commit: str
    files: tuple[FileChange, ...]
    total: int
    added: int
    removed: int
    offset: int = 0
    next_offset: int | None = None


class FileDiff(Struct, frozen=True, kw_only=True):
    """A page of the unified diff of one file between two commits.

    A binary or very large file has one line that says so. `next_offset` is where the next page starts, in characters;
    null if this is the last.
    """

    base: str
    commit: str
    path: str
    text: str
    status: FileStatus = "modified"
    was: str = ""  # the name before, of a file that was renamed
    added: int = 0
    removed: int = 0
    is_binary: bool = False
    offset: int = 0
    next_offset: int | None = None


def project_workspace(state: State) -> WorkspaceView | None:
    """Return the view of a session's workspace; None if its members have no trees."""
    if not state.team.has_trees:
        return None
    workspace = state.workspace
    main = workspace.trees.get(MAIN)
    return WorkspaceView(
        branch=main.branch if main else "",
        base=workspace.base,
        head=workspace.head,
        added=workspace.added,
        removed=workspace.removed,
        has_work=workspace.has_work,
        taken=workspace.taken,
        how=workspace.how,
        pending=workspace.pending.how if workspace.pending else "",
        comments=workspace.comments,
        is_removed=workspace.is_removed,
    )


def show_tree(tree: Tree, stage: TreeStage, place: int | None) -> TreeRow:
    """Return the view of a task's tree. What was merged or removed stays so, whatever its task waits for."""
    if tree.is_merged or tree.is_removed:
        stage = "merged" if tree.is_merged else "removed"
    return TreeRow(
        name=tree.name,
        branch=tree.branch,
        base=tree.base,
        commit=tree.commit,
        stage=stage,
        added=tree.added,
        removed=tree.removed,
        files=tree.files,
        checks=tuple(CheckRow(command=check.command, exit=check.exit) for check in tree.checks),
        place=place,
        conflicts=tree.conflicts,
    )
