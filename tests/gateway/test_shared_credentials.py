"""Tokens and logins of several servers on one store: what changed on both sides since they were equal is kept."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from moot.core.session.principal import Role
from moot.gateway.auth import KEY_FILE, LOGINS_FILE, TOKENS_FILE, Tokens
from moot.gateway.shared_credentials import SharedCredentials, merge
from moot.gateway.token_file import TokenFile

AT = "2026-01-01T00:00:00.000Z"


def tokens(*records: tuple[str, str]) -> bytes:
    return msgspec.json.encode({"tokens": [{"token_id": name, "sha256": value} for name, value in records]})


@pytest.mark.parametrize(
    ("base", "here", "there", "merged"),
    [
        ((), (("a", "1"),), (("b", "1"),), (("b", "1"), ("a", "1"))),  # both added
        ((("a", "1"), ("b", "1")), (("b", "1"),), (("a", "1"), ("b", "1")), (("b", "1"),)),  # removed here
        ((("a", "1"), ("b", "1")), (("a", "2"), ("b", "1")), (("b", "1"),), (("b", "1"),)),  # used here, removed there
        ((("a", "1"),), (("a", "2"),), (("a", "1"), ("c", "1")), (("a", "2"), ("c", "1"))),  # changed here, added there
        ((("a", "1"),), (), (), ()),  # removed on both sides
    ],
)
def test_changes_of_two_servers_are_merged(
    base: Sequence[tuple[str, str]],
    here: Sequence[tuple[str, str]],
    there: Sequence[tuple[str, str]],
    merged: Sequence[tuple[str, str]],
) -> None:
    """Record by record; what one of them has removed does not come back."""
    result = merge(tokens(*base), tokens(*here), tokens(*there), "tokens", "token_id")
    assert msgspec.json.decode(result) == msgspec.json.decode(tokens(*merged))


class Shelf:
    """Documents in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[int, bytes]] = {}

    async def get(self, names: Sequence[str]) -> dict[str, tuple[int, bytes]]:
        return {name: self.kept[name] for name in names if name in self.kept}

    async def put(self, name: str, version: int, data: bytes) -> bool:
        if self.kept.get(name, (0, b""))[0] != version:
            return False
        self.kept[name] = (version + 1, data)
        return True

    async def wait(self, at_most_s: float) -> None:
        await asyncio.sleep(0)


def test_servers_have_one_key_one_owner_and_the_same_tokens(tmp_path: Path) -> None:
    """The second server takes what the first one brought; a token or a login of one is one of the other."""

    async def play() -> None:
        shelf = Shelf()
        one, two = [SharedCredentials(tmp_path / name, shelf, has_owner_file=True) for name in ("one", "two")]
        await one.start()
        first = Tokens(tmp_path / "one")
        token, _ = TokenFile(tmp_path / "one" / TOKENS_FILE).create(Role.VIEWER, AT)
        await one.sync()
        await two.start()
        second = Tokens(tmp_path / "two")
        assert (second.owner_token, second.cookie_name) == (first.owner_token, first.cookie_name)
        assert second.unsign(first.sign(b"state")) == b"state"
        owner = first.find(first.owner_token)
        assert owner is not None
        assert second.find(token) is not None
        login = first.login(owner)
        await one.sync()
        await two.sync()
        assert second.find_login(login.cookie, login.secret) is not None
        [record] = TokenFile(tmp_path / "two" / TOKENS_FILE).read()
        TokenFile(tmp_path / "two" / TOKENS_FILE).revoke(record.token_id)
        second.logins.end(login.record.login_id)
        await two.sync()
        await one.sync()
        assert first.find(token) is None
        assert first.take_gone() == {record.token_id}
        assert first.take_gone_logins() == {login.record.login_id}
        assert (tmp_path / "one" / KEY_FILE).read_bytes() == (tmp_path / "two" / KEY_FILE).read_bytes()
        assert (tmp_path / "one" / LOGINS_FILE).exists()

    asyncio.run(play())
