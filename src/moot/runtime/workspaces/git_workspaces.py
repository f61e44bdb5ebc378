"""The Workspaces port on real git: makes the trees of sessions, records turns, checks, merges, hands over."""

import asyncio
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from moot.core import limits
from moot.core.errors import NotFound, WorkspaceError
from moot.core.flows.turns import TreeVisit, TurnInput
from moot.core.session.commands import WorkerCommand
from moot.core.session.events import Option
from moot.core.session.team import Language
from moot.core.session.workspace import MAIN, Check
from moot.core.session.workspace_commands import (
    CheckTask,
    FailJob,
    MergeTask,
    RemoveTrees,
    ReportChange,
    ReportChecks,
    ReportConflict,
    ReportEdits,
    ReportMerge,
    ReportRemoved,
    ReportReverted,
    ReportTaken,
    ReportTree,
    TakeWork,
    UndoWork,
    WorkspaceJob,
    WorkspaceReport,
)
from moot.core.texts import render
from moot.runtime.ports import Ask, Entered, Handle, Log, Report
from moot.runtime.workspaces import handing_over
from moot.runtime.workspaces.diffs import read_patch
from moot.runtime.workspaces.git import Watch, ignore
from moot.runtime.workspaces.merging import Conflict, Merged, Merger, Unchecked, is_conflict, revert
from moot.runtime.workspaces.recordings import Author, Recording, write_message
from moot.runtime.workspaces.repository import WORKING_TREE
from moot.runtime.workspaces.trees import SessionTrees, Settings, name_tree
from moot.runtime.workspaces.work_changes import Span, find_span

R = TypeVar("R")
FILES_ASKED = 10  # that are named when people are asked about uncommitted changes
USE, LEAVE = "use", "leave"
PLACE = ".place"  # the file in the folder of all trees that names it
EMPTY = "empty"  # the folder of members whose workspace is of type none


class RunCommand(Protocol):
    """Runs a command of the team file in a folder. Returns its exit code and the end of its output."""

    async def __call__(self, argv: Sequence[str], folder: Path, clone: Path, timeout_s: float) -> tuple[int, str]: ...


class Worksite(Struct, frozen=True, kw_only=True):
    """What the team file says about its workspace.

    Args:
        top: the person's repository.
        place: where in the repository the team file is; members start there.
        setup: commands that run once in each new tree.
        checks: commands that must succeed before work counts as done.
        names: display names of the members, for commits.
    """

    top: Path
    settings: Settings
    place: Path = Path()
    setup: tuple[tuple[str, ...], ...] = ()
    checks: tuple[tuple[str, ...], ...] = ()
    check_timeout_s: float = 900.0
    run_command: RunCommand
    names: Mapping[str, str] = {}


