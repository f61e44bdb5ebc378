"""`moot sessions export --with-files`: a session and its files in one zip archive.

`session.jsonl` is the export as it is without files; each file is `files/<SHA-256>`. An archive that is imported is
untrusted: its members are read by these names only, within bounds, and a file counts only if it has its hash.
"""

import re
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import IO

from moot.core import limits
from moot.core.codec import Event
from moot.core.errors import ConfigError, MootError
from moot.core.facts import Fact
from moot.core.session.desk_events import FileShown
from moot.core.session.events import MessagePosted

LOG = "session.jsonl"
FOLDER = "files/"
MAGIC = b"PK\x03\x04"
_FILE = re.compile(r"files/([0-9a-f]{64})")

WriteLog = Callable[[AsyncIterator[Event], Callable[[str], object]], Awaitable[None]]


def list_named(fact: Fact) -> list[str]:
    """Return the hashes of the files that a fact names."""
    match fact:
        case MessagePosted(attachments=attachments):
            return [file.sha256 for file in attachments]
        case FileShown(file=file):
            return [file.sha256]
    return []


async def write_archive(
    path: str, events: AsyncIterator[Event], write_log: WriteLog, read_file: Callable[[str], Awaitable[bytes | None]]
) -> list[str]:
    """Write a session and the files that it names. Returns the hashes of those that are not here any more."""
    named: dict[str, None] = {}
    missing: list[str] = []

    async def note() -> AsyncIterator[Event]:
        async for event in events:
            named.update(dict.fromkeys(list_named(event.fact)))
            yield event

    try:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            with archive.open(LOG, "w", force_zip64=True) as file:
                await write_log(note(), lambda line: file.write(line.encode()))
            for sha256 in named:
                data = await read_file(sha256)
                if data is None:
                    missing.append(sha256)
                else:
                    archive.writestr(f"{FOLDER}{sha256}", data)
    except OSError as error:
        raise MootError(f"{path} cannot be written ({error.strerror}); name a file in a folder that is there") from None
    return missing


@contextmanager
def opened_log(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """Yield the log of an export: the file itself, or the part of an archive. Raises ConfigError."""
    if not is_archive(file):
        yield file
        return
    with _opened(file) as archive, archive.open(LOG) as log:
        yield log


def read_files(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the files of an archive that are what their names say; nothing for an export without files."""
    if not is_archive(file):
        return
    with _opened(file) as archive:
        for entry in archive.infolist()[: limits.SESSION_FILES + 1]:
            if _FILE.fullmatch(entry.filename) and entry.file_size <= limits.FILE_BYTES:
                with archive.open(entry) as packed:
                    yield packed.read(limits.FILE_BYTES + 1)


def is_archive(file: IO[bytes]) -> bool:
    start = file.read(len(MAGIC))
    file.seek(0)
    return start == MAGIC


@contextmanager
def _opened(file: IO[bytes]) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(file) as archive:
            archive.getinfo(LOG)
            yield archive
    except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError) as error:
        raise ConfigError(
            f"this is not an export of Moot ({error}); `moot sessions export ID --with-files --out FILE.zip` writes one"
        ) from None
    finally:
        file.seek(0)
