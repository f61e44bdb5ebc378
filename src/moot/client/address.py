"""The address of a server and its token. The token is never part of a URL that is sent or shown."""

from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from msgspec import Struct

from moot.core.errors import ConfigError
from moot.core.session.team import Language

_SECURE = {"http": False, "ws": False, "https": True, "wss": True}


class Address(Struct, frozen=True, kw_only=True):
    host: str
    port: int
    is_secure: bool
    path: str  # in front of /ws and /api, without a slash at its end
    token: str | None
    folder: Path | None = None  # of the data whose private socket it is, instead of host and port

    def __str__(self) -> str:
        if self.folder is not None:
            return f"the process that holds {self.folder}"
        return f"{'https' if self.is_secure else 'http'}://{self._place}{self.path}"

    @property
    def _place(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def websocket(self, *, takes_batches: bool, language: Language | None) -> str:
        query = {"view": "1", "batch": "1"} if takes_batches else {"view": "1"}
        if language:
            query["lang"] = language
        scheme = "wss" if self.is_secure else "ws"
        return f"{scheme}://{self._place}{self.path}/ws?{urlencode(query)}"

    @property
    def worker_socket(self) -> str:
        return f"{'wss' if self.is_secure else 'ws'}://{self._place}{self.path}/worker"


def private_address(folder: Path, token: str) -> Address:
    """Return the address of the process that holds a data folder; `token` is its owner's."""
    return Address(host="moot", port=80, is_secure=False, path="", token=token, folder=folder)


def read_address(url: str, token: str | None = None) -> Address:
    """Parse the URL of a server.

    Args:
        url: as `moot serve` prints it; it may hold the token (`#token=` or `?token=`).
        token: wins over a token in the URL.

    Raises:
        ConfigError: URL or token is malformed.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ConfigError(f"the server's URL cannot be read: {error}; use e.g. http://127.0.0.1:8765") from None
    if parts.scheme not in _SECURE or not parts.hostname:
        raise ConfigError("the server's URL must look like http://127.0.0.1:8765")
    is_secure = _SECURE[parts.scheme]
    tokens = parse_qs(parts.fragment).get("token", []) + parse_qs(parts.query).get("token", [])
    if token is None and tokens:
        token = tokens[0]
    if token is not None and (not token.isascii() or not token.isprintable() or " " in token):
        raise ConfigError("the token has characters that no token has; copy it again")
    return Address(
        host=parts.hostname,
        port=port or (443 if is_secure else 80),
        is_secure=is_secure,
        path=parts.path.rstrip("/").removesuffix("/ws"),
        token=token,
    )
