"""`moot token`: who else may connect."""

import errno
import os
from pathlib import Path

import pytest

from moot.core.session.principal import Principal, Role
from moot.gateway.auth import Tokens
from tests.cli.command import Moot


def test_a_token_is_shown_once(moot: Moot) -> None:
    """The token is data, on stdout and alone; what it is for is talk."""
    said = moot("token", "create", "--role", "viewer", "--label", "the office screen")
    assert said.code == 0
    [token] = said.lines
    assert token not in said.err
    assert "viewer in every session without expiry (the office screen)" in said.err
    listed = moot("token", "list")
    assert token not in listed.out
    assert "viewer in every session without expiry (the office screen)" in listed.out
    assert Tokens(moot.data).find(token) == Principal(token_id=listed.out.split()[0], role=Role.VIEWER)


def test_a_label_is_plain_text(moot: Moot) -> None:
    """Whoever lists the tokens sees it, and it may have come from elsewhere."""
    said = moot("token", "create", "--role", "viewer", "--label", "the \x1b]0;mine\x07office")
    listed = moot("token", "list")
    for shown in (said.err, listed.out):
        assert "(the office)" in shown


def test_the_owners_token_is_shown(moot: Moot, monkeypatch: pytest.MonkeyPatch) -> None:
    """`moot token` alone prints what a server on the same data takes, the one of the environment first."""
    [token] = moot("token").lines
    assert moot("token", "--data", str(moot.data)).lines == [token]
    assert Tokens(moot.data).owner_token == token
    monkeypatch.setenv("MOOT_TOKEN", "from-the-environment")
    assert moot("token").lines == ["from-the-environment"]


def test_a_folder_may_stand_before_the_action(moot: Moot, tmp_path: Path) -> None:
    """--data means the same in both places."""
    moot("token", "--data", str(tmp_path / "other"), "create", "--role", "viewer")
    assert moot("token", "list").lines == []
    assert len(moot("token", "list", "--data", str(tmp_path / "other")).lines) == 1


def test_what_a_token_is_for(moot: Moot) -> None:
    """Role, session, member and expiry are kept; --json gives and lists them, the token only when it is made."""
    [made] = moot(
        *("token", "create", "--role", "member", "--member", "alice", "--session", "s_12345678"),
        *("--expires", "3600", "--json"),
    ).objects
    found = Tokens(moot.data).find(made["token"])
    assert found
    assert (found.role, found.session_id, found.member) == (Role.MEMBER, "s_12345678", "alice")
    [listed] = moot("token", "list", "--json").objects
    assert listed == {key: value for key, value in made.items() if key != "token"}
    assert listed["created_at"] < listed["expires_at"]
    assert "as alice in s_12345678 until" in moot("token", "list").out


def test_revoking(moot: Moot) -> None:
    """The token is worthless at once; a second time there is nothing to revoke."""
    [made] = moot("token", "create", "--role", "owner", "--json").objects
    tokens = Tokens(moot.data)
    assert tokens.find(made["token"])
    assert moot("token", "revoke", made["token_id"]) == (0, "", "")
    assert tokens.find(made["token"]) is None
    again = moot("token", "revoke", made["token_id"])
    assert (again.code, again.out) == (4, "")
    assert "moot token list" in again.err


def test_logins_are_listed_and_revoked(moot: Moot) -> None:
    """Each browser with its token; a revoked one is logged out, and one that is not there is named."""
    assert moot("token", "logins").err == "no browser is logged in\n"
    tokens = Tokens(moot.data)
    owner = tokens.find(tokens.owner_token)
    assert owner
    new = tokens.login(owner, "Firefox")
    login_id = new.record.login_id
    assert moot("token", "logins").lines == [f"{login_id}  owner  last used {new.record.last_used_at}  Firefox"]
    assert moot("token", "logins", "--json").objects[0]["ends_at"] == new.record.ends_at
    assert new.secret not in moot("token", "logins", "--json").out
    assert moot("token", "revoke", login_id) == (0, "", "")
    assert moot("token", "logins").out == ""
    again = moot("token", "revoke", login_id)
    assert (again.code, login_id in again.err) == (4, True)


def test_revoking_the_owner_makes_a_new_one(moot: Moot) -> None:
    """The old URL is worthless; the new one is printed by the next start, not here."""
    old = Tokens(moot.data).owner_token
    said = moot("token", "revoke", "owner")
    fresh = Tokens(moot.data).owner_token
    assert (said.code, said.out) == (0, "")
    assert fresh != old
    assert fresh not in said.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--role", "member"],
        ["--role", "viewer", "--member", "alice"],
        ["--role", "viewer", "--session", "../etc"],
        ["--role", "viewer", "--expires", "0"],
        ["--role", "viewer", "--expires", "nan"],
        ["--role", "viewer", "--expires", "1e30"],
    ],
)
def test_tokens_that_make_no_sense(arguments: list[str], moot: Moot) -> None:
    """One sentence, exit 2, and nothing is made."""
    said = moot("token", "create", *arguments)
    assert (said.code, said.out) == (2, "")
    assert len(said.err.splitlines()) == 1
    assert moot("token", "list").out == ""


def test_wrong_usage(moot: Moot) -> None:
    """A role that is none is a usage error."""
    assert moot("token", "create", "--role", "king").code == 2
    assert moot("token", "create").code == 2


def test_a_full_disk_is_told_with_the_file(moot: Moot, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence names the file that could not be written, not the output, and what helps."""

    def refuse(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("moot.config.private_files.os.fsync", refuse)
    ended = moot("token", "create", "--role", "viewer")
    assert (ended.code, ended.out) == (1, "")
    assert f"{moot.data / 'tokens.json'} cannot be used (No space left on device); make room" in ended.err
    assert [
        file.name for file in moot.data.iterdir() if file.name.startswith("tokens.json.") and "lock" not in file.name
    ] == []
