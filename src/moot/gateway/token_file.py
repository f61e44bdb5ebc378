"""The file of issued tokens. It holds their hashes, so that it cannot be used to log in."""

import hashlib
import secrets
from pathlib import Path

import msgspec
from msgspec import Struct

from moot.config.private_files import held, write_private
from moot.core.errors import ConfigError, NotFound
from moot.core.session.principal import Principal, Role

TOKENS = 10_000


class TokenRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An issued token. Times are ISO texts of equal form, so that they can be compared as text."""

    token_id: str
    sha256: str
    role: Role
    created_at: str
    expires_at: str | None = None
    session_id: str | None = None
    member: str | None = None
    label: str = ""
    pools: tuple[str, ...] = ()

    @property
    def principal(self) -> Principal:
        return Principal(
            token_id=self.token_id,
            role=self.role,
            session_id=self.session_id,
            member=self.member,
            pools=self.pools,
        )

    def has_expired(self, now: str) -> bool:
        return self.expires_at is not None and self.expires_at <= now


class _Contents(Struct, frozen=True):
    tokens: tuple[TokenRecord, ...] = ()


def hash_token(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


class TokenFile:
    """The token file of a data folder: `moot token` changes it while a server on the same folder reads it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> tuple[TokenRecord, ...]:
        """Return all records; none if there is no file. Raises ConfigError if the file cannot be decoded."""
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=_Contents).tokens
        except FileNotFoundError:
            return ()
        except msgspec.DecodeError as error:
            raise ConfigError(f"{self.path} is not a list of tokens ({error}); mend or remove it") from error

    def create(
        self,
        role: Role,
        created_at: str,
        *,
        session_id: str | None = None,
        member: str | None = None,
        label: str = "",
        expires_at: str | None = None,
        pools: tuple[str, ...] = (),
    ) -> tuple[str, TokenRecord]:
        """Issue a token. Return it, to be shown once, with its record. Raises ConfigError if there are too many."""
        token = f"moot_{secrets.token_urlsafe(32)}"
        record = TokenRecord(
            token_id=f"t_{secrets.token_hex(4)}",
            sha256=hash_token(token),
            role=role,
            created_at=created_at,
            expires_at=expires_at,
            session_id=session_id,
            member=member,
            label=label,
            pools=pools,
        )
        with held(self.path):
            kept = [old for old in self.read() if not old.has_expired(created_at)]
            if len(kept) >= TOKENS:
                raise ConfigError(f"there are {TOKENS} tokens already; revoke some with `moot token revoke ID`")
            self._write([*kept, record])
        return token, record

    def revoke(self, token_id: str) -> None:
        """Remove a token. Raises NotFound if there is none with this id."""
        with held(self.path):
            records = self.read()
            kept = [record for record in records if record.token_id != token_id]
            if len(kept) == len(records):
                raise NotFound(f"no token {token_id!r}; `moot token list` shows those there are")
            self._write(kept)

    def _write(self, records: list[TokenRecord]) -> None:
        write_private(self.path, msgspec.json.format(msgspec.json.encode(_Contents(tuple(records)))) + b"\n")
