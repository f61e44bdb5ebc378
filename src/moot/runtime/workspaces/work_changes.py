"""What the work of a session changed: the whole, one task or one turn, as lists of files and diffs."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from moot.core import limits
from moot.core.codec import Event
from moot.core.errors import NotFound, Refused, WorkspaceError
from moot.core.session.team import Language
from moot.core.session.workspace import MAIN
from moot.core.session.workspace_events import (
    WorkspaceChanged,
    WorkspaceConflicted,
    WorkspaceMerged,
    WorkspaceOpened,
    WorkspaceRemoved,
    WorkspaceReverted,
    WorkspaceTaken,
)
from moot.core.session.workspace_view import Changes, FileDiff
from moot.runtime.workspaces.diffs import compare, read_diff, read_patch
from moot.runtime.workspaces.trees import CLONE, COPIED, SessionTrees, Settings, name_tree

REMEMBERED = 64  # sessions whose commits are not looked up again
PAGE_EVENTS = 1_000  # read at once


class EventSource(Protocol):
    """Where the events of a session are read."""

    async def read(self, session_id: str, after: int = 0, limit: int = PAGE_EVENTS) -> list[Event]: ...


def open_trees(root: Path, session_id: str) -> SessionTrees:
    """The trees of a session that is not open here. Raises Refused if it has none.

    The clone knows the repository that it was made of.
    """
    clone = root / session_id / CLONE
    if "/" in session_id or not clone.is_dir():
        raise Refused("trees_gone")
    git = SessionTrees(root, session_id, None, Settings()).git
    top = git.run("config", "--get", "remote.origin.url", allowed=(0, 1)).text
    copied = clone / "moot" / COPIED
    names = tuple(name for name in copied.read_text().split("\0") if name) if copied.is_file() else ()
    known = Path(top) if top and Path(top).is_dir() else None
    return SessionTrees(root, session_id, known, Settings(copy=names))


class Span(Struct, frozen=True):
    """Two commits of a tree, and what changed between them.

    `is_apart`: in a task's tree, which may have been brought up to date with the work of others. `is_branch`: the
    branch of the tree has it, as in a plan; in a chat the recordings are apart from the branch.
    """

    base: str
    commit: str
    is_apart: bool = False
    tree: str = MAIN
    is_branch: bool = False


class _Spans:
    """Finds, event by event, what the whole work, each task and each turn changed."""

    def __init__(self) -> None:
        self.seq = 0
        self.whole: Span | None = None
        self.tasks: dict[str, Span] = {}
        self.turns: dict[str, Span] = {}
        self._tree_of: dict[str, str] = {}  # the newest one of each task
        self._merged: set[str] = set()  # trees whose work is part of the whole

    def add(self, event: Event) -> None:
        if event.seq <= self.seq:  # somebody else reads the same
            return
        self.seq = event.seq
        match event.fact:
            case WorkspaceOpened() as fact:
                self.whole = self.whole or Span(fact.base, fact.base)
                if fact.task_id:
                    self.tasks[fact.task_id] = Span(fact.base, fact.base, is_apart=True)
                    self._tree_of[fact.task_id] = fact.tree
            case WorkspaceChanged() as fact:
                self._change(fact)
            case WorkspaceMerged() as fact:
                self._advance(fact.commit)
                self.tasks[fact.task_id] = Span(fact.parent or fact.commit, fact.commit, is_branch=True)
                self._merged.add(self._tree_of.get(fact.task_id, ""))
            case WorkspaceReverted(tree="main") as fact:
                self._advance(fact.commit)
            case WorkspaceTaken() as fact if fact.restored:
                self._advance(fact.restored)
            case _:
                pass

    def _change(self, fact: WorkspaceChanged) -> None:
        self._merged.discard(fact.tree)
        if fact.tree == MAIN:
            self._advance(fact.commit)
        if fact.task_id:
            self.tasks[fact.task_id] = _extend(self.tasks.get(fact.task_id), fact)
        if not fact.is_outside:
            self.turns[fact.turn_id] = _extend(self.turns.get(fact.turn_id), fact)

    def find_place(self, span: Span) -> Span:
        """Where a change is to be taken back: in the tree that it was made in, or in the whole if that has it."""
        return replace(span, tree=MAIN, is_branch=True) if span.tree in self._merged else span

    def _advance(self, commit: str) -> None:
        self.whole = Span(self.whole.base if self.whole else commit, commit)


def _extend(span: Span | None, fact: WorkspaceChanged) -> Span:
    return Span(
        span.base if span else fact.parent,
        fact.commit,
        is_apart=bool(span and span.is_apart),
        tree=fact.tree,
        is_branch=fact.tree != MAIN,
    )


def _resolve(trees: SessionTrees, span: Span) -> Span:
    """Leave out what a task's tree got from others when it was brought up to date."""
    if not span.is_apart:
        return span
    whole = f"refs/heads/{trees.branch(MAIN)}"
    base = trees.git.run("merge-base", whole, span.commit, allowed=(0, 1)).text
    return Span(base or span.base, span.commit)


