"""Tokens and signatures."""

import threading
from pathlib import Path
from typing import Any

import pytest

from moot.config.private_files import OWNER_FILE
from moot.core.errors import ConfigError, NotFound
from moot.core.session.principal import Principal, Role
from moot.gateway.auth import KEY_FILE, LOGIN_PREFIX, TOKENS_FILE, Credentials, Tokens, find_credentials
from moot.gateway.token_file import TokenFile

NOW = "2026-01-01T00:00:00.000Z"
LATER = "2026-01-02T00:00:00.000Z"


class Time:
    def __init__(self) -> None:
        self.at = NOW

    def __call__(self) -> str:
        return self.at


def scope(query: str = "", **headers: str) -> dict[str, Any]:
    return {"query_string": query.encode(), "headers": [(k.encode(), v.encode()) for k, v in headers.items()]}


BOTH = {"cookie": "a=b; moot_1=abc; c=d", "moot-login": "s"}


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (scope(authorization="Bearer abc"), Credentials("bearer", "abc")),
        (scope(authorization="bearer  abc "), Credentials("bearer", "abc")),
        (scope("x=1&token=a%2Bb"), Credentials("query", "a+b")),
        (scope(**BOTH), Credentials("login", "abc", "s")),
        (scope(cookie="moot_1=abc") | {"subprotocols": ["moot", f"{LOGIN_PREFIX}s"]}, Credentials("login", "abc", "s")),
        (scope("token=q", authorization="Bearer b", **BOTH), Credentials("bearer", "b")),
        (scope("token=q", **BOTH), Credentials("query", "q")),
        (scope(cookie="moot_1=abc"), Credentials()),
        (scope(**{"moot-login": "s"}), Credentials()),
        (scope(cookie="moot_2=abc", **{"moot-login": "s"}), Credentials()),
        (scope(authorization="Basic abc"), Credentials()),
        (scope(authorization="Bearer "), Credentials()),
        (scope("token="), Credentials()),
        (scope(), Credentials()),
    ],
)
def test_where_credentials_are_looked_for(given: dict[str, Any], found: Credentials) -> None:
    """Authorization: Bearer, else ?token=, else a login, which is its cookie and its secret together."""
    assert find_credentials(given, "moot_1") == found


@pytest.mark.parametrize(
    ("principal", "reads", "writes", "creates"),
    [
        (Principal(token_id="t", role=Role.OWNER), "ab", "ab", True),
        (Principal(token_id="t", role=Role.OWNER, session_id="a"), "a", "a", False),
        (Principal(token_id="t", role=Role.MEMBER, member="m"), "ab", "ab", False),
        (Principal(token_id="t", role=Role.MEMBER, session_id="a", member="m"), "a", "a", False),
        (Principal(token_id="t", role=Role.VIEWER), "ab", "", False),
        (Principal(token_id="t", role=Role.VIEWER, session_id="b"), "b", "", False),
    ],
)
def test_what_each_role_may_do(principal: Principal, reads: str, writes: str, creates: bool) -> None:
    """Owner everything, member speaks, viewer reads; a token for one session knows no other."""
    assert "".join(filter(principal.may_read, "ab")) == reads
    assert "".join(filter(principal.may_write, "ab")) == writes
    assert principal.may_create is creates


def test_the_owners_token_is_made_once_and_kept(tmp_path: Path) -> None:
    """The URL of the first start works after every later one."""
    token = Tokens(tmp_path).owner_token
    assert len(token) >= 43
    again = Tokens(tmp_path)
    assert again.owner_token == token
    owner = again.find(token)
    assert owner
    assert (owner.role, owner.session_id, again.owner_is_given) == (Role.OWNER, None, False)


def test_a_token_from_the_environment_is_written_nowhere(tmp_path: Path) -> None:
    """It replaces the generated one for as long as it is given."""
    kept = Tokens(tmp_path).owner_token
    tokens = Tokens(tmp_path, owner_token="from-outside-this-time")
    assert tokens.owner_is_given
    assert tokens.find("from-outside-this-time")
    assert tokens.find(kept) is None
    assert not any(b"from-outside-this-time" in path.read_bytes() for path in tmp_path.iterdir())


def test_files_with_secrets_are_for_their_owner_only(tmp_path: Path) -> None:
    """Mode 0600, a folder of 0700, and of given tokens only hashes."""
    folder = tmp_path / "data"
    Tokens(folder)
    token, _ = TokenFile(folder / TOKENS_FILE).create(Role.VIEWER, NOW)
    assert folder.stat().st_mode & 0o777 == 0o700
    for path in folder.iterdir():
        assert path.stat().st_mode & 0o777 == 0o600, path
        assert token.encode() not in path.read_bytes()
    assert {path.name for path in folder.iterdir()} >= {OWNER_FILE, TOKENS_FILE, KEY_FILE}


