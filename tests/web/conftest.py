"""A server for all tests of the page, a browser for each module, a fresh profile for each test."""

import re
import shutil
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.web.server import TOKEN, Server

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SWITCHES = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
expect.set_options(timeout=20_000)

Open = Callable[..., Page]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = Server(tmp_path_factory.mktemp("web"))
    started.start()
    yield started
    started.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Of this module alone: while it is there, no other event loop may run in this thread."""
    if CHROMIUM is None:
        pytest.skip("no Chromium here; .ci/run installs it")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield started
        started.close()


@pytest.fixture
def open_page(server: Server, browser: Browser) -> Iterator[Open]:
    """Opens a session (or the list) in a profile of its own. At the end no page may have had an error."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def open_session(
        session_id: str = "", token: str = TOKEN, query: str = "", ignore: str = "", **options: object
    ) -> Page:
        context = browser.new_context(**{"locale": "en-US", "viewport": {"width": 1300, "height": 800}, **options})  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if is_bad(said.type, said.text, ignore) else None)
        page.goto(f"{server.url}{f'/s/{session_id}' if session_id else '/'}{query}#token={token}")
        expect(page.locator("top-bar .link")).to_be_visible()
        expect(page).not_to_have_url(re.compile("#token="))  # it is logged in
        return page

    yield open_session
    for context in contexts:
        context.close()
    assert errors == []


def is_bad(kind: str, text: str, ignore: str) -> bool:
    """Errors, but for those of a link that is cut on purpose and of requests that are refused on purpose."""
    expected = (
        "WebSocket",
        "ERR_CONNECTION",
        "Failed to load resource",
        "fetching the script",
        *([ignore] if ignore else []),
    )
    return kind == "error" and not any(each in text for each in expected)
