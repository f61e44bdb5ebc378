"""Notifications of the browser: asked for once, one for each need while nobody looks, a click opens the session."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Worker, expect

from tests.web.conftest import Open
from tests.web.hostile import HOSTILE
from tests.web.server import Server

# What headless Chromium lacks: tabs that are in the background, where no frame is drawn.
BACKGROUND = """() => {
  window.isAway = false;
  Object.defineProperty(document, "hidden", {get: () => window.isAway});
  const frame = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = draw => frame(time => window.isAway || draw(time));
}"""
SHOWN = """async () => (await (await navigator.serviceWorker.getRegistration()).getNotifications())
  .map(each => `${each.title} | ${each.body}`).sort()"""
COME = "async () => { while (!(await self.registration.getNotifications()).length) {} }"  # it is shown after the row
CLICK = """async () => {
  let notification;
  while (!notification) [notification] = await self.registration.getNotifications();
  self.dispatchEvent(new NotificationEvent("notificationclick", {notification}));
}"""
QUESTION = [{"id": "bad", "title": "Ask the oracle"}]

Prepared = Callable[..., Page]


@pytest.fixture
def prepare(open_page: Open) -> Prepared:
    """Opens a page that wants notifications, with its service worker."""

    def open_prepared(session_id: str = "", **options: object) -> Page:
        page = open_page(session_id, permissions=["notifications"], ignore="focus", **options)
        page.add_init_script(f"({BACKGROUND})()")
        page.reload()
        page.locator("session-list .gear").click()
        page.get_by_label("Tell me when a session needs me").check()
        page.keyboard.press("Escape")
        page.evaluate("() => navigator.serviceWorker.ready.then(() => undefined)")
        return page

    return open_prepared


def leave(page: Page) -> None:
    page.evaluate("() => { window.isAway = true; document.dispatchEvent(new Event('visibilitychange')); }")


def ask(server: Server, title: str) -> str:
    """A session whose work asks what to do."""
    session_id = server.create("failing", title)
    server.command(session_id, "user.solve_tasks", tasks=QUESTION)
    return session_id


def test_who_is_away_is_told_once_of_each_need(prepare: Prepared, server: Server) -> None:
    """Nothing of what was there before or while somebody looks; then one for each session; a click opens it."""
    before = ask(server, "Asked before")
    page = prepare(server.create("talk", "Open"))
    row = page.locator("session-list .needs li")
    expect(row.filter(has_text="Asked before")).to_be_visible()
    seen = ask(server, "Asked while somebody looked")
    expect(row.filter(has_text="Asked while somebody looked")).to_be_visible()
    leave(page)
    told = ask(server, HOSTILE[1])
    expect(row.filter(has_text=HOSTILE[1])).to_be_visible()
    server.command(told, "user.rename", title="Renamed")  # the same need
    expect(row.filter(has_text="Renamed")).to_be_visible()
    worker: Worker = page.context.service_workers[0]
    worker.evaluate(COME)
    assert page.evaluate(SHOWN) == [f"{HOSTILE[1]} | asks a question"]
    worker.evaluate(CLICK)
    expect(page.locator("top-bar .title")).to_have_text("Renamed")
    assert page.evaluate(SHOWN) == []
    for session_id in (before, seen, told):
        server.command(session_id, "user.end")


def test_on_a_phone_a_click_shows_the_conversation(prepare: Prepared, server: Server) -> None:
    """Whatever pane was shown."""
    page = prepare(viewport={"width": 1000, "height": 844})
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator("pane-tabs button").first.click()
    leave(page)
    told = ask(server, "Away with a phone")
    expect(page.locator("session-list .inbox b", has_text="Away with a phone")).to_be_visible()
    page.context.service_workers[0].evaluate(CLICK)
    expect(page.locator("confirm-cards .card")).to_be_visible()
    server.command(told, "user.end")


def test_who_refuses_is_not_told(open_page: Open) -> None:
    """The browser said no: the box is empty again, and says why."""
    page = open_page()
    page.locator("session-list .gear").click()
    box = page.get_by_label("Tell me when a session needs me")
    box.click()
    expect(page.locator("toast-stack")).to_contain_text("browser")
    expect(box).not_to_be_checked()
