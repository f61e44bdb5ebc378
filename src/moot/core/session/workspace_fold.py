"""How the state of a workspace follows the facts about it."""

from collections.abc import Callable
from typing import TypeVar

from msgspec.structs import replace

from moot.core import limits
from moot.core.facts import Fact, Fold
from moot.core.session import workspace_events as events
from moot.core.session.state import State
from moot.core.session.workspace import MAIN, Check, LineComment, LineCounts, Taking, Tree, Workspace

F = TypeVar("F", bound=Fact)


def _on(fold: Fold[State], kind: type[F], change: Callable[[Workspace, F], Workspace]) -> None:
    def apply(state: State, fact: F) -> State:
        return replace(state, workspace=change(state.workspace, fact))

    fold.on(kind)(apply)


def register(fold: Fold[State]) -> None:
    """Add the facts of workspaces to the fold of the session."""
    _on(fold, events.WorkspaceOpened, _open)
    _on(fold, events.WorkspaceChanged, _change)
    _on(fold, events.WorkspaceChecked, _check)
    _on(fold, events.WorkspaceMerged, _merge)
    _on(fold, events.WorkspaceConflicted, _conflict)
    _on(fold, events.WorkspaceResolved, _resolve)
    _on(fold, events.TakeRequested, _request_take)
    _on(fold, events.WorkspaceTaken, _take)
    _on(fold, events.UndoRequested, _request_undo)
    _on(fold, events.WorkspaceReverted, _revert)
    _on(fold, events.WorkspaceFailed, _fail)
    _on(fold, events.WorkspaceRemoved, _remove)
    _on(fold, events.LinesCommented, _comment)
    _on(fold, events.CommentsSent, lambda workspace, _: replace(workspace, comments=()))
    fold.ignore(events.WorkspaceQueued)


def _with_tree(workspace: Workspace, tree: Tree) -> Workspace:
    return replace(workspace, trees={**workspace.trees, tree.name: tree})


def _open(workspace: Workspace, fact: events.WorkspaceOpened) -> Workspace:
    known = workspace.trees.get(fact.tree)
    tree = Tree(name=fact.tree, branch=fact.branch, base=fact.base, task_id=fact.task_id or "", commit=fact.base)
    opened = _with_tree(workspace, replace(known, is_removed=False) if known else tree)
    return replace(opened, base=opened.base or fact.base, head=opened.head or fact.base, is_removed=False)


def _change(workspace: Workspace, fact: events.WorkspaceChanged) -> Workspace:
    tree = workspace.trees[fact.tree]
    total = fact.total or LineCounts(  # earlier versions did not count
        files=tree.files + len(fact.files) + fact.more,
        added=tree.added + fact.added,
        removed=tree.removed + fact.removed,
    )
    changed = replace(_recount(tree, total), commit=fact.commit, is_merged=False, is_discarded=False)
    workspace = replace(_with_tree(workspace, changed), authors=_add_author(workspace, fact.commit, fact.member))
    return _advance(workspace, fact) if fact.tree == MAIN else workspace


def _recount(tree: Tree, total: LineCounts) -> Tree:
    return replace(tree, files=total.files, added=total.added, removed=total.removed)


def _add_author(workspace: Workspace, commit: str, member: str) -> dict[str, str]:
    authors = {**workspace.authors, commit: member}
    while len(authors) > limits.CHANGED_FILES:
        del authors[next(iter(authors))]
    return authors


def _comment(workspace: Workspace, fact: events.LinesCommented) -> Workspace:
    if fact.is_last:
        return replace(workspace, comments=())
    comment = LineComment(
        commit=fact.commit, path=fact.path, lines=fact.lines, text=fact.text, hunk=fact.hunk, to=fact.to
    )
    return replace(workspace, comments=(*workspace.comments, comment))


def _advance(workspace: Workspace, fact: events.WorkspaceChanged | events.WorkspaceMerged) -> Workspace:
    """Move the head of the work to the commit of a fact, and count its lines."""
    added, removed = workspace.added + fact.added, workspace.removed + fact.removed
    return _become(workspace, fact.commit, fact.total or LineCounts(files=1, added=added, removed=removed))


