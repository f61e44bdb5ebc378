"""Reads what differs between two commits: files with counts of lines, and unified diffs, both bounded."""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from moot.core import limits
from moot.core.session.team import Language
from moot.core.session.workspace import FileChange, FileStatus
from moot.core.session.workspace_view import FileDiff
from moot.core.text import clean
from moot.core.texts import render
from moot.runtime.workspaces.git import Git

_STATUS: dict[str, FileStatus] = {
    "A": "added",
    "M": "modified",
    "D": "deleted",
    "R": "renamed",
    "C": "added",
    "T": "modified",
}
_LARGE = ("-c", f"core.bigFileThreshold={limits.DIFFED_FILE_BYTES}")  # larger files are treated like binary ones
_DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "-M", "-U3")
_FILE = "diff --git "
_LEAST_CHARS = 400  # of the diff of one file, if it is shown at all


class _Named(Struct, frozen=True):
    """A change, with the names of the file as git has them: they need not be text that can be shown."""

    change: FileChange
    names: tuple[str, ...]


def _bounded(git: Git) -> Git:
    return replace(git, options=(*git.options, *_LARGE))


def compare(git: Git, old: str, new: str) -> tuple[FileChange, ...]:
    """The files that differ, with the number of lines added and removed; renamed files are followed."""
    return tuple(named.change for named in _compare(git, old, new))


def _compare(git: Git, old: str, new: str) -> Iterator[_Named]:
    options = ("-r", "-z", "-M", "--no-commit-id", "--raw", "--numstat")
    output = _bounded(git).run("diff-tree", *options, old, new).output
    return _read_changes(output.decode(errors="surrogateescape").split("\0"))


def _read_changes(parts: list[str]) -> Iterator[_Named]:
    """Read the raw lines (`:mode mode hash hash status`, path, new path), then the counts in the same order."""
    found: list[tuple[FileStatus, str, str]] = []
    at = 0
    while at < len(parts) and parts[at].startswith(":"):
        status = parts[at].split(" ")[4][:1]
        is_pair = status in "RC"
        old, path = (parts[at + 1], parts[at + 2]) if is_pair else ("", parts[at + 1])
        found.append((_STATUS.get(status, "modified"), path, old))
        at += 3 if is_pair else 2
    counts: dict[str, tuple[int, int] | None] = {}
    while at < len(parts) and parts[at]:
        added, removed, path = parts[at].split("\t", 2)
        at += 1
        if not path:  # renamed: both names follow
            path, at = parts[at + 1], at + 2
        counts[path] = None if added == "-" else (int(added), int(removed))
    for status, path, old in found:
        count = counts.get(path)
        change = FileChange(
            path=_show_name(path),
            status=status,
            added=count[0] if count else 0,
            removed=count[1] if count else 0,
            was=_show_name(old),
            is_binary=path in counts and count is None,
        )
        yield _Named(change, (path, old) if old else (path,))


def _show_name(path: str) -> str:
    return clean(path.encode(errors="surrogateescape").decode(errors="replace")).replace("\n", " ")


def read_diff(git: Git, old: str, new: str, path: str, offset: int = 0) -> FileDiff | None:
    """Return a page of the unified diff of one file, None if it did not change.

    `path` is a name that `compare` returned; it is looked up among the changes and never used as a path on disk.
    """
    named = next((each for each in _compare(git, old, new) if each.change.path == path), None)
    if named is None:
        return None
    paths = [f":(top,literal){name}" for name in named.names]
    text = clean(_bounded(git).run(*_DIFF, old, new, "--", *paths).output.decode(errors="replace"))
    piece = text[offset : offset + limits.DIFF_PAGE_CHARS]
    following = offset + len(piece)
    return FileDiff(
        base=old,
        commit=new,
        path=path,
        text=piece,
        status=named.change.status,
        was=named.change.was,
        added=named.change.added,
        removed=named.change.removed,
        is_binary=named.change.is_binary,
        offset=offset,
        next_offset=following if following < len(text) else None,
    )


def read_patch(git: Git, old: str, new: str, limit: int, language: Language) -> str:
    """The unified diff of all files in at most about `limit` characters.

    If that is too little, a list of all changed files stands first, and their diffs share the rest: short ones stay
    whole, longer ones are cut to the same length and say how many lines are missing. If there are so many files that
    each would get only a few lines, the last ones are left out.
    """
    data, is_whole = _bounded(git).read_start(*_DIFF, old, new, most_bytes=4 * limits.PATCH_CHARS)
    text = clean(data.decode(errors="replace"))
    if is_whole and len(text) <= limit:
        return text
    changes = compare(git, old, new)
    listed = _list_files(changes, limit // 4, language)
    room = limit - len(listed)
    blocks = _split(text)[: None if is_whole else -1][: max(room // _LEAST_CHARS, 1)]  # the last one is half a file
    kept = _share_out(blocks, room, language)
    left = len(changes) - len(blocks)
    told = [render("diff.files_left_out", language, count=left)] if left > 0 else []
    return "\n".join([listed, *kept, *told])


def _list_files(changes: Sequence[FileChange], limit: int, language: Language) -> str:
    added, removed = sum(change.added for change in changes), sum(change.removed for change in changes)
    lines = [render("diff.listed", language, count=len(changes), added=added, removed=removed)]
    for position, change in enumerate(changes):
        counts = render("diff.binary", language) if change.is_binary else f"+{change.added} −{change.removed}"
        line = f"  {change.path} {counts}"
        limit -= len(line) + 1
        if limit < 0:
            lines.append(f"  … +{len(changes) - position}")
            break
        lines.append(line)
    return "\n".join(lines) + "\n"


def _split(text: str) -> list[str]:
    """The diffs of the single files."""
    blocks: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith(_FILE) or not blocks:
            blocks.append([])
        blocks[-1].append(line)
    return ["\n".join(block) for block in blocks]


def _share_out(blocks: Sequence[str], limit: int, language: Language) -> list[str]:
    """Return the blocks in their order, each cut to the largest length at which all of them fit into the limit."""
    share, left = 0, max(limit, 0)
    for position, size in enumerate(sorted(map(len, blocks))):
        share = left // (len(blocks) - position)
        if size > share:
            break
        left -= size
        share = max(share, size)
    return [block if len(block) <= share else _cut(block, share, language) for block in blocks]


def _cut(block: str, limit: int, language: Language) -> str:
    """The first lines of a file's diff, and how many follow."""
    kept = block[:limit].rpartition("\n")[0] or block.split("\n", 1)[0][: max(limit, 100)]
    left = block.count("\n") - kept.count("\n")
    return f"{kept}\n{render('diff.lines_left_out', language, count=left)}"
