"""Keeps Moot's own git inside of a session's folder, whatever members wrote into the clone that they share with it."""

import os
import shutil
from pathlib import Path

from moot.core.errors import WorkspaceError
from moot.runtime.workspaces.tree_files import read

_BORROWED = Path("objects", "info", "alternates")  # names the folders with objects of the person's repository


def refuse_links(folder: Path, clone: Path) -> None:
    """Raise WorkspaceError if a link lies among the clone's refs, settings and folders of objects, or in the place of a
    tree: git would write through it.

    A member may write there, so that it can commit; a link could lead to the person's own branches.
    """
    linked = [entry for entry in folder.iterdir() if entry.is_symlink()]
    if linked:
        raise _refuse(linked[0])
    objects = str(clone / "objects")
    left = [str(clone)] if clone.is_dir() else []
    while left:
        place = left.pop()
        with os.scandir(place) as entries:
            for entry in entries:
                if entry.is_symlink():
                    raise _refuse(Path(entry.path))
                if entry.is_dir(follow_symlinks=False) and (place != objects or entry.name == "info"):
                    left.append(entry.path)


def _refuse(link: Path) -> WorkspaceError:
    return WorkspaceError(f"{link} is a link that a member made; remove it to go on")


def remember_borrowed(clone: Path, own: Path) -> None:
    """Note, where no member writes, from which repositories the clone borrows objects."""
    (own / _BORROWED.name).write_bytes(read(clone / _BORROWED))


def restore_borrowed(clone: Path, own: Path) -> None:
    """Have the clone borrow the objects of the person's repository and no others, whatever a member wrote there."""
    known, used = own / _BORROWED.name, clone / _BORROWED
    if known.is_file() and known.read_bytes() != read(used):
        used.parent.mkdir(exist_ok=True)
        shutil.copyfile(known, used)
