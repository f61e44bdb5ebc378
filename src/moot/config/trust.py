"""Which programs a person lets team files start: by folder, and by what exactly is started.

A team file that lies somewhere starts nothing by itself. Trust is given to a folder for the commands that were shown; a
command that changes, or one that is added, is asked about again. What a program does is not looked at.
"""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from moot.config.message_format import show_name
from moot.config.private_files import held, write_private
from moot.core.errors import ConfigError
from moot.core.text import clean

FILE = "trust.json"


StartKind = Literal["program", "code", "address"]


class Start(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that a team file would run on this machine or send a key to."""

    member: str
    argv: tuple[str, ...]
    folder: str = ""  # where it runs, from the team file's folder
    names: tuple[str, ...] = ()  # of environment variables that the team file lets it see
    kind: StartKind = "program"
    is_unconfined: bool = False  # the team file asks for no sandbox

    def __str__(self) -> str:
        """Return the command on one line, as it would be typed, without control characters."""
        place = f"  (in {self.folder})" if self.folder else ""
        sees = f"  (sees {', '.join(self.names)})" if self.names else ""
        free = "  (without a sandbox)" if self.is_unconfined else ""
        return clean(f"{self.member}: {' '.join(map(_quote, self.argv))}{place}{sees}{free}").replace("\n", "\\n")

    @property
    def digest(self) -> str:
        """Digest of what runs; the member that it plays does not count."""
        free = ("unconfined",) if self.is_unconfined else ()
        return hashlib.sha256(msgspec.json.encode([self.argv, self.folder, self.names, *free])).hexdigest()


def _quote(word: str) -> str:
    import shlex  # slow to import, and rarely needed

    return shlex.quote(word)


class NotTrusted(ConfigError):
    """A team file would start programs that nobody has allowed yet."""

    def __init__(self, file: str, starts: Sequence[Start]) -> None:
        shown = "\n".join(f"  {start}" for start in starts)
        super().__init__(
            f"{show_name(file)} would start programs on this machine:\n{shown}\n"
            f"nothing was started; if you trust them, run: moot trust {show_name(_quote(file))}"
        )
        self.starts = tuple(starts)


class TrustedFolder(Struct, frozen=True, kw_only=True):
    """`starts` are kept as they were shown, so that a list of them can be read."""

    folder: str
    starts: tuple[Start, ...] = ()


class TrustStore:
    """A file in the data folder. If it cannot be read, nothing is trusted."""

    def __init__(self, data: Path) -> None:
        self._path = data / FILE

    def read(self) -> tuple[TrustedFolder, ...]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=tuple[TrustedFolder, ...])
        except (OSError, msgspec.DecodeError):
            return ()

    def find_untrusted(self, folder: Path, starts: Iterable[Start]) -> list[Start]:
        """Return the starts that were not allowed in this folder."""
        known = {start.digest for start in self._find(_resolve(folder)).starts}
        return [start for start in starts if start.digest not in known]

    def add(self, folder: Path, starts: Iterable[Start]) -> None:
        name = _resolve(folder)
        with held(self._path):
            shown = {(start.member, start.digest): start for start in (*self._find(name).starts, *starts)}
            self._write(name, TrustedFolder(folder=name, starts=tuple(shown.values())))

    def remove(self, folder: Path) -> bool:
        """Withdraw the trust in a folder. Return whether there was any."""
        name = _resolve(folder)
        with held(self._path):
            had = any(entry.folder == name for entry in self.read())
            self._write(name, None)
        return had

    def _find(self, name: str) -> TrustedFolder:
        return next((entry for entry in self.read() if entry.folder == name), TrustedFolder(folder=name))

    def _write(self, name: str, entry: TrustedFolder | None) -> None:
        entries = [other for other in self.read() if other.folder != name] + ([entry] if entry else [])
        write_private(self._path, msgspec.json.encode(sorted(entries, key=lambda entry: entry.folder)))


def _resolve(folder: Path) -> str:
    """Resolve symbolic links."""
    return str(folder.resolve())
