"""The lines of facts about trees: what changed, what was checked, merged, taken."""

from collections.abc import Sequence

from moot.core.fact_lines import Change, Entry, Lines, indent
from moot.core.session import workspace_events as events
from moot.core.session.team import Language
from moot.core.session.workspace import FileChange
from moot.core.session.workspace_view import TreeRow
from moot.core.texts import render

FILES_TOLD = 4
TAIL_LINES = 6  # of a check that failed


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


def register(lines: Lines) -> None:
    """Add the lines of workspaces to those of every session."""
    lines.ignore(events.WorkspaceOpened, events.TakeRequested, events.UndoRequested, events.WorkspaceRemoved)
    lines.on(events.WorkspaceChanged)(_change)
    lines.text(events.WorkspaceChanged)(_change_text)
    lines.on(events.WorkspaceChecked)(_check)
    lines.text(events.WorkspaceChecked)(_check_text)
    lines.on(events.WorkspaceQueued)(_queue)
    lines.text(events.WorkspaceQueued)(_queue_text)
    lines.on(events.WorkspaceMerged, "landmark")(_merge)
    lines.text(events.WorkspaceMerged)(_merge_text)
    lines.on(events.WorkspaceConflicted, "landmark")(_conflict)
    lines.text(events.WorkspaceConflicted)(_conflict_text)
    lines.on(events.WorkspaceResolved)(_resolve)
    lines.on(events.WorkspaceTaken, "landmark")(_take)
    lines.text(events.WorkspaceTaken)(_take_text)
    lines.on(events.WorkspaceReverted, "landmark")(_revert)
    lines.text(events.WorkspaceReverted)(_revert_text)
    lines.on(events.WorkspaceFailed, "landmark")(_fail)
    lines.text(events.WorkspaceFailed)(_fail_text)
    lines.on(events.LinesCommented)(_comment)
    lines.on(events.CommentsSent)(_send_comments)
    lines.row(events.WorkspaceChecked, "steps")(_check_row)
    lines.row(events.WorkspaceMerged, "flow", "ok")(_merge_row)
    lines.row(events.WorkspaceConflicted, "errors", "failed")(_conflict_row)
    lines.row(events.WorkspaceTaken, "flow", "ok")(_take_row)


def _change_text(fact: events.WorkspaceChanged, language: Language) -> str:
    code = "workspace_changed_outside" if fact.is_outside else "workspace_changed"
    return render(code, language, detail=tell_files(fact.files, fact.more))


def _change(change: Change[events.WorkspaceChanged]) -> list[str]:
    fact = change.fact
    files = tell_files(fact.files, fact.more)
    if fact.is_outside:
        return [f"  ✎ {change.say('workspace_changed_outside', detail=files)}"]
    return [f"  ✎ {change.name(fact.member)}: {files}"]


def _check_text(fact: events.WorkspaceChecked, language: Language) -> str:
    mark = "✓" if not fact.exit else render("workspace_exit", language, count=fact.exit)
    return f"{fact.command or render('workspace_no_checks', language)} {mark}"


def _check(change: Change[events.WorkspaceChecked]) -> list[str]:
    fact = change.fact
    told = [f"  ▶ {fact.task_id}: {_check_text(fact, change.language)}"]
    if fact.exit:
        told += [f"    {line}" for line in fact.tail.strip().splitlines()[-TAIL_LINES:]]
    return told


def _check_row(entry: Entry[events.WorkspaceChecked]) -> str:
    return _check_text(entry.fact, entry.language)


def _queue_text(fact: events.WorkspaceQueued, language: Language) -> str:
    return render("workspace_queued", language, detail=fact.task_id, count=fact.place)


def _queue(change: Change[events.WorkspaceQueued]) -> list[str]:
    """A task that is merged at once needs no line about its place."""
    fact = change.fact
    return [f"  ⇢ {_queue_text(fact, change.language)}"] if fact.place > 1 else []


def _merge_text(fact: events.WorkspaceMerged, language: Language) -> str:
    counts = f"+{fact.added} −{fact.removed}"
    return render("workspace_merged", language, detail=fact.task_id, counts=counts)


def _merge(change: Change[events.WorkspaceMerged]) -> list[str]:
    fact = change.fact
    files = f" ({tell_files(fact.files, fact.more)})" if fact.files else ""
    return [f"⇥ {_merge_text(fact, change.language)}{files}"]


def _merge_row(entry: Entry[events.WorkspaceMerged]) -> str:
    return _merge_text(entry.fact, entry.language)


def _conflict_text(fact: events.WorkspaceConflicted, language: Language) -> str:
    return render("workspace_conflicted", language, detail=fact.task_id, names=fact.files)


def _conflict(change: Change[events.WorkspaceConflicted]) -> list[str]:
    return [f"⚡ {_conflict_text(change.fact, change.language)}"]


def _conflict_row(entry: Entry[events.WorkspaceConflicted]) -> str:
    return _conflict_text(entry.fact, entry.language)


def _resolve(change: Change[events.WorkspaceResolved]) -> list[str]:
    return [f"  {change.say('workspace_resolved', detail=change.fact.task_id, names=change.fact.files)}"]


def _take_text(fact: events.WorkspaceTaken, language: Language) -> str:
    return render(f"workspace_taken.{fact.how}", language, detail=fact.branch)


def _take(change: Change[events.WorkspaceTaken]) -> list[str]:
    return [f"■ {_take_text(change.fact, change.language)}"]


def _take_row(entry: Entry[events.WorkspaceTaken]) -> str:
    return _take_text(entry.fact, entry.language)


def _revert_text(fact: events.WorkspaceReverted, language: Language) -> str:
    return render("workspace_reverted", language, detail=fact.task_id or fact.turn_id or "")


def _revert(change: Change[events.WorkspaceReverted]) -> list[str]:
    return [f"↶ {_revert_text(change.fact, change.language)} ({tell_files(change.fact.files)})"]


def _fail_text(fact: events.WorkspaceFailed, language: Language) -> str:
    return render(f"workspace_failed.{fact.what}", language, detail=fact.detail)


def _fail(change: Change[events.WorkspaceFailed]) -> list[str]:
    return indent("✗ ", _fail_text(change.fact, change.language))


def _comment(change: Change[events.LinesCommented]) -> list[str]:
    fact = change.fact
    first, last = fact.lines
    place = f"{fact.path}:{first}" + (f"–{last}" if last != first else "")
    return indent(f"✎ {change.name(fact.member)} · {place}: ", fact.text)


def _send_comments(change: Change[events.CommentsSent]) -> list[str]:
    """The message that follows says what is sent."""
    return [f"  {change.say('comments_dropped', count=change.fact.count)}"] if change.fact.is_dropped else []
