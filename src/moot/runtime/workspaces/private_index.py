"""An index of Moot's own for a tree: what a member staged stays staged, and known files are not read again."""

import shutil
from pathlib import Path

from msgspec.structs import replace

from moot.runtime.workspaces.git import Git

SUFFIXES = (".index", ".narrow")  # of its files


class PrivateIndex:
    """The index with which a tree is recorded.

    Args:
        git: for the tree, with the index of its member.
        place: the git directory of the tree.
        stem: where the files of this index lie, without their suffixes.
    """

    def __init__(self, git: Git, place: Path, stem: Path) -> None:
        self._git = git
        self._place = place
        self._index, self._narrow = (stem.with_name(stem.name + suffix) for suffix in SUFFIXES)

    def open(self) -> Git:
        """Return git for the tree with this index, which is made from the member's if there is none."""
        if not self._index.exists():
            copy = self._index.with_suffix(".copy")
            shutil.copy2(self._place / "index", copy)  # with its time: git looks again at files that changed just then
            copy.replace(self._index)
        git = replace(self._git, environment={**self._git.environment, "GIT_INDEX_FILE": str(self._index)})
        if (self._place / "info" / "sparse-checkout").is_file() or self._narrow.exists():
            self._copy_skipped(git)
        return git

    def _copy_skipped(self, git: Git) -> None:
        """Skip what the member's sparse checkout leaves out: it is not there, but it is not deleted."""
        own = self._git.run("ls-files", "-t", "-z").parts
        wanted = {entry[2:] for entry in own if entry.startswith("S")}
        self._narrow.touch()  # until the tree is reset: git removes the patterns when all is wanted again
        known = {entry[2:]: entry.startswith("S") for entry in git.run("ls-files", "-t", "-z").parts}
        for option, is_skipped in (("--skip-worktree", True), ("--no-skip-worktree", False)):
            paths = [path for path, was in known.items() if (path in wanted) is is_skipped is not was]
            data = "".join(f"{path}\0" for path in paths).encode(errors="surrogateescape")
            git.run("update-index", option, "-z", "--stdin", data=data)

    def give(self) -> None:
        """Make it the member's index: nothing is staged, nothing is changed."""
        copy = self._place / "index.moot"
        shutil.copy2(self._index, copy)
        copy.replace(self._place / "index")

    def remove(self) -> None:
        for path in (self._index, self._narrow):
            path.unlink(missing_ok=True)