class WorkChanges:
    """Reads what the work of sessions changed.

    Args:
        log: has the events that name the commits.
        root: the folder of all sessions' trees.
    """

    def __init__(self, log: EventSource, root: Path) -> None:
        self._log = log
        self._root = root
        self._found: OrderedDict[str, _Spans] = OrderedDict()  # of the sessions that were read last

    async def list_files(
        self, session_id: str, *, task: str | None = None, turn: str | None = None, offset: int = 0
    ) -> Changes:
        """List the files of the whole work, of a task or of a turn. Raises Refused, NotFound."""
        trees, span = await self._find(session_id, task, turn)
        files = await asyncio.to_thread(compare, trees.git, span.base, span.commit)
        page = files[offset : offset + limits.CHANGED_FILES]
        following = offset + len(page)
        return Changes(
            base=span.base,
            commit=span.commit,
            files=page,
            total=len(files),
            added=sum(file.added for file in files),
            removed=sum(file.removed for file in files),
            offset=offset,
            next_offset=following if following < len(files) else None,
        )

    async def read_diff(
        self, session_id: str, path: str, *, task: str | None = None, turn: str | None = None, offset: int = 0
    ) -> FileDiff:
        """Read a page of the diff of one file. Raises Refused, NotFound."""
        trees, span = await self._find(session_id, task, turn)
        diff = await asyncio.to_thread(partial(read_diff, trees.git, span.base, span.commit, path, offset))
        if diff is None:
            raise Refused("file_not_changed", detail=path[: limits.LABEL_CHARS])
        return diff

    async def read_patch(
        self, session_id: str, *, task: str | None = None, turn: str | None = None, language: Language
    ) -> str:
        """Read the unified diff of all files, bounded. Raises Refused, NotFound."""
        trees, span = await self._find(session_id, task, turn)
        return await asyncio.to_thread(read_patch, trees.git, span.base, span.commit, limits.PATCH_CHARS, language)

    async def find_recorded(self, session_id: str, at: int) -> dict[str, str]:
        """The newest commit of each tree at or before an event. Raises Refused if the trees are gone since."""
        recorded = await find_recorded(self._log, session_id, at)
        if recorded:
            open_trees(self._root, session_id)
        return recorded

    async def fork(self, source: str, copy: str, recorded: Mapping[str, str]) -> None:
        """Give a fork trees of its own, with the files that were recorded at its event."""
        if recorded:
            await asyncio.to_thread(self._fork_trees, open_trees(self._root, source), copy, recorded)

    def _fork_trees(self, source: SessionTrees, copy: str, recorded: Mapping[str, str]) -> None:
        named = {name if name == MAIN else name_tree(name): commit for name, commit in recorded.items()}
        forked = SessionTrees(self._root, copy, source.repository.top, source.settings)
        with source.hold(), forked.hold():
            forked.fork(source, named)

    async def _find(self, session_id: str, task: str | None, turn: str | None) -> tuple[SessionTrees, Span]:
        """Find the trees of a session and two commits. What was read of the log before is remembered."""
        spans = self._found.setdefault(session_id, _Spans())
        self._found.move_to_end(session_id)
        while len(self._found) > REMEMBERED:
            self._found.popitem(last=False)
        while events := await self._log.read(session_id, spans.seq):
            for event in events:
                spans.add(event)
        if turn is not None:
            found, code, detail = spans.turns.get(turn), "turn_without_changes", turn
        elif task is not None:
            found, code, detail = spans.tasks.get(task), "task_without_changes", task
        else:
            found, code, detail = spans.whole, "session_without_changes", ""
        if found is None:
            raise Refused(code, detail=detail[: limits.LABEL_CHARS])
        trees = open_trees(self._root, session_id)
        return trees, await asyncio.to_thread(_resolve, trees, found)


def find_tree(root: Path, session_id: str, task: str | None) -> Path:
    """The folder of a task's tree, or of the session's. Raises NotFound if there is none."""
    trees = open_trees(root, session_id)
    name = name_tree(task) if task else MAIN
    if not trees.is_ready(name):
        known = ", ".join(trees.list_trees()) or "none"
        raise NotFound(f"session {session_id} has no tree {task or MAIN!r}; there are: {known}")
    return trees.path(name)


async def find_span(log: EventSource, session_id: str, *, task: str, turn: str) -> Span:
    """What a turn or a task changed, and where to take it back. Raises WorkspaceError if it changed nothing."""
    spans = _Spans()
    while events := await log.read(session_id, spans.seq):
        for event in events:
            spans.add(event)
    found = spans.tasks.get(task) if task else spans.turns.get(turn)
    if found is None:
        raise WorkspaceError(f"{task or turn} changed no files")
    return spans.find_place(found)


async def find_recorded(log: EventSource, session_id: str, at: int) -> dict[str, str]:
    """The newest commit recorded of each tree at or before an event, by the tree's name.

    Nothing behind that event is read: it may be damaged, and the fork of what is before it is its repair.
    """
    newest: dict[str, str] = {}
    trees: dict[str, str] = {}  # the newest one of each task
    after = 0
    while after < at and (events := await log.read(session_id, after, min(PAGE_EVENTS, at - after))):
        for event in events:
            match event.fact:
                case WorkspaceOpened(tree=tree, base=base, task_id=task_id):
                    newest.setdefault(tree, base)
                    trees[task_id or ""] = tree
                case WorkspaceChanged(tree=tree, commit=commit) | WorkspaceReverted(tree=tree, commit=commit):
                    newest[tree] = commit
                case WorkspaceConflicted(task_id=task_id, commit=commit) if commit and task_id in trees:
                    newest[trees[task_id]] = commit
                case WorkspaceMerged(commit=commit):
                    newest[MAIN] = commit
                case WorkspaceTaken(restored=commit) if commit:
                    newest[MAIN] = commit
                case WorkspaceRemoved():
                    newest.clear()
                case _:
                    pass
        after = events[-1].seq
    return newest
