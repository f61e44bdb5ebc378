"""Authentication. Programs send a token itself; browsers send a login that they got in exchange for one."""

import hashlib
import hmac
import logging
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl

from itsdangerous import BadData, Signer
from itsdangerous.encoding import base64_decode, base64_encode
from msgspec import Struct
from msgspec.structs import replace

from moot.config.private_files import OWNER_FILE, TOKEN_VARIABLE, keep_secret, version_of
from moot.core.bucket import Bucket
from moot.core.errors import ConfigError, MootError
from moot.core.session.principal import Principal, Role
from moot.gateway.login_file import LoginFile, NewLogin
from moot.gateway.token_file import TokenFile, TokenRecord, hash_token
from moot.runtime.clock import SystemClock

logger = logging.getLogger(__name__)

CREDENTIALS = "moot.credentials"  # key in a scope: what `find_credentials` returned before the query was stripped
LOGIN_HEADER, SUBPROTOCOL = "moot-login", "moot"
LOGIN_PREFIX = f"{SUBPROTOCOL}.login."  # of the subprotocol that carries the secret of a login
OWNER_ID = "owner"
TOKENS_FILE, KEY_FILE, LOGINS_FILE = "tokens.json", "signing.key", "logins.json"
TOKEN_CHARS = 16  # the shortest MOOT_TOKEN
TRIES, TRIES_PER_S, PEERS = 20, 0.5, 1000  # wrong tokens of one address, and of how many addresses they are counted

_CHOSEN = re.compile(rf"[!-~]{{{TOKEN_CHARS},}}")
_GENERATED = re.compile(r"(?:moot_)?[\w-]{43}", re.ASCII)  # 256 bits: guessing is hopeless

Kind = Literal["bearer", "query", "login", "none"]


class Credentials(Struct, frozen=True):
    """What a request shows to be let in: a token, or both halves of a login (`token` is the cookie then)."""

    kind: Kind = "none"
    token: str = ""
    secret: str = ""


class TooManyTries(MootError):
    """An address has tried too many wrong tokens; more are not looked at for a while."""


def find_credentials(scope: Mapping[str, Any], cookie_name: str) -> Credentials:
    """Return the credentials of a request.

    `Authorization: Bearer` takes precedence over `?token=`, and that over a login, which needs its cookie and its
    secret: in the header `Moot-Login` or, on a socket, in the subprotocol.
    """
    if CREDENTIALS in scope:
        kept: Credentials = scope[CREDENTIALS]
        return kept
    headers = dict(reversed(scope["headers"]))  # the first header of each name wins
    scheme, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return Credentials("bearer", token.strip())
    for name, value in parse_qsl(scope.get("query_string", b"").decode("latin-1")):
        if name == "token":
            return Credentials("query", value)
    secret = headers.get(LOGIN_HEADER.encode(), b"").decode("latin-1")
    for subprotocol in scope.get("subprotocols", ()):
        secret = secret or (subprotocol.removeprefix(LOGIN_PREFIX) if subprotocol.startswith(LOGIN_PREFIX) else "")
    for crumb in headers.get(b"cookie", b"").decode("latin-1").split(";"):
        name, _, value = crumb.strip().partition("=")
        if name == cookie_name and value and secret:
            return Credentials("login", value, secret)
    return Credentials()


def pick_subprotocol(scope: Mapping[str, Any]) -> str | None:
    """Return the subprotocol to accept: browsers close a socket that offered some and got none."""
    offered: list[str] = scope.get("subprotocols", [])
    ours = [name for name in offered if name == SUBPROTOCOL or name.startswith(LOGIN_PREFIX)]
    return min(ours, key=len, default=None)  # without the secret, if that is possible


def address_of(scope: Mapping[str, Any]) -> str:
    """Return the address of the peer of a request, or of the proxy in front."""
    return str((scope.get("client") or ("",))[0])


