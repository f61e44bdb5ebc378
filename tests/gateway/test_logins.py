"""Logins: what a browser holds is of use to this server's own page alone, and it ends."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

import moot
from moot.core.errors import ConfigError
from moot.core.session.principal import Role
from moot.gateway.auth import (
    LOGIN_HEADER,
    LOGIN_PREFIX,
    LOGINS_FILE,
    TOKENS_FILE,
    TRIES,
    TRIES_PER_S,
    Credentials,
    Tokens,
    TooManyTries,
)
from moot.gateway.login_file import LOGINS_PER_TOKEN, LoginFile, NewLogin
from moot.gateway.token_file import TokenFile
from tests.gateway.server import run
from tests.gateway.sites import DUO, OWNER, Site, code_of, come_true, open_site, serve_site
from tests.gateway.sockets import browser_client, socket_client

NOW, SOON = "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"
HERE = "127.0.0.1"


class Time:
    def __init__(self) -> None:
        self.at = NOW
        self.seconds = 0.0

    def now(self) -> str:
        return self.at

    def monotonic(self) -> float:
        return self.seconds


def log_in(tokens: Tokens, token: str = OWNER) -> NewLogin:
    principal = tokens.find(token)
    assert principal
    return tokens.login(principal)


def headers_of(site: Site, login: NewLogin) -> dict[str, str]:
    return {
        "cookie": f"{site.tokens.cookie_name}={login.cookie}",
        LOGIN_HEADER: login.secret,
        "origin": site.url,
    }


def test_a_login_needs_both_of_its_halves(tmp_path: Path) -> None:
    """One half, or halves of two logins, open nothing."""
    tokens = Tokens(tmp_path, owner_token=OWNER)
    one, two = log_in(tokens), log_in(tokens)
    assert tokens.find_login(one.cookie, one.secret)
    for cookie, secret in ((one.cookie, ""), ("", one.secret), (one.cookie, two.secret), (one.secret, one.cookie)):
        assert tokens.find_login(cookie, secret) is None


def test_no_half_of_a_login_is_a_token(tmp_path: Path) -> None:
    """What a browser holds is worth nothing as a bearer token or in a query, alone or joined."""
    tokens = Tokens(tmp_path, owner_token=OWNER)
    login = log_in(tokens)
    for kind in ("bearer", "query"):
        for half in (login.cookie, login.secret, f"{login.cookie}.{login.secret}", login.record.login_id):
            assert tokens.authenticate(Credentials(kind, half), HERE) is None
    kept = (tmp_path / LOGINS_FILE).read_text()
    assert [half for half in (login.cookie, login.secret, OWNER) if half in kept] == []
    assert (tmp_path / LOGINS_FILE).stat().st_mode & 0o777 == 0o600


def test_a_login_outlives_a_restart_but_not_its_token(tmp_path: Path) -> None:
    """The server keeps logins; one ends with the token it was issued for, also when that was replaced."""
    token, record = TokenFile(tmp_path / TOKENS_FILE).create(Role.VIEWER, NOW)
    tokens = Tokens(tmp_path, owner_token=OWNER)
    owner, viewer = log_in(tokens), log_in(tokens, token)
    again = Tokens(tmp_path, owner_token=OWNER)
    principal = again.find_login(viewer.cookie, viewer.secret)
    assert principal
    assert (principal.token_id, principal.login_id) == (record.token_id, viewer.record.login_id)
    assert Tokens(tmp_path, owner_token=f"another-{OWNER}").find_login(owner.cookie, owner.secret) is None
    TokenFile(tmp_path / TOKENS_FILE).revoke(record.token_id)
    assert again.find_login(viewer.cookie, viewer.secret) is None


def test_a_login_ends_when_it_is_idle_for_thirty_days(tmp_path: Path) -> None:
    """Each use puts the end off; without one it ends, is told of as gone, and does not come back."""
    time = Time()
    tokens = Tokens(tmp_path, owner_token=OWNER, now=time.now)
    used, idle = log_in(tokens), log_in(tokens)
    time.at = "2026-01-30T00:00:00.000Z"
    assert tokens.find_login(used.cookie, used.secret)
    time.at = "2026-02-01T00:00:00.000Z"
    assert tokens.find_login(idle.cookie, idle.secret) is None
    assert tokens.take_gone_logins() == {idle.record.login_id}
    assert tokens.take_gone_logins() == set()
    again = Tokens(tmp_path, owner_token=OWNER, now=time.now)
    assert [login.login_id for login in again.logins.list()] == [used.record.login_id]
    assert again.find_login(used.cookie, used.secret)


def test_a_token_has_so_many_logins(tmp_path: Path) -> None:
    """One more ends the one that was idle longest."""
    time = Time()
    tokens = Tokens(tmp_path, owner_token=OWNER, now=time.now)
    oldest, second = log_in(tokens), log_in(tokens)
    time.at = SOON
    assert tokens.find_login(oldest.cookie, oldest.secret)
    for _ in range(LOGINS_PER_TOKEN - 1):
        log_in(tokens)
    assert tokens.find_login(second.cookie, second.secret) is None
    assert tokens.find_login(oldest.cookie, oldest.secret)
    assert len(tokens.logins.list()) == LOGINS_PER_TOKEN


@pytest.mark.parametrize("token", ["a", " ", "é" * 20, "fifteen-letters", "sixteen letters!", "x" * 16 + "\n"])
def test_a_token_that_can_be_guessed_is_refused(tmp_path: Path, token: str) -> None:
    """MOOT_TOKEN has at least 16 printable ASCII characters and no space, or the server does not start."""
    with pytest.raises(ConfigError, match="at least 16 printable ASCII"):
        Tokens(tmp_path, owner_token=token)
    assert Tokens(tmp_path, owner_token="x" * 16).find("x" * 16)


def test_tokens_cannot_be_guessed_in_a_row(tmp_path: Path) -> None:
    """After so many wrong ones from an address no more are looked at for a while; other addresses are not held up."""
    time = Time()
    tokens = Tokens(tmp_path, owner_token=OWNER, monotonic=time.monotonic)
    for _ in range(3 * TRIES):
        assert tokens.authenticate(Credentials("bearer", OWNER), HERE)  # right ones do not count
    for number in range(TRIES):
        assert tokens.authenticate(Credentials("bearer", f"guess {number}"), HERE) is None
    for guess in ("one more", OWNER):
        with pytest.raises(TooManyTries):
            tokens.authenticate(Credentials("query", guess), HERE)
    assert tokens.authenticate(Credentials("bearer", OWNER), "10.0.0.1")
    login = log_in(tokens)
    assert tokens.authenticate(Credentials("login", login.cookie, login.secret), HERE)
    assert tokens.authenticate(Credentials("bearer", f"moot_{'x' * 43}"), HERE) is None  # an old one of ours
    time.seconds += 10
    assert tokens.authenticate(Credentials("bearer", OWNER), HERE)


@run
async def test_guesses_are_refused_on_every_path(tmp_path: Path) -> None:
    """Logging in, a header and a query count together; the refusal says to wait."""
    async with open_site(tmp_path) as site, site.client(None) as client:
        began, answers = time.monotonic(), []
        for number in range(TRIES):
            guess = f"guess-{number}"
            answers += [await client.post("/api/login", json={"token": guess})]
            answers += [await client.get("/api/me", headers={"authorization": f"Bearer {guess}"})]
            answers += [await client.get("/api/me", params={"token": guess})]
        codes = [(answer.status_code, code_of(answer)) for answer in answers]
        assert codes[:TRIES] == [(401, "unauthenticated")] * TRIES
        assert set(codes[TRIES:]) <= {(401, "unauthenticated"), (429, "too_many_tries")}
        assert codes.count((401, "unauthenticated")) <= TRIES + TRIES_PER_S * (time.monotonic() - began) + 1


@run
async def test_logging_in_and_out(tmp_path: Path) -> None:
    """A token buys a login: an HttpOnly SameSite=Strict cookie and a secret. Logging out ends that login alone."""
    async with open_site(tmp_path) as site, site.client(None, origin=site.url) as client:
        answer = await client.post("/api/login", json={"token": OWNER}, headers={"user-agent": "A browser"})
        body = answer.json()
        secret = body.pop("secret")
        assert body.items() >= {"role": "owner", "session_id": None, "member": None}.items()
        cookie = answer.headers["set-cookie"]
        for part in (f"{site.tokens.cookie_name}=", "HttpOnly", "Path=/", "SameSite=strict", "Max-Age=2592000"):
            assert part in cookie
        assert "Secure" not in cookie
        assert [half for half in (OWNER, secret) if half in cookie] == []
        assert (await client.get("/api/sessions")).status_code == 401  # the cookie alone
        client.headers[LOGIN_HEADER] = secret
        assert (await client.get("/api/me")).json() == body
        other = log_in(site.tokens)
        [mine] = [login for login in (await client.get("/api/logins")).json() if login["is_this"]]
        assert (mine["login_id"], mine["token_id"], mine["agent"]) == (body["login_id"], "owner", "A browser")
        kept = client.cookies[site.tokens.cookie_name]
        assert (await client.post("/api/logout")).status_code == 204
        assert site.sockets.closed_logins == [body["login_id"]]
        assert site.sockets.closed_tokens == []
        client.cookies.set(site.tokens.cookie_name, kept)  # the server, not the browser, has ended it
        assert (await client.get("/api/sessions")).status_code == 401
        assert site.tokens.find_login(other.cookie, other.secret)


@run
async def test_logins_are_listed_and_ended(tmp_path: Path) -> None:
    """An owner sees and ends every login, others those of their token; a foreign one is not found."""
    async with open_site(tmp_path) as site:
        token, token_id = site.issue(Role.VIEWER)
        owners, viewers = log_in(site.tokens), log_in(site.tokens, token)
        async with site.client() as owner, site.client(token) as viewer:
            assert {login["token_id"] for login in (await owner.get("/api/logins")).json()} == {"owner", token_id}
            [seen] = (await viewer.get("/api/logins")).json()
            assert seen["login_id"] == viewers.record.login_id
            assert (await viewer.delete(f"/api/logins/{owners.record.login_id}")).status_code == 404
            assert (await owner.delete(f"/api/logins/{viewers.record.login_id}")).status_code == 204
            assert (await owner.delete(f"/api/logins/{viewers.record.login_id}")).status_code == 404
        assert site.sockets.closed_logins == [viewers.record.login_id]
        assert site.tokens.find_login(viewers.cookie, viewers.secret) is None


def test_a_login_that_another_process_removes_ends(tmp_path: Path) -> None:
    """The server notices that a login is gone from its file, and saving its own changes does not bring it back."""
    tokens = Tokens(tmp_path, owner_token=OWNER)
    gone, kept = log_in(tokens), log_in(tokens)
    assert tokens.take_gone_logins() == set()
    LoginFile(tmp_path / LOGINS_FILE, lambda: kept.record.created_at).end(gone.record.login_id)
    assert tokens.take_gone_logins() == {gone.record.login_id}
    assert tokens.find_login(gone.cookie, gone.secret) is None
    log_in(tokens)
    assert tokens.find_login(gone.cookie, gone.secret) is None
    assert tokens.find_login(kept.cookie, kept.secret)


@run
async def test_logging_out_leaves_other_clients_alone(tmp_path: Path) -> None:
    """The sockets and streams of the login are closed with 4401; a program with the same token stays connected."""
    async with serve_site(tmp_path, DUO, has_sockets=True) as site:
        login, other = log_in(site.tokens), log_in(site.tokens)
        session_id = await site.create()
        async with (
            socket_client(site, OWNER) as program,
            moot.connect(site.url, OWNER) as client,
            browser_client(site, headers_of(site, other), other.secret) as second,
            browser_client(site, headers_of(site, login), login.secret) as first,
            site.client(None, **headers_of(site, login)) as page,
        ):
            async with page.stream("GET", f"/api/sessions/{session_id}/stream") as stream:
                assert stream.status_code == 200
                answer = await page.post("/api/logout")
                assert answer.status_code == 204
                assert await first.closed_with() == 4401
                async for _ in stream.aiter_raw():
                    pass  # it ends
            assert (await client.command("user.rename", {"title": "still here"}, session_id)).seq
            for peer in (program, second):
                assert (await peer.ask("user.request_state", session_id=session_id))["event"] == "agent.state_exported"


@run
async def test_a_socket_of_a_browser_shows_its_secret_as_a_subprotocol(tmp_path: Path) -> None:
    """With the cookie it opens the socket; the accepted subprotocol does not repeat the secret. Alone it is 4401."""
    async with serve_site(tmp_path, DUO, has_sockets=True) as site:
        login = log_in(site.tokens)
        headers = headers_of(site, login)
        async with browser_client(site, headers, login.secret) as peer:
            assert peer.link.subprotocol == "moot"
        wrong: list[tuple[dict[str, str], str]] = [
            ({**headers, "cookie": "moot_0=x"}, login.secret),
            (headers, log_in(site.tokens).secret),
        ]
        for shown, secret in wrong:
            async with browser_client(site, shown, secret, greeted=False) as peer:
                assert await peer.closed_with() == 4401
        assert LOGIN_PREFIX.startswith("moot.")


@run
async def test_a_login_is_used_while_it_has_a_socket(tmp_path: Path) -> None:
    """A page that is only looked at does not lose its login: an open connection counts as use."""
    async with serve_site(tmp_path, DUO, has_sockets=True) as site:
        login = log_in(site.tokens)
        async with browser_client(site, headers_of(site, login), login.secret):
            before = site.tokens.logins.list()[0].last_used_at

            def is_used() -> bool:
                site.gateway._watch_logins()
                return site.tokens.logins.list()[0].last_used_at > before

            await come_true(is_used)


def test_the_file_of_logins_is_checked(tmp_path: Path) -> None:
    """A file that is no list of logins stops the start and says what to do."""
    (tmp_path / LOGINS_FILE).write_text(json.dumps([{"x": 1}]))
    with pytest.raises(ConfigError, match="log in again"):
        Tokens(tmp_path)


def test_two_servers_have_two_cookies(tmp_path: Path) -> None:
    """Cookies ignore ports, so each data folder has a name of its own for its cookie, which outlives restarts."""
    names: list[Any] = [Tokens(tmp_path / folder).cookie_name for folder in ("one", "two", "one")]
    assert names[0] == names[2] != names[1]
