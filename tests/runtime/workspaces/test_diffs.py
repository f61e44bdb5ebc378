"""What changed is read from git: bounded, with every file named."""

from pathlib import Path

from moot.core import limits
from moot.runtime.workspaces.diffs import compare, read_diff, read_patch
from moot.runtime.workspaces.git import Git
from tests.runtime.workspaces.repositories import git, make_repository


def _change(top: Path, files: dict[str, bytes | None]) -> tuple[Git, str, str]:
    """Commit a change. Returns git, and the commits before and after."""
    old = git(top, "rev-parse", "HEAD")
    for name, data in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink() if data is None else path.write_bytes(data)
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "--message", "next")
    return Git(folder=top), old, git(top, "rev-parse", "HEAD")


def test_renamed_binary_and_oddly_named_files_are_followed(tmp_path: Path) -> None:
    """Each one is listed and has a diff; a name that is no text is shown as well as it can be, and found by that."""
    top = make_repository(tmp_path / "r", {"a b.txt": "one\ntwo\nthree\nfour\n", "gone": "other words\n"})
    odd = "caf\udce9.txt"
    changes = {"a b.txt": None, "图 片.txt": b"one\ntwo\nthree\n4\n", "gone": None, "pic": b"\0\1", odd: b"x\n"}
    repository, old, new = _change(top, changes)
    found = {change.path: change for change in compare(repository, old, new)}
    assert {path: (change.status, change.was) for path, change in found.items()} == {
        "图 片.txt": ("renamed", "a b.txt"),
        "gone": ("deleted", ""),
        "pic": ("added", ""),
        "caf�.txt": ("added", ""),
    }
    assert found["pic"].is_binary
    for path in found:
        diff = read_diff(repository, old, new, path)
        assert diff
        assert diff.text.startswith("diff --git ")
        assert (diff.status, diff.was, diff.added) == (found[path].status, found[path].was, found[path].added)
    assert read_diff(repository, old, new, "../../etc/passwd") is None
    assert read_diff(repository, old, new, "*") is None


def test_a_long_diff_is_read_page_by_page(tmp_path: Path) -> None:
    """The pages together are the whole, and the last one says that it is the last."""
    top = make_repository(tmp_path / "r")
    repository, old, new = _change(top, {"long": b"0123456789\n" * 25_000})
    pages, offset = [], 0
    while True:
        diff = read_diff(repository, old, new, "long", offset)
        assert diff
        pages.append(diff.text)
        assert len(diff.text) <= limits.DIFF_PAGE_CHARS
        if diff.next_offset is None:
            break
        offset = diff.next_offset
    assert len(pages) == 4
    assert "".join(pages).count("+0123456789\n") == 25_000


def test_a_very_large_file_is_named_and_not_compared(tmp_path: Path) -> None:
    """Its diff is one line, and it costs no memory."""
    top = make_repository(tmp_path / "r")
    repository, old, new = _change(top, {"big": b"x" * (limits.DIFFED_FILE_BYTES + 1)})
    (change,) = compare(repository, old, new)
    assert change.is_binary
    diff = read_diff(repository, old, new, "big")
    assert diff
    assert "Binary files /dev/null and b/big differ" in diff.text


def test_a_patch_that_is_too_long_names_every_file_and_shares_the_room(tmp_path: Path) -> None:
    """Short diffs stay whole, long ones are cut and say how much is missing."""
    top = make_repository(tmp_path / "r")
    files: dict[str, bytes | None] = {"a-long": b"long line\n" * 3_000, "b-short": b"short\n", "c-long": b"l\n" * 9_000}
    repository, old, new = _change(top, files)
    whole = read_patch(repository, old, new, 100_000, "en")
    assert whole.count("+long line") == 3_000
    cut = read_patch(repository, old, new, 8_000, "en")
    assert len(cut) < 8_500
    assert cut.startswith("3 files changed, +12001 −0:\n  a-long +3000 −0\n  b-short +1 −0\n  c-long +9000 −0\n")
    assert "+short" in cut
    for name, letter in (("a-long", "+long line"), ("c-long", "+l\n")):
        assert f"diff --git a/{name} b/{name}" in cut
        assert 300 < cut.count(letter) < 3_000
    assert cut.count("more lines of this file are left out; they are in the tree)") == 2


def test_a_patch_of_very_many_files_keeps_within_its_bound(tmp_path: Path) -> None:
    """How many are not shown is said."""
    top = make_repository(tmp_path / "r")
    repository, old, new = _change(top, {f"f{number}": b"x\n" * 30 for number in range(400)})
    cut = read_patch(repository, old, new, 8_000, "en")
    assert len(cut) < 9_000
    assert "the diffs of 386 more files are left out" in cut
