"""Authentication. Programs send a token itself; browsers send a cookie that they got in exchange for one."""

import hashlib
import hmac
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl

from itsdangerous import BadData, Signer
from itsdangerous.encoding import base64_decode, base64_encode

from moot.config.private_files import keep_secret, version_of
from moot.core.errors import ConfigError
from moot.core.session.principal import Principal, Role
from moot.gateway.token_file import TokenFile, TokenRecord, hash_token
from moot.runtime.clock import SystemClock

logger = logging.getLogger(__name__)

COOKIE = "moot_token"
CREDENTIALS = "moot.credentials"  # key in a scope: what `find_token` returned before the query was stripped
OWNER_ID = "owner"
TOKEN_VARIABLE = "MOOT_TOKEN"  # noqa: S105 - its name, not its value
OWNER_FILE, TOKENS_FILE, KEY_FILE = "owner.token", "tokens.json", "signing.key"

Kind = Literal["bearer", "query", "cookie", "none"]


def find_token(scope: Mapping[str, Any]) -> tuple[str | None, Kind]:
    """Return the token or cookie of a request, and which it is.

    `Authorization: Bearer` takes precedence over `?token=`, and that over the cookie.
    """
    if CREDENTIALS in scope:
        kept: tuple[str | None, Kind] = scope[CREDENTIALS]
        return kept
    headers = dict(reversed(scope["headers"]))  # the first header of each name wins
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
    """The valid tokens of one data folder. Every lookup reloads the token file if it has changed.

    The owner's token is `owner_token` (from the environment) or comes from a file that the first start creates.
    """

    def __init__(self, folder: Path, *, owner_token: str | None = None, now: Callable[[], str] | None = None) -> None:
        self._file = TokenFile(folder / TOKENS_FILE)
        self._owner_path = folder / OWNER_FILE
        self._given_owner_token = owner_token or None
        self._now = now or SystemClock().now
        key = keep_secret(folder / KEY_FILE)  # outlives restarts
        self._states = Signer(key, salt=b"state", digest_method=hashlib.sha256)
        self._logins = Signer(key, salt=b"login", digest_method=hashlib.sha256)
        self._version: object = None
        self._records: dict[str, TokenRecord] = {}
        self._gone: set[str] = set()
        self.owner_token = ""
        self._records = self._load()
        self._version = self._versions()

    @property
    def owner_is_given(self) -> bool:
        """Whether the owner's token was passed in, so that it need not be shown to whoever started the server."""
        return self._given_owner_token is not None

    def find(self, token: str) -> Principal | None:
        """Return the holder of this token; None if it is unknown, expired or revoked."""
        self._reload()
        digest = hash_token(token)
        match = None
        for record in self._records.values():  # no early exit: the time must not tell whether a record matches
            if hmac.compare_digest(record.sha256, digest):
                match = record
        return self._admit(match)

    def find_login(self, cookie: str) -> Principal | None:
        """Return the holder of this login cookie. It is valid for as long as the token it was issued for."""
        self._reload()
        token_id, _, signature = cookie.partition(".")
        record = self._records.get(token_id)
        is_ours = record is not None and self._logins.verify_signature(record.sha256, signature)
        return self._admit(record) if is_ours else None

    def authenticate(self, credentials: str) -> Principal | None:
        """Return the holder of a token or a login cookie; None if it is not valid."""
        return self.find(credentials) or self.find_login(credentials)

    def login(self, principal: Principal) -> str:
        """Return the login cookie for a principal. It does not contain the token."""
        record = self._records[principal.token_id]
        return f"{record.token_id}.{self._logins.get_signature(record.sha256).decode()}"

    def take_gone(self) -> set[str]:
        """Return the ids of tokens that were revoked, replaced or have expired since the last call."""
        self._reload()
        now = self._now()
        for token_id in [record.token_id for record in self._records.values() if record.has_expired(now)]:
            del self._records[token_id]
            self._gone.add(token_id)
        gone, self._gone = self._gone, set()
        return gone

    def sign(self, payload: bytes) -> str:
        """Return `payload.signature`, both base64url."""
        return self._states.sign(base64_encode(payload)).decode()

    def unsign(self, text: str) -> bytes | None:
        """Return the payload of a text from `sign`; None if the signature does not match."""
        try:
            return base64_decode(self._states.unsign(text))
        except (BadData, ValueError):  # ValueError: the text is not UTF-8
            return None

    def _admit(self, record: TokenRecord | None) -> Principal | None:
        return record.principal if record and not record.has_expired(self._now()) else None

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