class GitWorkspaces:
    """Implements the Workspaces port.

    Args:
        root: the folder of all sessions' trees.
        sites: the repositories, by the name of the team.
        spawn: runs jobs.
        log: where the commits of turns are looked up that are to be undone.
        watch: is called before each command of git, with the session's id bound.
    """

    def __init__(
        self,
        root: Path,
        sites: Mapping[str, Worksite],
        spawn: Callable[..., Any],
        log: Log,
        watch: Watch = ignore,
    ) -> None:
        self.root = root
        self._sites = sites
        self._spawn = spawn
        self._log = log
        self._watch = watch
        self._open: dict[str, SessionTrees] = {}
        self._entered: set[tuple[str, str]] = set()  # turns that began in this process: they were not killed

    def knows(self, team: str) -> bool:
        return team in self._sites

    def keep_place(self) -> str:
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self.root / PLACE
        if not path.exists():
            own = path.with_name(f"{PLACE}.{secrets.token_hex(4)}")
            own.write_text(f"{socket.gethostname()} {own.suffix[1:]}", encoding="utf-8")
            with suppress(FileExistsError):  # another process of this machine was faster
                path.hardlink_to(own)
            own.unlink()
        return path.read_text(encoding="utf-8")

    def trees(self, session_id: str, team: str) -> SessionTrees:
        """The trees of a session. Raises WorkspaceError if its repository is not known here."""
        if session_id not in self._open:
            site = self._site(team)
            self._open[session_id] = SessionTrees(self.root, session_id, site.top, site.settings, watch=self._watch)
        return self._open[session_id]

    def _site(self, team: str) -> Worksite:
        if team not in self._sites:
            raise WorkspaceError(f"team {team!r} has no workspace here; start with its team file")
        return self._sites[team]

    # turns

    async def enter(self, turn: TurnInput, team: str, ask: Ask) -> Entered:
        visit = turn.visit
        if visit is None:
            return Entered(turn=turn)
        if not visit.tree:
            folder = self.root / turn.session_id / EMPTY
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            return Entered(turn=replace(turn, folder=str(folder)))
        trees, site = self.trees(turn.session_id, team), self._site(team)
        with_uncommitted = await self._ask_about_uncommitted(trees, site, ask, turn.language)
        name = name_tree(visit.tree) if visit.tree != MAIN else MAIN
        await _in_thread(partial(self._open_clone, trees, with_uncommitted, visit.started_at))
        await self._make_ready(trees, site, MAIN)
        base = await self._make_ready(trees, site, name)
        reports: list[WorkerCommand] = [
            ReportTree(
                turn_id=turn.turn_id, tree=visit.tree, branch=trees.branch(name), base=base, task_id=visit.task_id
            )
        ]
        if visit.writes:
            recording = await _in_thread(partial(self._begin, trees, name, turn, visit))
            if recording:
                reports.append(_report_change(turn, visit, recording, is_outside=True))
        diff = await _in_thread(partial(self._read_patch, trees, name, turn.language)) if visit.wants_diff else ""
        folder = _find_place(trees, site, name)
        placed = replace(turn, folder=str(folder), clone=str(trees.clone), diff=diff)
        return Entered(turn=placed, reports=tuple(reports))

    def _open_clone(self, trees: SessionTrees, with_uncommitted: bool, at: str) -> None:
        with trees.hold():
            trees.open_clone(with_uncommitted=with_uncommitted, at=at)

    async def _ask_about_uncommitted(self, trees: SessionTrees, site: Worksite, ask: Ask, language: Language) -> bool:
        """Whether the session starts from changes that are in no commit: only if a person says so."""
        if site.settings.base != WORKING_TREE or trees.exists:
            return False
        files = await _in_thread(trees.repository.list_uncommitted)
        if not files:
            return False
        named = (*files[:FILES_ASKED], *(("…",) if len(files) > FILES_ASKED else ()))
        question = render("workspace_uncommitted", language, names=named)
        options = [Option(id=each, label=render(f"option.uncommitted.{each}", language)) for each in (USE, LEAVE)]
        return await ask(question, options, key="workspace.base", default=LEAVE) == USE

    async def _make_ready(self, trees: SessionTrees, site: Worksite, name: str) -> str:
        """Make a tree and set it up, unless that is done. Returns the commit that it starts from."""
        ready = await _in_thread(partial(self._find_ready, trees, name))
        if ready:
            return ready
        if not trees.is_ready(name):
            await _in_thread(partial(self._make_tree, trees, name))
        for argv in site.setup:
            folder = _find_place(trees, site, name)
            code, tail = await site.run_command(argv, folder, trees.clone, site.check_timeout_s)
            if code:
                raise WorkspaceError(f"workspace.setup: {' '.join(argv)} ended with {code}: {tail[-1_000:]}")
        return await _in_thread(partial(self._finish_tree, trees, name))

    def _find_ready(self, trees: SessionTrees, name: str) -> str:
        with trees.hold():
            if trees.is_ready(name):
                trees.mend(name)
            return trees.find_start(name) if trees.is_set_up(name) else ""

    def _make_tree(self, trees: SessionTrees, name: str) -> Path:
        with trees.hold():
            return trees.make_tree(name)

    def _finish_tree(self, trees: SessionTrees, name: str) -> str:
        with trees.hold():
            return trees.finish_tree(name)

    def _begin(self, trees: SessionTrees, name: str, turn: TurnInput, visit: TreeVisit) -> Recording | None:
        author = _author(turn, visit)
        started = turn.session_id, visit.key
        with trees.hold():
            if started not in self._entered and trees.find_turn(visit.key):
                trees.restore_turn(name, visit.key, author)
                self._entered.add(started)
                return None
            self._entered.add(started)
            outside = replace(author, name="Moot", id="moot")
            message = write_message("What was done outside of turns", session=turn.session_id, before=turn.turn_id)
            return trees.begin_turn(name, visit.key, outside, message, moves_branch=visit.moves_branch)

    def _read_patch(self, trees: SessionTrees, name: str, language: Language) -> str:
        with trees.hold():
            git = trees.git
            start = f"refs/heads/{trees.branch(MAIN)}" if name != MAIN else f"{trees.refs}/base"
            head = f"refs/heads/{trees.branch(name)}"
            base = git.run("merge-base", start, head, allowed=(0, 1)).text or start
            return read_patch(git, base, head, limits.REVIEWED_CHARS, language)

    async def leave(self, turn: TurnInput, team: str) -> tuple[WorkerCommand, ...]:
        visit = turn.visit
        if visit is None or not visit.writes:
            return ()
        trees = self.trees(turn.session_id, team)
        name = name_tree(visit.tree) if visit.tree != MAIN else MAIN
        recording = await _in_thread(partial(self._record, trees, name, turn, visit))
        return (_report_change(turn, visit, recording),) if recording else ()

    def _record(self, trees: SessionTrees, name: str, turn: TurnInput, visit: TreeVisit) -> Recording | None:
        subject = f"{turn.member.display_name}: {visit.task_id or turn.turn_id}"
        message = write_message(subject, session=turn.session_id, turn=turn.turn_id, seq=visit.seq, task=visit.task_id)
        with trees.hold():
            return trees.record(
                name, _author(turn, visit), message, f"turns/{turn.turn_id}", moves_branch=visit.moves_branch
            )

    # jobs

    def run(self, job: WorkspaceJob, session_id: str, team: str, report: Report) -> Handle:
        handle: Handle = self._spawn(self.carry_out(job, session_id, team, report))
        return handle

    async def carry_out(self, job: WorkspaceJob, session_id: str, team: str, report: Report) -> None:
        """Do a job and report how it ended."""
        files: tuple[str, ...] = ()
        try:
            end = await self._do(job, session_id, team, report)
        except handing_over.Unfit as unfit:
            files, end = unfit.files, None
            detail = str(unfit)
        except (WorkspaceError, OSError, NotFound) as error:
            end, detail = None, str(error)
        if end is None:
            task_id, number = getattr(job, "task_id", ""), getattr(job, "number", 0)
            end = FailJob(what=job.what, detail=detail, task_id=task_id, number=number, files=files)
        await report(end)

    async def _do(self, job: WorkspaceJob, session_id: str, team: str, report: Report) -> WorkspaceReport:
        trees, site = self.trees(session_id, team), self._site(team)
        if not (trees.exists or isinstance(job, RemoveTrees)):
            raise WorkspaceError(f"{trees.clone} is gone, or this session was forked without its files")
        match job:
            case CheckTask():
                name = name_tree(job.tree)
                files = await _in_thread(partial(self._find_files, trees, name))
                checks = await self._check(trees, site, name, job.turn_id)
                return ReportChecks(
                    task_id=job.task_id, turn_id=job.turn_id, checks=checks, total=len(site.checks), files=files
                )
            case MergeTask():
                return await self._merge(trees, site, job, report)
            case TakeWork():
                edits = await _in_thread(partial(self._record_edits, trees, job)) if job.is_idle else None
                if edits:
                    await report(_report_edits(job, edits))
                    job = replace(job, head=edits.commit)
                taken = await _in_thread(partial(self._take, trees, site, job))
                return ReportTaken(
                    number=job.number,
                    commit=job.head,
                    branch=taken.branch,
                    restored=taken.restored,
                    total=taken.total,
                )
            case UndoWork():
                span = await find_span(self._log, session_id, task=job.task_id, turn=job.turn_id)
                return await _in_thread(partial(self._undo, trees, site, job, span))
            case RemoveTrees():
                return await _in_thread(partial(self._remove, trees, job))

    def _find_files(self, trees: SessionTrees, name: str) -> str:
        with trees.hold():
            return trees.git.tree(f"refs/heads/{trees.branch(name)}")

    async def _check(self, trees: SessionTrees, site: Worksite, name: str, key: str) -> tuple[Check, ...]:
        """Run the check commands up to the first that fails. What they leave in the tree is removed."""
        checks: list[Check] = []
        for argv in site.checks:
            folder = _find_place(trees, site, name)
            code, tail = await site.run_command(argv, folder, trees.clone, site.check_timeout_s)
            checks.append(Check(command=" ".join(argv), exit=code, tail=tail[-limits.CHECK_TAIL_CHARS :]))
            if code:
                break
        await _in_thread(partial(self._tidy, trees, name, key))
        return tuple(checks)

    def _tidy(self, trees: SessionTrees, name: str, key: str) -> None:
        with trees.hold():
            trees.tidy(name, f"{name}.{key}", Author(name="Moot", id="moot", at=""))

    async def _merge(self, trees: SessionTrees, site: Worksite, job: MergeTask, report: Report) -> WorkspaceReport:
        outcome = await _in_thread(partial(self._try_merge, trees, site, job))
        if isinstance(outcome, Unchecked):
            checks = await self._check(trees, site, name_tree(job.tree), f"merge-{job.number}")
            told = ReportChecks(
                task_id=job.task_id,
                number=job.number,
                checks=checks,
                total=len(site.checks),
                stage="merge",
                files=outcome.files,
            )
            if checks and checks[-1].exit:
                return told
            await report(told)
            job = replace(job, checked=outcome.files)
            outcome = await _in_thread(partial(self._try_merge, trees, site, job))
        match outcome:
            case Merged():
                return ReportMerge(
                    task_id=job.task_id,
                    number=job.number,
                    commit=outcome.commit,
                    parent=outcome.parent,
                    files=outcome.files,
                    total=outcome.total,
                )
            case Conflict():
                return ReportConflict(
                    task_id=job.task_id, number=job.number, files=outcome.files, commit=outcome.commit
                )
            case Unchecked():
                raise WorkspaceError("the files changed while they were checked; try again")

    def _try_merge(self, trees: SessionTrees, site: Worksite, job: MergeTask) -> Merged | Conflict | Unchecked:
        author = Author(name=site.names.get(job.member, job.member), id=job.member, at=job.at)
        with trees.hold():
            trees.mend(name_tree(job.tree))
            return Merger(trees, job, author).merge(needs_checks=bool(site.checks))

    def _record_edits(self, trees: SessionTrees, job: TakeWork) -> Recording | None:
        """Record what somebody did in the tree of the whole since the last turn. Done again, it finds what it made."""
        with trees.hold():
            if not trees.is_ready(MAIN):
                return None
            outside = Author(name="Moot", id="moot", at=job.at)
            message = write_message("What was done outside of turns", session=trees.session_id)
            key = f"take-{job.number}"
            return trees.record_between(MAIN, key, outside, message, moves_branch=job.moves_branch)

    def _take(self, trees: SessionTrees, site: Worksite, job: TakeWork) -> handing_over.Taken:
        author = Author(name=site.names.get(job.member, "Moot"), id=job.member or "moot", at=job.at)
        with trees.hold():
            match job.how:
                case "discard":
                    return handing_over.discard(trees, job.head, job.base, job.number)
                case "apply":
                    return handing_over.apply(trees, job.head, job.base, job.number)
                case "merge":
                    return handing_over.merge(trees, handing_over.gather(trees, job.head, author, job.title), job.title)
                case "keep":
                    return handing_over.keep(trees, handing_over.gather(trees, job.head, author, job.title))

    def _undo(self, trees: SessionTrees, site: Worksite, job: UndoWork, span: Span) -> ReportReverted:
        author = Author(name=site.names.get(job.member, "Moot"), id=job.member or "moot", at=job.at)
        tree, is_branch = span.tree, span.is_branch
        name = name_tree(tree) if tree != MAIN else MAIN
        with trees.hold():
            if tree == MAIN and is_branch and is_conflict(trees, span.base):
                raise handing_over.Unfit("that turn resolved a conflict; undo its task instead")
            made = revert(trees, name, span.commit, span.base, author, f"undo-{job.number}", is_branch=is_branch)
        if isinstance(made, tuple):
            raise handing_over.Unfit(f"it was changed again since: {', '.join(made[:20])}", made)
        return ReportReverted(
            number=job.number,
            commit=made.commit,
            parent=made.parent,
            tree=tree,
            files=made.files,
            total=made.total,
        )

    def _remove(self, trees: SessionTrees, job: RemoveTrees) -> ReportRemoved:
        """Remove everything, if nothing in it is unsaved. A tree with something unsaved stays, and all with it."""
        if not trees.folder.is_dir():
            return ReportRemoved(trees=job.trees)
        with trees.hold():
            names = trees.list_trees() if trees.exists else []
            unsaved = [name for name in names if trees.has_unsaved(name)]
            if unsaved:
                raise WorkspaceError(f"{', '.join(str(trees.path(name)) for name in unsaved)}: changes that nobody has")
            trees.remove_all()
        self._open.pop(trees.session_id, None)
        return ReportRemoved(trees=job.trees)


