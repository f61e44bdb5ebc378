"""Which programs a person lets team files start: by folder, and by what exactly is started.

A team file that lies somewhere starts nothing by itself. Trust is given to a folder for the commands that were shown; a
command that changes, or one that is added, is asked about again. What a program does is not looked at.
"""

import hashlib
import os
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from moot.core.errors import ConfigError
from moot.core.text import clean

FILE = "trust.json"


class Start(Struct, frozen=True, kw_only=True):
    """Something that a team file would run on this machine: a program, or Python code of the folder."""

    member: str
    argv: tuple[str, ...]
    folder: str = ""  # where it runs, from the team file's folder
    names: tuple[str, ...] = ()  # of environment variables that the team file lets it see

    def __str__(self) -> str:
        """On one line, as it would be typed; nothing in it can move a cursor."""
        place = f"  (in {self.folder})" if self.folder else ""
        sees = f"  (sees {', '.join(self.names)})" if self.names else ""
        return clean(f"{self.member}: {' '.join(map(_quote, self.argv))}{place}{sees}").replace("\n", "\\n")

    @property
    def digest(self) -> str:
        """Of what runs; who is played by it does not count."""
        return hashlib.sha256(msgspec.json.encode([self.argv, self.folder, self.names])).hexdigest()


def _quote(word: str) -> str:
    import shlex  # slow to import, and rarely needed

    return shlex.quote(word)


class NotTrusted(ConfigError):
    """A team file would start what nobody has allowed yet."""

    def __init__(self, file: str, starts: Sequence[Start]) -> None:
        shown = "\n".join(f"  {start}" for start in starts)
        super().__init__(
            f"{file} would start programs on this machine:\n{shown}\n"
            f"nothing was started; if you trust them, run: moot trust {_quote(file)}"
        )
        self.starts = tuple(starts)


class TrustedFolder(Struct, frozen=True, kw_only=True):
    """`starts` are kept as they were shown, so that a list of them can be read."""

    folder: str
    starts: tuple[Start, ...] = ()


class TrustStore:
    """A file in the data folder. One that cannot be read trusts nobody."""

    def __init__(self, data: Path) -> None:
        self._path = data / FILE

    def read(self) -> tuple[TrustedFolder, ...]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=tuple[TrustedFolder, ...])
        except (OSError, msgspec.DecodeError):
            return ()

    def find_untrusted(self, folder: Path, starts: Iterable[Start]) -> list[Start]:
        """Those that were not allowed in this folder."""
        known = {start.digest for start in self._find(_resolve(folder)).starts}
        return [start for start in starts if start.digest not in known]

    def add(self, folder: Path, starts: Iterable[Start]) -> None:
        entry = self._find(_resolve(folder))
        by_digest = {start.digest: start for start in (*entry.starts, *starts)}
        self._write(entry.folder, TrustedFolder(folder=entry.folder, starts=tuple(by_digest.values())))

    def remove(self, folder: Path) -> bool:
        """Whether there was anything to take back."""
        name = _resolve(folder)
        had = any(entry.folder == name for entry in self.read())
        self._write(name, None)
        return had

    def _find(self, name: str) -> TrustedFolder:
        return next((entry for entry in self.read() if entry.folder == name), TrustedFolder(folder=name))

    def _write(self, name: str, entry: TrustedFolder | None) -> None:
        entries = [each for each in self.read() if each.folder != name] + ([entry] if entry else [])
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._path.with_name(f"{FILE}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(msgspec.json.encode(sorted(entries, key=lambda each: each.folder)))
        draft.replace(self._path)


def _resolve(folder: Path) -> str:
    """The folder itself, whatever link led there."""
    return str(folder.resolve())
