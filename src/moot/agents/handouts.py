"""Copies of attached files for members' programs: a folder for each session, which they see even in the sandbox.

The copies are for programs only. Moot itself never reads them again: a program could have put anything in their place.
"""

import re
import shutil
import tempfile
import weakref
from pathlib import Path

from msgspec.structs import replace

from moot.core.flows.turns import TurnInput
from moot.core.session.attachments import HandedFile

FOLDER = "handed"
_UNSAFE = re.compile(r"[^\w.-]+")
_HASH_CHARS = 12
_STEM_CHARS = 60


class Handouts:
    """Args: root: where the folders are; without one, in a temporary folder."""

    def __init__(self, root: Path | None = None) -> None:
        self._root = root

    def clear(self) -> None:
        """Remove what a process left that died; nobody else uses the folder."""
        if self._root:
            shutil.rmtree(self._root, ignore_errors=True)

    def find_folder(self, session_id: str) -> Path:
        """Return the folder of a session, which is made if it is missing."""
        if self._root is None:
            self._root = Path(tempfile.mkdtemp(prefix="moot-files-"))
            weakref.finalize(self, shutil.rmtree, self._root, ignore_errors=True)
        folder = self._root.absolute() / (session_id or "none")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    def place(self, turn: TurnInput) -> TurnInput:
        """Write the files of a turn, and return the turn with their paths."""
        if not turn.attachments:
            return turn
        folder = self.find_folder(turn.session_id)
        return replace(turn, attachments=tuple(_write(folder, file) for file in turn.attachments))

    def forget(self, session_id: str) -> None:
        """Remove the copies of a session."""
        if self._root:
            shutil.rmtree(self._root / (session_id or "none"), ignore_errors=True)


def _write(folder: Path, file: HandedFile) -> HandedFile:
    """Write one file under a name of our own. A link that a program left there is replaced, never followed."""
    if file.data is None:
        return file
    path = folder / f"{file.sha256[:_HASH_CHARS]}-{_make_safe(file.name)}"
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".", delete=False) as copy:
        copy.write(file.data)
    Path(copy.name).rename(path)
    return replace(file, path=str(path))


def _make_safe(name: str) -> str:
    """Keep letters of any language, digits and the ending; nothing that a shell or a CLI would act on."""
    stem, dot, ending = _UNSAFE.sub("-", name).rpartition(".")
    return f"{stem[:_STEM_CHARS]}{dot}{ending[:_STEM_CHARS]}".strip(".-") or "file"
