"""Repositories that a member makes inside of its tree: git would record them as links, and their files as nothing."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from moot.runtime.workspaces.git import Git, GitFailed

_LINKED = "embedded git repository"  # what `git add` says of one with a commit
_EMPTY = "does not have a commit checked out"
_LINK = "160000"


def add_all(git: Git, folder: Path, excluded: Sequence[str]) -> None:
    """Add everything in a tree to the index, with the files of repositories in it that are not submodules."""
    arguments = ("add", "--all", "--", ":/", *excluded)
    done = git.run(*arguments, allowed=(0, 128))
    if done.code == 0 and _LINKED not in done.errors:
        return
    if done.code and _EMPTY not in done.errors:
        raise GitFailed(arguments, done)
    for path in _find_nested(git, folder):
        _make_plain(git, folder, path)
    git.run(*arguments)


def _find_nested(git: Git, folder: Path) -> list[str]:
    """The folders that are repositories of their own, without submodules and what is ignored."""
    found = [
        os.path.relpath(place, folder)
        for place, folders, files in os.walk(folder)
        if Path(place) != folder and ".git" in (*folders, *files)
    ]
    data = "".join(f"{path}\0" for path in found).encode(errors="surrogateescape")
    ignored = git.run("check-ignore", "-z", "--stdin", data=data, allowed=(0, 1)).parts
    modules = {*ignored, *_list_modules(git, folder)}
    return [path for path in found if path not in modules]


def _list_modules(git: Git, folder: Path) -> Iterator[str]:
    """The submodules of the last commit, and those that the member declared."""
    for line in git.run("ls-tree", "-r", "-z", "HEAD").parts:
        entry, _, path = line.partition("\t")
        if entry.startswith(_LINK):
            yield path
    declared = folder / ".gitmodules"
    if declared.is_file() and not declared.is_symlink():
        listed = git.run("config", "-z", "--file", str(declared), "--get-regexp", r"\.path$", allowed=(0, 1, 128))
        yield from (part.partition("\n")[2] for part in listed.parts)


def _make_plain(git: Git, folder: Path, path: str) -> None:
    """Add one file of a nested repository to the index: git then treats its folder as a plain one."""
    git.run("update-index", "--force-remove", "--", path)
    for place, folders, files in os.walk(folder / path):
        folders[:] = [name for name in folders if name != ".git"]
        for name in files:
            file = Path(place, name)
            if name != ".git" and not file.is_symlink():
                blob = git.run("hash-object", "-w", "--stdin", data=b"").text  # its content follows
                entry = f"100644 {blob}\t{file.relative_to(folder)}\0".encode(errors="surrogateescape")
                git.run("update-index", "-z", "--index-info", data=entry)
                return