class Tokens:
    """The valid tokens of one data folder. Every lookup reloads the token file if it has changed.

    The owner's token is `owner_token` (from the environment) or comes from a file that the first start creates. Raises
    ConfigError if `owner_token` could be guessed, or could not be sent in a header.
    """

    def __init__(
        self,
        folder: Path,
        *,
        owner_token: str | None = None,
        now: Callable[[], str] | None = None,
        monotonic: Callable[[], float] | None = None,
    ) -> None:
        if owner_token and not _CHOSEN.fullmatch(owner_token):
            raise ConfigError(
                f"{TOKEN_VARIABLE} must have at least {TOKEN_CHARS} printable ASCII characters and no space; "
                "unset it to have one made"
            )
        self.file = TokenFile(folder / TOKENS_FILE)
        self._owner_path = folder / OWNER_FILE
        self._given_owner_token = owner_token or None
        self._now = now or SystemClock().now
        key = keep_secret(folder / KEY_FILE)  # outlives restarts
        self._states = Signer(key, salt=b"state", digest_method=hashlib.sha256)
        self.cookie_name = f"moot_{hashlib.sha256(b'cookie' + key).hexdigest()[:8]}"  # other ports have another one
        self.logins = LoginFile(folder / LOGINS_FILE, self._now)
        self._monotonic = monotonic or SystemClock().monotonic
        self._tries: dict[str, Bucket] = {}  # by address
        self._version: object = None
        self._records: dict[str, TokenRecord] = {}
        self._gone: set[str] = set()
        self._expired: set[str] = set()  # by the clock when it was last looked at
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

    def find_login(self, cookie: str, secret: str) -> Principal | None:
        """Return the holder of a login. It is valid for as long as the token it was issued for."""
        self._reload()
        self.logins.sync()
        login = self.logins.find(cookie, secret)
        record = self._records.get(login.token_id) if login else None
        if login is None or record is None or record.sha256 != login.token_sha256:
            return None
        principal = self._admit(record)
        return replace(principal, login_id=login.login_id) if principal else None

    def authenticate(self, credentials: Credentials, address: str) -> Principal | None:
        """Return the holder of valid credentials, else None. `address` is where they come from.

        Raises TooManyTries, without a look at the token, if too many wrong ones came from there.
        """
        match credentials.kind:
            case "none":
                return None
            case "login":
                return self.find_login(credentials.token, credentials.secret)
            case "bearer" | "query":
                return self._find_by_token(credentials.token, address)

    def _find_by_token(self, token: str, address: str) -> Principal | None:
        if _GENERATED.fullmatch(token):  # a program with an old token must not lock others out
            return self.find(token)
        now = self._monotonic()
        tries = self._tries.pop(address, None) or Bucket(TRIES_PER_S, TRIES, now)
        self._tries[address] = tries  # the last one now: the first one goes if there are too many
        if len(self._tries) > PEERS:
            del self._tries[next(iter(self._tries))]
        if not tries.take(now, 1.0):
            raise TooManyTries(f"too many wrong tokens from {address}")
        principal = self.find(token)
        if principal:
            tries.give_back(1.0)
        return principal

    def login(self, principal: Principal, agent: str = "") -> NewLogin:
        """Start a login for the holder of a token. What the browser gets does not contain the token."""
        record = self._records[principal.token_id]
        return self.logins.create(record.token_id, record.sha256, agent)

    def take_gone_logins(self) -> set[str]:
        """End the logins that were idle too long, or whose token is gone. Return the ids of all that ended."""
        now, revoked = self._now(), self.logins.take_removed()
        gone = {
            login.login_id
            for login in self.logins.list()
            if login.ends_at <= now or login.token_id not in self._records
        }
        self.logins.end(*gone)
        return gone | revoked

    def take_gone(self) -> set[str]:
        """Return the ids of tokens that were revoked, replaced or have expired since the last call."""
        self._reload()
        now = self._now()
        expired = {record.token_id for record in self._records.values() if record.has_expired(now)}
        gone = self._gone | (expired - self._expired)
        self._gone, self._expired = set(), expired  # not removed: the clock may only have jumped, and jump back
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
        return version_of(self.file.path), version_of(self._owner_path)

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
        return {**{record.token_id: record for record in self.file.read()}, OWNER_ID: owner}
