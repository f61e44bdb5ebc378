"""The lines of facts about trees: what changed, what was checked, merged, taken."""

from collections.abc import Sequence

from moot.core.fact_lines import Change, Lines, indent
from moot.core.session import workspace_events as events
from moot.core.session.team import Language
from moot.core.session.workspace import FileChange
from moot.core.session.workspace_view import TreeRow
from moot.core.texts import render

FILES_TOLD = 4
TAIL_LINES = 6  # of a check that failed

WORKSPACE_LINES = Lines()
WORKSPACE_LINES.ignore(events.WorkspaceOpened, events.TakeRequested, events.UndoRequested, events.WorkspaceRemoved)


def count_lines(change: FileChange) -> str:
    """`+12 −3`; nothing for a file without lines."""
    return "" if change.is_binary else f"+{change.added} −{change.removed}"


def tell_files(files: Sequence[FileChange], more: int = 0) -> str:
    """`src/app.py +12 −3, README.md +1 −0, …`"""
    told = [f"{file.path} {count_lines(file)}".strip() for file in files[:FILES_TOLD]]
    left = len(files) - len(told) + more
    return ", ".join(told) + (f", … +{left}" if left else "")


def tell_tree(tree: TreeRow, language: Language) -> str:
    """`⎇ mul +4 −0 · checks ✓ · merge queue: 2`"""
    passed = all(check.exit == 0 for check in tree.checks)
    facts = [f"⎇ {tree.name} +{tree.added} −{tree.removed}"]
    facts += [f"{render('ui.tree.checks', language)} {'✓' if passed else '✗'}"] if tree.checks else []
    facts.append(render("ui.tree.queued" if tree.place else f"ui.tree.{tree.stage}", language, n=tree.place))
    facts += [", ".join(tree.conflicts[:FILES_TOLD])] if tree.conflicts and tree.stage != "merged" else []
    return " · ".join(facts)


@WORKSPACE_LINES.text(events.WorkspaceChanged)
def _change_text(fact: events.WorkspaceChanged, language: Language) -> str:
    code = "workspace_changed_outside" if fact.is_outside else "workspace_changed"
    return render(code, language, detail=tell_files(fact.files, fact.more))


@WORKSPACE_LINES.on(events.WorkspaceChanged)
def _change(change: Change[events.WorkspaceChanged]) -> list[str]:
    fact = change.fact
    files = tell_files(fact.files, fact.more)
    if fact.is_outside:
        return [f"  ✎ {change.say('workspace_changed_outside', detail=files)}"]
    return [f"  ✎ {change.name(fact.member)}: {files}"]


@WORKSPACE_LINES.text(events.WorkspaceChecked)
def _check_text(fact: events.WorkspaceChecked, language: Language) -> str:
    mark = "✓" if not fact.exit else render("workspace_exit", language, count=fact.exit)
    return f"{fact.command or render('workspace_no_checks', language)} {mark}"


@WORKSPACE_LINES.on(events.WorkspaceChecked)
def _check(change: Change[events.WorkspaceChecked]) -> list[str]:
    fact = change.fact
    told = [f"  ▶ {fact.task_id}: {_check_text(fact, change.language)}"]
    if fact.exit:
        told += [f"    {line}" for line in fact.tail.strip().splitlines()[-TAIL_LINES:]]
    return told


@WORKSPACE_LINES.text(events.WorkspaceQueued)
def _queue_text(fact: events.WorkspaceQueued, language: Language) -> str:
    return render("workspace_queued", language, detail=fact.task_id, count=fact.place)


@WORKSPACE_LINES.on(events.WorkspaceQueued)
def _queue(change: Change[events.WorkspaceQueued]) -> list[str]:
    """A task that is merged at once needs no line about its place."""
    fact = change.fact
    return [f"  ⇢ {_queue_text(fact, change.language)}"] if fact.place > 1 else []


@WORKSPACE_LINES.text(events.WorkspaceMerged)
def _merge_text(fact: events.WorkspaceMerged, language: Language) -> str:
    counts = f"+{fact.added} −{fact.removed}"
    return render("workspace_merged", language, detail=fact.task_id, counts=counts)


@WORKSPACE_LINES.on(events.WorkspaceMerged, "landmark")
def _merge(change: Change[events.WorkspaceMerged]) -> list[str]:
    fact = change.fact
    files = f" ({tell_files(fact.files, fact.more)})" if fact.files else ""
    return [f"⇥ {_merge_text(fact, change.language)}{files}"]


@WORKSPACE_LINES.text(events.WorkspaceConflicted)
def _conflict_text(fact: events.WorkspaceConflicted, language: Language) -> str:
    return render("workspace_conflicted", language, detail=fact.task_id, names=fact.files)


@WORKSPACE_LINES.on(events.WorkspaceConflicted, "landmark")
def _conflict(change: Change[events.WorkspaceConflicted]) -> list[str]:
    return [f"⚡ {_conflict_text(change.fact, change.language)}"]


@WORKSPACE_LINES.on(events.WorkspaceResolved)
def _resolve(change: Change[events.WorkspaceResolved]) -> list[str]:
    return [f"  {change.say('workspace_resolved', detail=change.fact.task_id, names=change.fact.files)}"]


@WORKSPACE_LINES.text(events.WorkspaceTaken)
def _take_text(fact: events.WorkspaceTaken, language: Language) -> str:
    return render(f"workspace_taken.{fact.how}", language, detail=fact.branch)


@WORKSPACE_LINES.on(events.WorkspaceTaken, "landmark")
def _take(change: Change[events.WorkspaceTaken]) -> list[str]:
    return [f"■ {_take_text(change.fact, change.language)}"]


@WORKSPACE_LINES.text(events.WorkspaceReverted)
def _revert_text(fact: events.WorkspaceReverted, language: Language) -> str:
    return render("workspace_reverted", language, detail=fact.task_id or fact.turn_id or "")


@WORKSPACE_LINES.on(events.WorkspaceReverted, "landmark")
def _revert(change: Change[events.WorkspaceReverted]) -> list[str]:
    return [f"↶ {_revert_text(change.fact, change.language)} ({tell_files(change.fact.files)})"]


@WORKSPACE_LINES.text(events.WorkspaceFailed)
def _fail_text(fact: events.WorkspaceFailed, language: Language) -> str:
    return render(f"workspace_failed.{fact.what}", language, detail=fact.detail)


@WORKSPACE_LINES.on(events.WorkspaceFailed, "landmark")
def _fail(change: Change[events.WorkspaceFailed]) -> list[str]:
    return indent("✗ ", _fail_text(change.fact, change.language))


@WORKSPACE_LINES.on(events.LinesCommented)
def _comment(change: Change[events.LinesCommented]) -> list[str]:
    fact = change.fact
    first, last = fact.lines
    place = f"{fact.path}:{first}" + (f"–{last}" if last != first else "")
    return indent(f"✎ {change.name(fact.member)} · {place}: ", fact.text)


@WORKSPACE_LINES.on(events.CommentsSent)
def _send_comments(change: Change[events.CommentsSent]) -> list[str]:
    """The message that follows says what is sent."""
    return [f"  {change.say('comments_dropped', count=change.fact.count)}"] if change.fact.is_dropped else []


WORKSPACE_LINES.shown_row(events.WorkspaceChecked, "steps")
WORKSPACE_LINES.shown_row(events.WorkspaceMerged, "flow", "ok")
WORKSPACE_LINES.shown_row(events.WorkspaceConflicted, "errors", "failed")
WORKSPACE_LINES.shown_row(events.WorkspaceTaken, "flow", "ok")
