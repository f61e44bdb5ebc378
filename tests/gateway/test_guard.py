"""The guard in front of everything: Host, Origin, tokens, headers."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Message

from moot.core.session.principal import Role
from moot.gateway.auth import LOGIN_HEADER
from moot.gateway.guard import CSP, is_public
from moot.gateway.hosts import allow_hosts, make_url
from tests.gateway.sites import OWNER, PAST, Site, code_of, count, open_site
from tests.runtime.apps import run

HOST = "127.0.0.1:8765"
ORIGIN = "http://127.0.0.1:8765"
EVIL_ORIGINS = [
    "http://evil.com",
    "https://evil.com",
    "null",
    "http://127.0.0.1.evil.com",
    "http://127.0.0.1.evil.com:8765",
    "http://127.0.0.1:8766",
    "http://127.0.0.1",
    "https://127.0.0.1:8765",
    "http://127.0.0.1:8765.evil.com",
    "http://user@127.0.0.1:8765",
    "http://127.0.0.1:8765/",
    "file://",
    "",
]
EVIL_HOSTS = ["evil.com", "evil.com:8765", "127.0.0.1", "127.0.0.1:80", "127.0.0.1.evil.com:8765", "localhost", ""]


async def connect(
    site: Site, path: str = "/ws", query: str = "", more: Sequence[tuple[bytes, bytes]] = (), **headers: str
) -> list[Message]:
    """A WebSocket handshake: what the server says before it reads anything."""
    scope: dict[str, Any] = {
        "type": "websocket",
        "path": path,
        "query_string": query.encode(),
        "headers": [*more, *((name.encode(), value.encode()) for name, value in headers.items())],
    }
    said: list[Message] = []
    heard: list[Message] = [{"type": "websocket.connect"}, {"type": "websocket.disconnect"}]

    async def receive() -> Message:
        return heard.pop(0)

    async def send(message: Message) -> None:
        said.append(message)

    await site.gateway(scope, receive, send)
    return said


async def is_let_in(site: Site, path: str = "/ws", query: str = "", **headers: str) -> bool:
    [answer] = await connect(site, path, query, (), **headers)
    assert answer["type"] in ("websocket.accept", "websocket.close")  # a close before accepting is HTTP 403
    return bool(answer["type"] == "websocket.accept")


def login_of(site: Site, token: str = OWNER) -> dict[str, str]:
    """The headers of a browser that has logged in."""
    principal = site.tokens.find(token)
    assert principal
    _, cookie, secret = site.tokens.login(principal)
    return {"cookie": f"{site.tokens.cookie_name}={cookie}", LOGIN_HEADER: secret}


@run
async def test_sockets_take_only_our_origins(tmp_path: Path) -> None:
    """Another origin is refused before the upgrade, with whatever token."""
    async with open_site(tmp_path) as site:
        for origin in EVIL_ORIGINS:
            for query, headers in (
                ("", {}),
                (f"token={OWNER}", {}),
                ("", {"authorization": f"Bearer {OWNER}"}),
                ("", login_of(site)),
            ):
                assert not await is_let_in(site, query=query, host=HOST, origin=origin, **headers), origin
        for name in ("127.0.0.1", "localhost", "[::1]", "LOCALHOST"):
            host = f"{name}:8765"
            assert await is_let_in(site, query=f"token={OWNER}", host=host, origin=f"http://{host}")
            assert await is_let_in(site, host=host, origin=f"http://{host}", **login_of(site))
        assert site.sockets.closed_tokens == []


@run
async def test_no_origin_is_for_programs(tmp_path: Path) -> None:
    """Without Origin only Bearer or ?token= gets in; a cookie is a browser's, and browsers send it.

    Who shows nothing at all is told so like who shows something wrong.
    """
    async with open_site(tmp_path) as site:
        assert await is_let_in(site, query=f"token={OWNER}", host=HOST)
        assert await is_let_in(site, host=HOST, authorization=f"Bearer {OWNER}")
        assert not await is_let_in(site, host=HOST, **login_of(site))
        assert await is_let_in(site, query="token=wrong", host=HOST)  # the endpoint closes it with 4401
        assert await is_let_in(site, host=HOST)  # 4401 again
        assert await is_let_in(site, host=HOST, origin=ORIGIN)  # and again


@run
async def test_sockets_take_only_our_hosts(tmp_path: Path) -> None:
    """A name that was bent to this machine (DNS rebinding) is refused, and so are two names."""
    async with open_site(tmp_path) as site:
        for host in EVIL_HOSTS:
            assert not await is_let_in(site, query=f"token={OWNER}", host=host), host
            assert not await is_let_in(site, query=f"token={OWNER}", host=host, origin=f"http://{host}"), host
        assert not await is_let_in(site, query=f"token={OWNER}")
        doubled = [(b"host", HOST.encode()), (b"host", b"evil.com")]
        [answer] = await connect(site, query=f"token={OWNER}", more=doubled)
        assert answer["type"] == "websocket.close"
        assert count(site, 'moot_forbidden_requests_total{reason="host"}') > len(EVIL_HOSTS)


@run
async def test_sockets_are_at_two_places(tmp_path: Path) -> None:
    """WebSocket at /ws and at /."""
    async with open_site(tmp_path) as site:
        for path, expected in {
            "/": True,
            "/ws": True,
            "/api/sessions": False,
            "/ws/": False,
            "/static/x": False,
        }.items():
            assert await is_let_in(site, path, f"token={OWNER}", host=HOST) is expected, path


@run
async def test_requests_take_only_our_hosts_and_origins(tmp_path: Path) -> None:
    """403 on every path, the public ones too, and nothing is said about the session."""
    async with open_site(tmp_path) as site, site.client() as client:
        for path in ("/", "/healthz", "/static/js/main.js", "/api/sessions"):
            for host in EVIL_HOSTS:
                answer = await client.get(path, headers={"host": host})
                assert (answer.status_code, code_of(answer)) == (403, "forbidden"), host
            for origin in EVIL_ORIGINS:
                answer = await client.get(path, headers={"origin": origin})
                assert answer.status_code == 403, origin
            assert (await client.get(path, headers={"origin": ORIGIN})).status_code == 200
        assert (await client.post("/api/login", json={"token": OWNER}, headers={"origin": "null"})).status_code == 403


@run
async def test_a_proxy_in_front_may_be_named(tmp_path: Path) -> None:
    """--allow-host: the name with and without our port, http and https, and no other."""
    async with open_site(tmp_path) as site, site.client() as client:
        for host, origin, status in (
            ("moot.example", "https://moot.example", 200),
            ("moot.example:8765", "http://moot.example:8765", 200),
            ("moot.example", "https://moot.example:444", 403),
            ("www.moot.example", "https://moot.example", 403),
        ):
            answer = await client.get("/api/teams", headers={"host": host, "origin": origin})
            assert answer.status_code == status, (host, origin)


def test_the_names_of_a_server() -> None:
    """Exact host and port; port 80 is left out by browsers; addresses of IPv6 stand in brackets."""
    assert allow_hosts("127.0.0.1", 80).allows_host("localhost")
    assert not allow_hosts("127.0.0.1", 81).allows_host("localhost")
    assert allow_hosts("fe80::1", 81).allows_origin("http://[fe80::1]:81")
    assert allow_hosts("127.0.0.1", 81, ["[fe80::1]"]).allows_host("[fe80::1]:81")
    assert not allow_hosts("127.0.0.1", 81, ["a.example:9"]).allows_host("a.example:81")
    assert make_url("::", 81) == "http://[::1]:81/"
    assert make_url("::1", 81) == "http://[::1]:81/"


@run
async def test_every_route_needs_a_token(tmp_path: Path) -> None:
    """Missing, wrong, expired and revoked tokens get 401 on every route of the router that is not public."""
    async with open_site(tmp_path) as site:
        session_id = await site.create()
        expired, _ = site.issue(Role.OWNER, PAST)
        revoked, token_id = site.issue(Role.OWNER)
        assert site.tokens.find(revoked)
        site.token_file.revoke(token_id)
        routes: list[Any] = list(site.gateway.router.routes)
        assert len(routes) >= 15
        public = {route.path for route in routes if is_public(route.path)}
        assert public == {"/", "/healthz", "/readyz", "/api/login", "/static/{path:path}", "/s/{session_id}"}
        for route in routes:
            path = route.path.replace("{session_id}", session_id).replace("{path:path}", "js/main.js")
            for method in route.methods:
                for token in (None, f"moot_{'w' * 43}", expired, revoked):
                    await check_refused(site, method, path, token, is_open=route.path in public)


async def check_refused(site: Site, method: str, path: str, token: str | None, *, is_open: bool) -> None:
    """By header, by query, and as both halves of a login."""
    async with site.client(None) as client:
        ways: list[dict[str, Any]] = (
            [{}]
            if token is None
            else [
                {"headers": {"authorization": f"Bearer {token}"}},
                {"params": {"token": token}},
                {"headers": {"cookie": f"{site.tokens.cookie_name}={token}", LOGIN_HEADER: token, "origin": ORIGIN}},
            ]
        )
        for way in ways:
            answer = await client.request(method, path, **way)
            if is_open:
                assert answer.status_code in (200, 400, 401), (method, path)
                continue
            assert answer.status_code == 401, (method, path, way)
            assert answer.headers["www-authenticate"] == "Bearer"
            if method != "HEAD":
                assert code_of(answer) == "unauthenticated"
                assert token is None or token not in answer.text


@run
async def test_paths_that_do_not_exist_are_not_told_to_strangers(tmp_path: Path) -> None:
    """401 before 404; with a token 404 as an error frame."""
    async with open_site(tmp_path) as site:
        for path in ("/api/nothing", "/admin", "/api/sessions/", "/ws", "/static"):
            async with site.client(None) as stranger, site.client() as owner:
                assert (await stranger.get(path)).status_code == 401
                answer = await owner.get(path)
                assert (answer.status_code, code_of(answer)) == (404, "unknown_path"), path


@run
async def test_a_cookie_changes_things_only_from_our_page(tmp_path: Path) -> None:
    """Cookies are sent from every port of this machine: what changes something needs the right Origin."""
    async with open_site(tmp_path) as site, site.client(None, **login_of(site)) as client:
        for headers, status in (
            ({"origin": ORIGIN}, 201),
            ({"sec-fetch-site": "same-origin"}, 201),
            ({"origin": ORIGIN, "sec-fetch-site": "same-origin"}, 201),
            ({}, 403),
            ({"sec-fetch-site": "same-site"}, 403),
            ({"sec-fetch-site": "cross-site"}, 403),
            ({"sec-fetch-site": "none"}, 403),
            ({"origin": "http://127.0.0.1:9999"}, 403),
        ):
            answer = await client.post("/api/sessions", json={}, headers=headers)
            assert answer.status_code == status, headers
        for fetched_from, status in {"same-origin": 200, "none": 200, "same-site": 403, "cross-site": 403}.items():
            answer = await client.get("/api/sessions", headers={"sec-fetch-site": fetched_from})
            assert answer.status_code == status, fetched_from
        assert (await client.get("/api/sessions")).status_code == 200


@run
async def test_a_cookie_over_tls_stays_on_tls(tmp_path: Path) -> None:
    """Behind a proxy that speaks TLS the cookie is Secure."""
    async with open_site(tmp_path) as site, site.client(None, origin="https://moot.example") as client:
        answer = await client.post("/api/login", json={"token": OWNER}, headers={"host": "moot.example"})
        assert "Secure" in answer.headers["set-cookie"]


@run
async def test_logging_in_with_nonsense(tmp_path: Path) -> None:
    """A wrong token is 401, a body that is none 400, a long one 413; none of them sets a cookie."""
    async with open_site(tmp_path) as site, site.client(None) as client:
        for body, status in (
            (b'{"token":"wrong"}', 401),
            (b'{"token":7}', 400),
            (b"{}", 400),
            (b"[]", 400),
            (b"\xff", 400),
            (b'{"token":"' + b"x" * 5000 + b'"}', 413),
        ):
            answer = await client.post("/api/login", content=body)
            assert answer.status_code == status, body[:20]
            assert "set-cookie" not in answer.headers


@run
async def test_every_answer_is_armoured(tmp_path: Path) -> None:
    """The policy of the page, no sniffing, no framing, no referrer; nothing of the API is cached."""
    async with open_site(tmp_path) as site, site.client() as client:
        for path in ("/", "/static/js/main.js", "/api/sessions", "/healthz", "/api/nothing"):
            answer = await client.get(path)
            assert answer.headers["content-security-policy"] == CSP
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert answer.headers["x-frame-options"] == "DENY"
            assert answer.headers["cache-control"] == ("no-store" if "api" in path or "z" in path else "no-cache")
            assert "access-control-allow-origin" not in answer.headers
            assert "server" not in answer.headers


@run
async def test_files_are_kept_until_one_of_them_changes(tmp_path: Path) -> None:
    """The page names its files by a version; those are kept for good, the page itself is asked for again."""
    async with open_site(tmp_path) as site, site.client() as client:
        page = await client.get("/")
        [script] = re.findall(r'<script type="module" src="(/static/[0-9a-f]{12}/js/main.js)">', page.text)
        kept, checked = await client.get(script), await client.get("/static/js/main.js")
        assert kept.content == checked.content
        assert "immutable" in kept.headers["cache-control"]
        assert checked.headers["cache-control"] == page.headers["cache-control"] == "no-cache"
        assert (await client.get(script.replace("/static/", "/static/0"))).status_code == 404
        assert (await client.get(script.replace("/js/main.js", "/../guard.py"))).status_code == 404


@run
async def test_a_page_that_is_loaded_again_learns_who_it_is_for(tmp_path: Path) -> None:
    """Reload in every state; the cookie is not readable by scripts, so the server says whose it is."""
    async with open_site(tmp_path) as site, site.client() as client:
        everybody = {
            "role": "owner",
            "session_id": None,
            "member": None,
            "login_id": None,
        }
        assert (await client.get("/api/me")).json() == everybody
        assert (await client.get("/s/s_00000001")).text == (await client.get("/")).text


@run
async def test_a_token_leaves_the_query_before_anybody_can_log_it(tmp_path: Path) -> None:
    """The server's own log lines are made from the scope; the token is no longer in it, the rest is."""
    async with open_site(tmp_path) as site:
        await connect(site, query=f"lang=zh&token={OWNER}&batch=1", host=HOST)
        [scope] = site.sockets.scopes
        assert scope["query_string"] == b"lang=zh&batch=1"


@pytest.mark.parametrize(
    "path", ["/static/../auth.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/static/js/main.js%00"]
)
def test_static_files_are_those_of_the_page(path: str, tmp_path: Path) -> None:
    """No path leads out of the folder of the page."""

    @run
    async def check() -> None:
        async with open_site(tmp_path) as site, site.client(None) as client:
            assert (await client.get(path)).status_code in (401, 404)

    check()


@run
async def test_the_page_is_ours_alone(tmp_path: Path) -> None:
    """No inline script or style, nothing from elsewhere; unchanged files are not sent again."""
    async with open_site(tmp_path) as site, site.client(None) as client:
        page = await client.get("/")
        assert page.headers["content-type"].startswith("text/html")
        assert "<style" not in page.text
        assert "http://" not in page.text.replace(ORIGIN, "")
        assert page.text.count("<script") == page.text.count('<script type="module" src="/static/')
        assert " on" not in page.text.replace(" one", "")
        for name in ("css/main.css", "js/main.js"):
            file = await client.get(f"/static/{name}")
            assert file.status_code == 200
            again = await client.get(f"/static/{name}", headers={"if-none-match": file.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
