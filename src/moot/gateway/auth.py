"""Tokens: what proves who is asking. Programs show the token itself, browsers a cookie that was bought with it."""

import base64
import binascii
import hashlib
import hmac
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl

from moot.core.errors import ConfigError
from moot.gateway.principal import Principal, Role
from moot.gateway.private_files import keep_secret, version_of
from moot.gateway.token_file import TokenFile, TokenRecord, hash_token
from moot.runtime.clock import SystemClock

logger = logging.getLogger(__name__)

COOKIE = "moot_token"
SHOWN = "moot.shown"  # in a scope: what the guard took out of the query, so that nobody can log it
OWNER_ID = "owner"
TOKEN_VARIABLE = "MOOT_TOKEN"  # noqa: S105 - its name, not its value
OWNER_FILE, TOKENS_FILE, KEY_FILE = "owner.token", "tokens.json", "signing.key"

Kind = Literal["bearer", "query", "cookie", "none"]


def find_token(scope: Mapping[str, Any]) -> tuple[str | None, Kind]:
    """What a request shows: `Authorization: Bearer`, else `?token=`, else the cookie; and which of them it was."""
    if SHOWN in scope:
        shown: tuple[str | None, Kind] = scope[SHOWN]
        return shown
    headers = dict(reversed(scope["headers"]))  # the first of a name counts
    scheme, _, credentials = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    if scheme.lower() == "bearer" and credentials.strip():
        return credentials.strip(), "bearer"
    for name, value in parse_qsl(scope.get("query_string", b"").decode("latin-1")):
        if name == "token":
            return value, "query"
    for crumb in headers.get(b"cookie", b"").decode("latin-1").split(";"):
        name, _, value = crumb.strip().partition("=")
        if name == COOKIE and value:
            return value, "cookie"
    return None, "none"


class Tokens:
    """The tokens of one data folder, as they are now: the file is looked at again whenever somebody asks.

    The owner's token comes from the environment (`owner_token`) or from a file that is made at the first start.
    """

    def __init__(self, folder: Path, *, owner_token: str | None = None, now: Callable[[], str] | None = None) -> None:
        self._file = TokenFile(folder / TOKENS_FILE)
        self._owner_path = folder / OWNER_FILE
        self._given_owner_token = owner_token or None
        self._now = now or SystemClock().now
        self._key = keep_secret(folder / KEY_FILE)
        self._version: object = None
        self._records: dict[str, TokenRecord] = {}
        self._gone: set[str] = set()
        self.owner_token = ""
        self._records = self._load()
        self._version = self._versions()

    @property
    def owner_is_given(self) -> bool:
        """The owner's token came from outside, so whoever started the server knows it."""
        return self._given_owner_token is not None

    def find(self, token: str) -> Principal | None:
        """Whose token this is; nobody's when it is wrong, expired or revoked."""
        self._reload()
        shown = hash_token(token)
        found = None
        for record in self._records.values():  # all of them, in the same time whether one fits or not
            if hmac.compare_digest(record.sha256, shown):
                found = record
        return self._admit(found)

    def find_login(self, cookie: str) -> Principal | None:
        """Whose cookie this is; it lives as long as the token it was bought with."""
        self._reload()
        token_id, _, seal = cookie.partition(".")
        record = self._records.get(token_id)
        expected = self._seal_login(record) if record else ""
        return self._admit(record) if hmac.compare_digest(expected.encode(), seal.encode()) else None

    def authenticate(self, shown: str) -> Principal | None:
        """Who shows this, a token or a cookie."""
        return self.find(shown) or self.find_login(shown)

    def login(self, principal: Principal) -> str:
        """The cookie for this principal. The token cannot be read from it."""
        return f"{principal.token_id}.{self._seal_login(self._records[principal.token_id])}"

    def take_gone(self) -> set[str]:
        """Ids of tokens that were revoked, replaced or have expired since this was last asked."""
        self._reload()
        now = self._now()
        for token_id in [each.token_id for each in self._records.values() if each.has_expired(now)]:
            del self._records[token_id]
            self._gone.add(token_id)
        gone, self._gone = self._gone, set()
        return gone

    def sign(self, payload: bytes) -> str:
        """`payload.seal`, both base64url; the key outlives restarts."""
        return f"{_encode(payload)}.{_encode(self._mac(b'state', payload))}"

    def unsign(self, text: str) -> bytes | None:
        """What was signed; None when it was not signed here or was changed since."""
        body, _, seal = text.partition(".")
        payload, shown = _decode(body), _decode(seal)
        if payload is None or shown is None or not hmac.compare_digest(self._mac(b"state", payload), shown):
            return None
        return payload

    def _admit(self, record: TokenRecord | None) -> Principal | None:
        return record.principal if record and not record.has_expired(self._now()) else None

    def _seal_login(self, record: TokenRecord) -> str:
        return _encode(self._mac(b"login", record.sha256.encode()))

    def _mac(self, purpose: bytes, payload: bytes) -> bytes:
        return hmac.new(self._key, purpose + b"\0" + payload, hashlib.sha256).digest()

    def _versions(self) -> object:
        return version_of(self._file.path), version_of(self._owner_path)

    def _reload(self) -> None:
        version = self._versions()
        if version == self._version:
            return
        self._version = version
        try:
            records = self._load()
        except (ConfigError, OSError) as error:
            logger.error("tokens stay as they were: %s", error)  # noqa: TRY400 - one line is enough
            return
        self._gone |= {
            token_id
            for token_id, before in self._records.items()
            if token_id not in records or records[token_id].sha256 != before.sha256
        }
        self._records = records
        self._version = self._versions()

    def _load(self) -> dict[str, TokenRecord]:
        self.owner_token = self._given_owner_token or keep_secret(self._owner_path).decode("ascii", "replace")
        owner = TokenRecord(
            token_id=OWNER_ID, sha256=hash_token(self.owner_token), role=Role.OWNER, created_at=self._now()
        )
        now = self._now()
        given_out = {record.token_id: record for record in self._file.read() if not record.has_expired(now)}
        return {**given_out, OWNER_ID: owner}


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes | None:
    try:
        return base64.b64decode(text.encode() + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