def _become(workspace: Workspace, head: str, total: LineCounts) -> Workspace:
    return replace(workspace, head=head, added=total.added, removed=total.removed, is_undone=total.files == 0)


def _check(workspace: Workspace, fact: events.WorkspaceChecked) -> Workspace:
    tree = workspace.find(fact.task_id or "")
    if tree is None:
        return workspace
    earlier = tree.checks if fact.n > 1 else ()
    check = Check(command=fact.command, exit=fact.exit, tail=fact.tail)
    return _with_tree(workspace, replace(tree, checks=(*earlier, check), checked=fact.files))


def _merge(workspace: Workspace, fact: events.WorkspaceMerged) -> Workspace:
    tree = workspace.find(fact.task_id)
    if tree:  # comments on the merged lines reach who wrote them
        author = workspace.authors.get(tree.commit, "")
        workspace = replace(workspace, authors=_add_author(workspace, fact.commit, author))
    own = LineCounts(files=len(fact.files) + fact.more, added=fact.added, removed=fact.removed)
    merged = _with_tree(workspace, replace(_recount(tree, own), is_merged=True, conflicts=())) if tree else workspace
    main = merged.trees.get(MAIN)
    if main:
        merged = _with_tree(merged, replace(main, commit=fact.commit))
    return _advance(merged, fact)


def _conflict(workspace: Workspace, fact: events.WorkspaceConflicted) -> Workspace:
    tree = workspace.find(fact.task_id)
    if tree is None:
        return workspace
    return _with_tree(workspace, replace(tree, conflicts=fact.files, commit=fact.commit or tree.commit))


def _resolve(workspace: Workspace, fact: events.WorkspaceResolved) -> Workspace:
    tree = workspace.find(fact.task_id)
    if tree is None:
        return workspace
    left = tuple(path for path in tree.conflicts if path not in fact.files)
    return _with_tree(workspace, replace(tree, conflicts=left))


def _request_take(workspace: Workspace, fact: events.TakeRequested) -> Workspace:
    pending = Taking(number=fact.number, how=fact.how, by=fact.member or "", at=fact.at)
    return replace(workspace, requests=fact.number, pending=pending)


def _request_undo(workspace: Workspace, fact: events.UndoRequested) -> Workspace:
    pending = Taking(
        number=fact.number,
        how="undo",
        by=fact.member or "",
        at=fact.at,
        turn_id=fact.turn_id or "",
        task_id=fact.task_id or "",
    )
    return replace(workspace, requests=fact.number, pending=pending)


def _take(workspace: Workspace, fact: events.WorkspaceTaken) -> Workspace:
    done = replace(workspace, how=fact.how, pending=None)
    if not fact.restored:
        is_in_files = fact.how in ("apply", "merge")
        return replace(done, taken=fact.commit, received=fact.commit if is_in_files else workspace.received)
    trees = {
        name: replace(tree, commit=fact.restored) if name == MAIN else replace(tree, is_discarded=tree.is_unmerged)
        for name, tree in workspace.trees.items()
    }
    return _become(replace(done, trees=trees), fact.restored, fact.total or LineCounts())


def _revert(workspace: Workspace, fact: events.WorkspaceReverted) -> Workspace:
    tree = workspace.trees[fact.tree]
    total = fact.total or LineCounts(files=tree.files, added=tree.added, removed=tree.removed)
    reverted = replace(_with_tree(workspace, replace(_recount(tree, total), commit=fact.commit)), pending=None)
    if fact.tree != MAIN:
        return reverted
    known = fact.total or LineCounts(files=1, added=workspace.added, removed=workspace.removed)
    return _become(reverted, fact.commit, known)


def _fail(workspace: Workspace, fact: events.WorkspaceFailed) -> Workspace:
    is_pending = workspace.pending is not None and workspace.pending.number == fact.number
    failed = replace(workspace, pending=None) if is_pending else workspace
    return replace(failed, is_removed=True) if fact.what == "remove" else failed


def _remove(workspace: Workspace, fact: events.WorkspaceRemoved) -> Workspace:
    trees = {
        name: replace(tree, is_removed=True) if name in fact.trees else tree for name, tree in workspace.trees.items()
    }
    return replace(workspace, trees=trees, is_removed=True)
