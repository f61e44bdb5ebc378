"""Credentials of several servers on one store: each keeps the files that a server has, and the store has the truth.

Tokens, logins, the key that signs, and the owner's token unless it comes from the environment. At the start a server
takes what the store has; what it lacks it is given. From then on what changed here goes there and what changed there
comes here, record by record, so that two servers may change one list at once. The files hold hashes of tokens and
logins; the owner's token and the key are as readable in the database as they are in the data folder.
"""

import logging
from pathlib import Path

import msgspec

from moot.config.private_files import OWNER_FILE, keep_secret, write_private
from moot.core.errors import LogError
from moot.gateway.auth import KEY_FILE, LOGINS_FILE, TOKENS_FILE
from moot.runtime.cluster import Documents

logger = logging.getLogger(__name__)

LOOK_S = 1.0
PUT_TRIES = 10
LISTS = {TOKENS_FILE: ("tokens", "token_id"), LOGINS_FILE: ("logins", "login_id")}

_Records = dict[str, msgspec.Raw]


def merge(base: bytes, here: bytes, there: bytes, field: str, key: str) -> bytes:
    """Apply the changes from `base` to `here` to the list `there`; records are told apart by `key`."""
    before, mine, theirs = (_read(data, field, key) for data in (base, here, there))
    kept = {name: record for name, record in theirs.items() if not (name in before and name not in mine)}
    changed = {name: record for name, record in mine.items() if bytes(before.get(name, b"")) != bytes(record)}
    revoked = before.keys() - theirs.keys()  # there: what was used here meanwhile does not bring it back
    kept.update({name: record for name, record in changed.items() if name not in revoked})
    return msgspec.json.encode({field: list(kept.values())})


def _read(data: bytes, field: str, key: str) -> _Records:
    if not data.strip():
        return {}
    records = msgspec.json.decode(data, type=dict[str, list[msgspec.Raw]]).get(field, [])
    return {str(msgspec.json.decode(record, type=dict[str, object])[key]): record for record in records}


class SharedCredentials:
    """Keeps the files of one data folder and the documents of a store equal.

    Args:
        has_owner_file: whether the owner's token is one of the files.
    """

    def __init__(self, folder: Path, documents: Documents, *, has_owner_file: bool) -> None:
        self._folder = folder
        self._documents = documents
        self._secrets = [KEY_FILE, *([OWNER_FILE] if has_owner_file else [])]
        self._names = [*self._secrets, *LISTS]
        self._base: dict[str, bytes] = {}  # as both were when they were equal

    async def start(self) -> None:
        """Take what the store has; give it what it lacks. Raises LogError."""
        for name in self._secrets:
            keep_secret(self._folder / name)
        for name in self._names:
            here = self._read(name)
            if here:
                await self._documents.put(name, 0, here)  # unless there is one
        for name, (_, data) in (await self._documents.get(self._names)).items():
            self._write(name, data)
            self._base[name] = data

    async def sync(self) -> None:
        """Carry changes both ways. Raises LogError."""
        stored = await self._documents.get(self._names)
        for name in self._names:
            version, there = stored.get(name, (0, b""))
            await self._sync_one(name, version, there)

    async def _sync_one(self, name: str, version: int, there: bytes) -> None:
        for _ in range(PUT_TRIES):
            here, base = self._read(name), self._base.get(name, b"")
            if here == base:
                merged = there
            elif name in LISTS:
                merged = merge(base, here, there, *LISTS[name])
            else:
                merged = here  # a new secret replaces the old one
            if merged == there or await self._documents.put(name, version, merged):
                break
            version, there = (await self._documents.get([name])).get(name, (0, b""))
        else:
            return  # others change it all the time; the next look tries again
        if merged != here and self._read(name) == here:
            self._write(name, merged)
        self._base[name] = merged

    async def run(self) -> None:
        """Keep them equal for ever: at once when another server tells of a change, else every second."""
        while True:
            await self._documents.wait(LOOK_S)
            try:
                await self.sync()
            except (LogError, OSError, msgspec.DecodeError) as error:
                logger.warning("tokens and logins are not carried to the other servers now: %s", error)

    def _read(self, name: str) -> bytes:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return b""

    def _write(self, name: str, data: bytes) -> None:
        if self._read(name) != data:
            write_private(self._folder / name, data)