def _find_place(trees: SessionTrees, site: Worksite, name: str) -> Path:
    """The folder of the team file in a tree, which is made if no commit has it.

    Raises WorkspaceError if a link on the way leads out of the tree.
    """
    tree = trees.path(name).resolve()
    folder = trees.path(name) / site.place
    there = next(part for part in (folder, *folder.parents) if part.is_symlink() or part.exists())
    if not there.resolve().is_relative_to(tree):
        raise WorkspaceError(f"{site.place} leads out of the tree {tree}: a link stands where the team's folder was")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _author(turn: TurnInput, visit: TreeVisit) -> Author:
    return Author(name=turn.member.display_name, id=turn.member.id, at=visit.started_at)


def _report_change(
    turn: TurnInput, visit: TreeVisit, recording: Recording, *, is_outside: bool = False
) -> ReportChange:
    return ReportChange(
        turn_id=turn.turn_id,
        tree=visit.tree,
        commit=recording.commit,
        parent=recording.parent,
        files=recording.files,
        total=recording.total,
        task_id=visit.task_id,
        is_outside=is_outside,
    )


def _report_edits(job: TakeWork, edits: Recording) -> ReportEdits:
    return ReportEdits(
        number=job.number, commit=edits.commit, parent=edits.parent, files=edits.files, total=edits.total
    )


async def _in_thread(work: Callable[[], R]) -> R:
    """Run blocking work in a thread. It runs to its end even if the caller is cancelled: half a merge helps nobody."""
    running: Awaitable[Any] = asyncio.ensure_future(asyncio.to_thread(work))
    done: R = await asyncio.shield(running)
    return done
