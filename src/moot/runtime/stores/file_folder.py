"""The files of sessions in a folder beside the log: `files/<session>/<SHA-256 of the content>`.

Nothing that people or agents write names a place here: the id of a session and a hash do. A session's files are its own
folder, so that they go when it goes and no other session can miss them.
"""

import hashlib
import os
import re
import shutil
import tempfile
from pathlib import Path

FOLDER = "files"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SESSION_ID = re.compile(r"[a-z0-9_-]{1,64}")


class FileFolder:
    def __init__(self, root: Path) -> None:
        self._root = root

    def put(self, session_id: str, data: bytes) -> str:
        """Store a file and return its hash; it is durable when this returns."""
        digest = hashlib.sha256(data).hexdigest()
        place = self._folder(session_id) / digest
        if place.is_file() and place.stat().st_size == len(data):
            return digest
        for folder in (self._root, place.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=".", delete=False) as file:  # mode 0600
            try:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                Path(file.name).rename(place)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
        for folder in (place.parent, self._root, self._root.parent):  # the names too must survive a loss of power
            _sync(folder)
        return digest

    def get(self, session_id: str, sha256: str) -> bytes | None:
        """Return the content with this hash, None if it is not here. Content that does not match is not returned."""
        if not _SHA256.fullmatch(sha256):
            return None
        try:
            data = (self._folder(session_id) / sha256).read_bytes()
        except OSError:
            return None
        return data if hashlib.sha256(data).hexdigest() == sha256 else None

    def list_files(self, session_id: str) -> dict[str, int]:
        """Return the hashes of a session's files with their sizes."""
        try:
            entries = list(os.scandir(self._folder(session_id)))
        except OSError:
            return {}
        return {entry.name: entry.stat().st_size for entry in entries if _SHA256.fullmatch(entry.name)}

    def list_sessions(self) -> list[str]:
        """Return the ids of the sessions that have files."""
        try:
            return [entry.name for entry in os.scandir(self._root) if _SESSION_ID.fullmatch(entry.name)]
        except OSError:
            return []

    def delete(self, session_id: str) -> None:
        """Delete the files of a session; nothing happens if it has none."""
        shutil.rmtree(self._folder(session_id), ignore_errors=True)

    def _folder(self, session_id: str) -> Path:
        if not _SESSION_ID.fullmatch(session_id):
            raise ValueError(f"{session_id!r} is no id of a session")
        return self._root / session_id


def _sync(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