def test_changes_are_noticed_at_once(tmp_path: Path) -> None:
    """`moot token` acts on a server that runs: made, then revoked, and told who is gone."""
    tokens, file = Tokens(tmp_path), TokenFile(tmp_path / TOKENS_FILE)
    token, record = file.create(Role.MEMBER, NOW, session_id="s_12345678", member="alice", label="for Alice")
    found = tokens.find(token)
    assert found == Principal(token_id=record.token_id, role=Role.MEMBER, session_id="s_12345678", member="alice")
    assert tokens.take_gone() == set()
    file.revoke(record.token_id)
    assert tokens.find(token) is None
    assert tokens.take_gone() == {record.token_id}
    assert tokens.take_gone() == set()
    with pytest.raises(NotFound, match="moot token list"):
        file.revoke(record.token_id)


def test_tokens_expire(tmp_path: Path) -> None:
    """An expired token is worthless, also for a login bought with it and for those connected with it."""
    time = Time()
    token, record = TokenFile(tmp_path / TOKENS_FILE).create(Role.VIEWER, NOW, expires_at=LATER)
    tokens = Tokens(tmp_path, now=time)
    principal = tokens.find(token)
    assert principal
    _, cookie, secret = tokens.login(principal)
    time.at = LATER
    assert tokens.find(token) is None
    assert tokens.find_login(cookie, secret) is None
    assert tokens.take_gone() == {record.token_id}
    assert tokens.take_gone() == set()


def test_a_clock_that_jumps_and_comes_back(tmp_path: Path) -> None:
    """Expiry is a wall time: a jump over it closes connections, and a jump back makes the token good again."""
    time = Time()
    file = TokenFile(tmp_path / TOKENS_FILE)
    token, record = file.create(Role.VIEWER, NOW, expires_at=LATER)
    tokens = Tokens(tmp_path, now=time)
    principal = tokens.find(token)
    assert principal
    _, cookie, secret = tokens.login(principal)
    for _ in range(2):
        time.at = LATER
        assert tokens.find(token) is None
        assert tokens.take_gone() == {record.token_id}
        time.at = NOW
        assert tokens.find(token) == principal
        assert tokens.find_login(cookie, secret)
        assert tokens.take_gone() == set()
    time.at = LATER
    started_then = Tokens(tmp_path, now=time)
    assert started_then.find(token) is None
    time.at = NOW
    assert started_then.find(token) == principal


def test_a_new_owner_token_ends_the_old_one(tmp_path: Path) -> None:
    """Connections of the old one are told of as gone."""
    tokens = Tokens(tmp_path)
    old = tokens.owner_token
    (tmp_path / OWNER_FILE).unlink()
    fresh = Tokens(tmp_path).owner_token
    assert fresh != old
    assert tokens.find(old) is None
    assert tokens.find(fresh)
    assert tokens.take_gone() == {"owner"}


def test_what_was_signed_comes_back_and_nothing_else(tmp_path: Path) -> None:
    """signed_state, with a key that outlives restarts; a tampered one is refused."""
    tokens = Tokens(tmp_path)
    signed = tokens.sign(b'{"seq":4}')
    assert Tokens(tmp_path).unsign(signed) == b'{"seq":4}'
    body, _, seal = signed.partition(".")
    for changed in (f"{body[:-1]}A.{seal}", f"{body}.{seal[:-2]}AA", body, f".{seal}", "", "é", f"{signed}.", "a.b.c"):
        assert tokens.unsign(changed) is None, changed
    assert Tokens(tmp_path / "other").unsign(signed) is None


def test_a_file_that_cannot_be_read_changes_nothing(tmp_path: Path) -> None:
    """A running server keeps the tokens it knows and says so; a start is refused."""
    tokens, file = Tokens(tmp_path), TokenFile(tmp_path / TOKENS_FILE)
    token, _ = file.create(Role.VIEWER, NOW)
    assert tokens.find(token)
    file.path.write_text("not a list of tokens")
    assert tokens.find(token)
    with pytest.raises(ConfigError, match="mend or remove it"):
        Tokens(tmp_path)
    file.path.unlink()
    assert tokens.find(token) is None


def test_tokens_made_at_once_are_all_kept(tmp_path: Path) -> None:
    """Writers take turns: no token is lost to another one's write."""
    file = TokenFile(tmp_path / TOKENS_FILE)
    made: list[str] = []
    threads = [threading.Thread(target=lambda: made.append(file.create(Role.VIEWER, NOW)[0])) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tokens = Tokens(tmp_path)
    assert len(made) == 20
    assert all(tokens.find(token) for token in made)


def test_expired_tokens_do_not_pile_up(tmp_path: Path) -> None:
    """Making a token forgets those that are past."""
    file = TokenFile(tmp_path / TOKENS_FILE)
    file.create(Role.VIEWER, NOW, expires_at=NOW)
    _, record = file.create(Role.VIEWER, LATER)
    assert [each.token_id for each in file.read()] == [record.token_id]
