"""What people ask of a workspace, what git is to do because of it, and what is reported back."""

from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from moot.core.session.commands import HumanCommand, WorkerCommand
from moot.core.session.workspace import Branch, Check, Commit, FileChange, LineCounts, Stage, TakeHow, TreeName


class Take(HumanCommand, frozen=True, kw_only=True):
    """Take the work of the session: `apply` writes it into the files of the checkout, `merge` merges it into the
    branch, `keep` makes a branch of it, `discard` throws it away."""

    event: ClassVar[str] = "user.take"
    how: TakeHow


class Undo(HumanCommand, frozen=True, kw_only=True):
    """Take back what one turn or one task did to the files."""

    event: ClassVar[str] = "user.undo"
    turn_id: Annotated[str | None, Meta(description="the turn whose change is taken back")] = None
    task_id: Annotated[str | None, Meta(description="the task whose change is taken back")] = None


class Comment(HumanCommand, frozen=True, kw_only=True):
    """Comment on lines of a change. The member whose change it is gets a message that quotes them."""

    event: ClassVar[str] = "user.comment"
    commit: Annotated[Commit, Meta(description="of the change, as `workspace.changed` names it")]
    path: Annotated[str, Meta(description="of the file in the tree")]
    lines: Annotated[tuple[int, int], Meta(description="the first and the last line, of the new file")]
    text: str
    hunk: Annotated[str, Meta(description="the lines of the diff that the comment is about")] = ""
    is_last: Annotated[bool, Meta(description="false keeps the comment until the last one, to send them together")] = (
        True
    )


# what git is to do


class CheckTask(Struct, frozen=True, kw_only=True, gc=False):
    """Run the check commands on the work of a task."""

    task_id: str
    tree: str
    turn_id: str

    what: ClassVar[str] = "check"

    @property
    def key(self) -> str:
        return f"check:{self.tree}:{self.turn_id}"


class MergeTask(Struct, frozen=True, kw_only=True, gc=False):
    """Merge the work of a task into the whole.

    Args:
        number: of this try; the commit names it, so that one that was made before a crash is recognised.
        checked: the tree of files that passed the checks; another one is checked first.
        side: a person chose this side (`ours` is the work of others, `theirs` that of the task) for `files`, or edited
            the tree (`tree`).
    """

    task_id: str
    tree: str
    title: str
    number: int
    at: str
    member: str
    checked: str = ""
    side: str = ""
    files: tuple[str, ...] = ()

    what: ClassVar[str] = "merge"

    @property
    def key(self) -> str:
        return f"merge:{self.tree}:{self.number}"


class TakeWork(Struct, frozen=True, kw_only=True, gc=False):
    """Give a person the work.

    Args:
        base: what they have already: for `apply`, in their files.
        is_idle: nobody works in the tree of the whole, so what lies there is somebody's edit and belongs to the work.
        moves_branch: the branch of that tree follows what is recorded, because tasks come together there.
    """

    number: int
    how: TakeHow
    head: str
    base: str
    title: str
    at: str
    member: str = ""
    is_idle: bool = False
    moves_branch: bool = False

    what: ClassVar[str] = "take"

    @property
    def key(self) -> str:
        return f"take:{self.number}"


class UndoWork(Struct, frozen=True, kw_only=True, gc=False):
    """Take back what a turn recorded, or the merge of a task. The shell finds the commits."""

    number: int
    at: str
    turn_id: str = ""
    task_id: str = ""
    member: str = ""

    what: ClassVar[str] = "undo"

    @property
    def key(self) -> str:
        return f"undo:{self.number}"


class RemoveTrees(Struct, frozen=True, kw_only=True, gc=False):
    """The session is over: remove its trees."""

    trees: tuple[str, ...]

    what: ClassVar[str] = "remove"

    @property
    def key(self) -> str:
        return "remove_trees"


WorkspaceJob = CheckTask | MergeTask | TakeWork | UndoWork | RemoveTrees


# what is reported


class ReportTree(WorkerCommand, frozen=True, kw_only=True):
    """The tree of a turn is ready."""

    turn_id: str
    tree: TreeName
    branch: Branch
    base: Commit
    task_id: str = ""


class ReportChange(WorkerCommand, frozen=True, kw_only=True):
    """What lies in the tree of a turn was recorded."""

    turn_id: str
    tree: TreeName
    commit: Commit
    parent: Commit
    files: tuple[FileChange, ...]
    total: LineCounts | None = None  # of the tree
    task_id: str = ""
    is_outside: bool = False


class WorkspaceReport(WorkerCommand, frozen=True, kw_only=True):
    """The end of a job, or of a part of it."""


class ReportChecks(WorkspaceReport, frozen=True, kw_only=True):
    """How the check commands ended: all of them, or up to the first that failed. `files` is what was checked."""

    task_id: str
    checks: tuple[Check, ...]
    total: int
    turn_id: str = ""
    number: int = 0  # of the merge that needed them
    stage: Stage = "task"
    files: str = ""


class ReportMerge(WorkspaceReport, frozen=True, kw_only=True):
    task_id: str
    number: int
    commit: Commit
    parent: Commit
    files: tuple[FileChange, ...] = ()
    total: LineCounts | None = None  # of the whole


class ReportConflict(WorkspaceReport, frozen=True, kw_only=True):
    task_id: str
    number: int
    files: tuple[str, ...]
    commit: Commit = ""


class ReportEdits(WorkspaceReport, frozen=True, kw_only=True):
    """What somebody did in the tree of the whole outside of turns was recorded, before the work is taken."""

    number: int  # of the request
    commit: Commit
    parent: Commit
    files: tuple[FileChange, ...] = ()
    total: LineCounts | None = None  # of the whole


class ReportTaken(WorkspaceReport, frozen=True, kw_only=True):
    number: int
    commit: Commit
    branch: Branch = ""
    restored: Commit = ""  # what the whole is again, of work that was discarded
    total: LineCounts | None = None  # of what was restored


class ReportReverted(WorkspaceReport, frozen=True, kw_only=True):
    number: int
    commit: Commit
    parent: Commit
    tree: TreeName
    files: tuple[FileChange, ...] = ()
    total: LineCounts | None = None  # of the tree


class ReportRemoved(WorkspaceReport, frozen=True, kw_only=True):
    trees: tuple[str, ...]


class TellMissed(WorkerCommand, frozen=True, kw_only=True):
    """The machine with the trees of the session is gone, and nobody else can go on with it."""

    place: str


class FailJob(WorkspaceReport, frozen=True, kw_only=True):
    """A job could not be done; nothing has changed."""

    what: str  # check, merge, take, undo, remove
    detail: str
    task_id: str = ""
    number: int = 0
    files: tuple[str, ...] = ()
