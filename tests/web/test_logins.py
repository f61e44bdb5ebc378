"""Logins in a browser: two servers on one host, a stranger on a third port, logging out."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.conftest import Open
from tests.web.server import TOKEN, Server

FETCH = "([path, headers]) => fetch(path, { headers }).then((answer) => answer.status)"


@pytest.fixture
def other_server(tmp_path: Path) -> Iterator[Server]:
    """A second Moot on another port of the same host."""
    started = Server(tmp_path)
    started.start()
    yield started
    started.close()


@pytest.fixture
def stranger() -> Iterator[tuple[str, list[str]]]:
    """A server of somebody else on this host: its address, and the cookies that it was sent."""
    cookies: list[str] = []

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            cookies.append(self.headers.get("cookie", ""))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    listening = HTTPServer(("127.0.0.1", 0), Listener)
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{listening.server_port}/", cookies
    listening.shutdown()
    thread.join()
    listening.server_close()


def is_connected(page: Page) -> None:
    expect(page.locator("top-bar .link")).to_have_attribute("data-state", "connected")


def test_what_a_stranger_on_this_host_gets_opens_nothing(
    open_page: Open, server: Server, stranger: tuple[str, list[str]]
) -> None:
    """The browser sends it the cookie, which is neither a token nor, without the secret of the page, a login."""
    page = open_page(server.create("talk"))
    is_connected(page)
    address, cookies = stranger
    page.context.new_page().goto(address)
    stolen = [crumb.strip() for crumb in cookies[0].split(";")]
    assert any(crumb.startswith("moot_") for crumb in stolen)
    with httpx.Client(base_url=server.url, trust_env=False) as client:
        for crumb in stolen:
            value = crumb.partition("=")[2]
            for way in (
                {"authorization": f"Bearer {value}"},
                {"cookie": crumb},
                {"cookie": crumb, "moot-login": value},
            ):
                assert client.get("/api/me", headers=way).status_code == 401
            assert client.get("/api/me", params={"token": value}).status_code == 401


def test_two_servers_on_one_host_do_not_disturb_each_other(
    browser: Browser, server: Server, other_server: Server
) -> None:
    """A browser is logged in at both; reloading one, or logging out of it, leaves the other as it was."""
    context = browser.new_context(locale="en-US")
    one, two = context.new_page(), context.new_page()
    for page, at in ((one, server), (two, other_server)):
        page.goto(f"{at.url}/s/{at.create('talk')}#token={TOKEN}")
        is_connected(page)
    for page in (one, two, one):
        page.reload()
        is_connected(page)
    two.keyboard.press("Control+k")
    two.locator("command-palette input").fill("log out")
    two.keyboard.press("Enter")
    expect(two.get_by_label("Token")).to_be_visible()
    one.reload()
    is_connected(one)
    context.close()


def test_logging_out_ends_this_login_alone(open_page: Open, server: Server) -> None:
    """A program and another browser with the same token go on; this browser's login is worth nothing afterwards."""
    session_id = server.create("talk")
    first, second = open_page(session_id), open_page(session_id)
    secret = first.evaluate("localStorage.getItem('moot.login')")
    assert second.evaluate(FETCH, ["/api/me", {"moot-login": secret}]) == 401  # another browser has another cookie
    assert first.evaluate(FETCH, ["/api/me", {}]) == 401
    assert first.evaluate(FETCH, ["/api/me", {"moot-login": secret}]) == 200
    cookies = first.context.cookies()
    first.keyboard.press("Control+k")
    first.locator("command-palette input").fill("log out")
    first.keyboard.press("Enter")
    expect(first.get_by_label("Token")).to_be_visible()
    assert first.evaluate("localStorage.getItem('moot.login')") is None
    first.context.add_cookies(cookies)  # type: ignore[arg-type]
    assert first.evaluate(FETCH, ["/api/me", {"moot-login": secret}]) == 401
    second.reload()
    is_connected(second)
