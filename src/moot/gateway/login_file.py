"""The logins of browsers, kept by the server. The file holds hashes, so that it cannot be used to log in.

A login has two halves: a cookie that scripts cannot read, and a secret that the page keeps in its origin's storage.
Browsers send cookies to every port of a host, so the cookie alone must be worth nothing; storage belongs to one origin.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot.config.private_files import write_private
from moot.core.errors import ConfigError
from moot.core.instants import later

IDLE_S = 30 * 24 * 3600.0
SAVE_S = 3600.0  # uses of a login are stored at most this often
LOGINS_PER_TOKEN = 50  # the one that was idle longest ends when there is one more
AGENT_CHARS = 200
LOGIN_ID = "l_"  # how the ids of logins begin


class LoginRecord(Struct, frozen=True, kw_only=True):
    """A login. `token_sha256` binds it to the token itself: the owner's id stays when the token is replaced."""

    login_id: str
    token_id: str
    token_sha256: str
    cookie_sha256: str
    secret_sha256: str
    created_at: str
    last_used_at: str
    agent: str = ""  # the browser, as it calls itself

    @property
    def ends_at(self) -> str:
        """When it ends unless it is used before."""
        return later(self.last_used_at, IDLE_S)


class NewLogin(NamedTuple):
    """What the browser is given, once."""

    record: LoginRecord
    cookie: str
    secret: str


class _Contents(Struct, frozen=True):
    logins: tuple[LoginRecord, ...] = ()


class LoginFile:
    """The logins of a data folder. Its server adds them; `moot token revoke` may remove some meanwhile."""

    def __init__(self, path: Path, now: Callable[[], str]) -> None:
        self._path = path
        self._now = now
        self._seen = self._look()
        self._records = {record.login_id: record for record in self._read()}
        self._saved_at = {login_id: record.last_used_at for login_id, record in self._records.items()}
        self._removed: set[str] = set()

    def create(self, token_id: str, token_sha256: str, agent: str = "") -> NewLogin:
        """Start a login of a token."""
        cookie, secret = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        now = self._now()
        record = LoginRecord(
            login_id=f"{LOGIN_ID}{secrets.token_hex(6)}",
            token_id=token_id,
            token_sha256=token_sha256,
            cookie_sha256=_hash(cookie),
            secret_sha256=_hash(secret),
            created_at=now,
            last_used_at=now,
            agent=agent[:AGENT_CHARS],
        )
        of_token = sorted(self.list(token_id), key=lambda login: login.last_used_at)
        for oldest in of_token[: max(0, len(of_token) + 1 - LOGINS_PER_TOKEN)]:
            del self._records[oldest.login_id]
        self._records[record.login_id] = record
        self._save()
        return NewLogin(record, cookie, secret)

    def find(self, cookie: str, secret: str) -> LoginRecord | None:
        """Return the login that both halves belong to, and count it as used."""
        halves = _hash(cookie), _hash(secret)
        match = None
        for record in self._records.values():  # no early exit: the time must not tell which half is right
            is_ours = hmac.compare_digest(record.cookie_sha256, halves[0])
            if hmac.compare_digest(record.secret_sha256, halves[1]) and is_ours:
                match = record
        if match is None or match.ends_at <= self._now():
            return None
        self.use(match.login_id)
        return match

    def use(self, login_id: str) -> None:
        """Put off the end of a login."""
        record, now = self._records.get(login_id), self._now()
        if record is None:
            return
        self._records[login_id] = replace(record, last_used_at=now)
        if later(self._saved_at.get(login_id, record.created_at), SAVE_S) <= now:
            self._save()

    def list(self, token_id: str | None = None) -> list[LoginRecord]:
        """Return the logins, of one token or of all, the last used first."""
        records = [record for record in self._records.values() if token_id in (None, record.token_id)]
        return sorted(records, key=lambda record: record.last_used_at, reverse=True)

    def end(self, *login_ids: str) -> None:
        ended = [login_id for login_id in login_ids if self._records.pop(login_id, None)]
        if ended:
            self._save()

    def sync(self) -> None:
        """Take in what another process has changed in the file: logins that it removed, or that another server has."""
        seen = self._look()
        if seen == self._seen:
            return
        stored = {record.login_id: record for record in self._read()}
        self._removed |= self._records.keys() - stored.keys()
        self._records = {login_id: self._records.get(login_id, record) for login_id, record in stored.items()}
        self._seen = seen

    def take_removed(self) -> set[str]:
        """The ids of logins that others have removed since the last call."""
        self.sync()
        removed, self._removed = self._removed, set()
        return removed

    def _look(self) -> tuple[int, int, int] | None:
        try:
            stat = self._path.stat()
        except FileNotFoundError:
            return None
        return stat.st_ino, stat.st_mtime_ns, stat.st_size

    def _read(self) -> tuple[LoginRecord, ...]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_Contents).logins
        except FileNotFoundError:
            return ()
        except msgspec.DecodeError as error:
            raise ConfigError(f"{self._path} is not a list of logins ({error}); remove it and log in again") from error

    def _save(self) -> None:
        write_private(self._path, msgspec.json.encode(_Contents(tuple(self._records.values()))))
        self._seen = self._look()
        self._saved_at = {login_id: record.last_used_at for login_id, record in self._records.items()}


def _hash(half: str) -> str:
    return hashlib.sha256(half.encode("utf-8", "surrogateescape")).hexdigest()
