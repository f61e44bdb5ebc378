"""The page and its connection: reloads, restarts, cuts. It is complete afterwards, nothing missing, nothing twice."""

from collections.abc import Callable
from threading import Event

from playwright.sync_api import Page, WebSocketRoute, expect

from tests.web.conftest import Open
from tests.web.server import TOKEN, Server
from tests.web.talking import card, check_complete, say


def test_a_reload_shows_the_same_in_every_state(open_page: Open, server: Server) -> None:
    """New, running, paused, asking, completed: closing the page stops nothing, coming back shows it all."""
    session_id = server.create("talk")
    page = open_page(session_id)
    expect(page.locator("chat-log .blank")).to_contain_text("Say something")
    page.reload()
    expect(page.locator("chat-log .blank")).to_contain_text("Say something")
    say(page, "[NEXT: Slow, Bob] go")
    expect(page.locator("queue-bar .running")).to_contain_text("Slow")
    page.locator("#composer").fill("a draft")
    page.reload()
    expect(page.locator("queue-bar .running")).to_contain_text("Slow")
    expect(page.locator("#composer")).to_have_value("a draft")
    say(page, "/queue clear")
    expect(card(page).locator("button")).to_have_text(["Clear the queue", "Keep it"])
    page.reload()
    card(page).get_by_role("button", name="Clear the queue").click()
    expect(page.locator("confirm-cards .card")).to_have_count(0)
    page.locator("chat-composer .send.stop").click()
    expect(page.locator("top-bar .status")).to_have_text("Paused")
    page.reload()
    expect(page.locator("top-bar .status")).to_have_text("Paused")
    say(page, "/end")
    expect(page.locator("top-bar .status")).to_have_text("Completed")
    page.reload()
    expect(page.locator("top-bar .status")).to_have_text("Completed")
    expect(page.locator("#composer")).to_be_hidden()
    check_complete(page, server, session_id)


def test_a_plan_that_waits_outlives_a_reload(open_page: Open, server: Server) -> None:
    """Pending questions survive with their remaining time."""
    page = open_page(server.create("work"))
    say(page, "Make a booklet")
    expect(card(page).locator(".tasks li")).to_have_count(3)
    page.reload()
    expect(card(page).locator(".tasks li")).to_have_count(3)
    page.get_by_role("button", name="Approve 3 tasks").click()
    expect(page.locator("article.message", has_text="All of it")).to_be_visible()
    page.reload()
    page.get_by_role("tab", name="Work").click()
    expect(page.locator("task-board .column.done .task")).to_have_count(3)


def test_the_server_may_die_and_come_back(open_page: Open, server: Server) -> None:
    """Killed and started again while the page is open; what was typed meanwhile is sent once."""
    session_id = server.create("talk")
    page = open_page(session_id)
    say(page, "[NEXT: Bob] before")
    expect(page.locator("article.message.ai:not(.writing)")).to_have_count(1)
    server.kill()
    expect(page.locator("top-bar .link")).to_have_attribute("data-state", "reconnecting")
    say(page, "meanwhile [NEXT: Carol]")
    expect(page.locator("article.unsent .author")).to_have_text("not sent yet")
    expect(page.locator("top-bar .link .words")).to_contain_text("1 unsent")
    page.get_by_role("button", name="Retry now").click()
    expect(page.locator("top-bar .link")).to_have_attribute("data-state", "reconnecting")
    server.start()
    hurry(page)
    expect(page.locator("top-bar .link")).to_have_attribute("data-state", "connected")
    expect(page.get_by_text("Carol here.", exact=True)).to_be_visible()
    expect(page.locator("article.unsent")).to_have_count(0)
    check_complete(page, server, session_id)
    assert sum(each["event"] == "message.posted" for each in server.events(session_id)) == 4


def test_a_link_that_breaks_three_times_in_a_stream(open_page: Open, server: Server) -> None:
    """The page is complete, no event missing or doubled; the streamed text is not doubled either."""
    session_id = server.create("stream")
    page = open_page()
    links: list[WebSocketRoute] = []

    def connect(link: WebSocketRoute) -> None:
        link.connect_to_server()
        links.append(link)

    page.route_web_socket(lambda url: "/ws" in url, connect)
    page.goto(f"{server.url}/s/{session_id}")
    expect(page.locator("top-bar .link")).to_have_attribute("data-state", "connected")
    say(page, "[NEXT: Poet] recite, and wait")
    for cut in range(3):
        expect(page.locator("article.writing")).to_be_visible()
        links[-1].close(code=4000 + cut)
        wait_for_links(page, links, cut + 2)
    card(page).get_by_role("button").first.click()
    expect(page.locator("article.message.ai:not(.writing) .body")).to_contain_text("word58 word59", timeout=15_000)
    check_complete(page, server, session_id)
    text = page.locator("article.message.ai .body").text_content() or ""
    assert text.split() == [f"word{number}" for number in range(60)]


def wait_for_links(page: Page, links: list[WebSocketRoute], count: int) -> None:
    for _ in range(200):
        if len(links) >= count:
            return
        hurry(page)
        page.wait_for_timeout(25)
    raise AssertionError(f"{len(links)} links, {count} were wanted")


def hurry(page: Page) -> None:
    """The page tries again at once when it is told that the network is back; it may have done so by itself."""
    page.evaluate("() => dispatchEvent(new Event('online'))")


def mute(page: Page) -> Callable[[], None]:
    """Let no new link of the page reach the server. Returns what ends that for the links that come after."""
    is_heard = Event()

    def connect(link: WebSocketRoute) -> None:
        if is_heard.is_set():
            link.connect_to_server()

    page.route_web_socket(lambda url: "/ws" in url, connect)
    return is_heard.set


def test_what_is_unsent_outlives_a_reload(open_page: Open, server: Server) -> None:
    """Typed text and unsent commands stay, and are sent once (command_id)."""
    session_id = server.create("talk")
    page = open_page(session_id)
    expect(page.locator("chat-log .blank")).to_contain_text("Say something")
    speak = mute(page)
    page.reload()
    say(page, "are you there?")
    expect(page.locator("article.unsent")).to_have_count(1)
    speak()
    page.reload()
    expect(page.locator("article.message.human:not(.unsent) .body")).to_have_text("are you there?")
    page.reload()
    check_complete(page, server, session_id)
    assert sum(each["event"] == "message.posted" for each in server.events(session_id)) == 1


def test_what_is_on_its_way_is_not_said_to_be_empty(open_page: Open, server: Server) -> None:
    """Until the list and a session have come there are grey bars, and nobody says that nothing is there."""
    session_id = server.create("talk")
    page = open_page(session_id)
    speak = mute(page)
    page.reload()
    for coming in ("session-list", "chat-log"):
        expect(page.locator(f"{coming} .skeleton")).to_be_visible()
    for empty in ("session-list .empty", "chat-log .blank", "time-line .empty"):
        expect(page.locator(empty)).to_be_hidden()
    speak()
    page.reload()
    expect(page.locator("chat-log .blank")).to_contain_text("Say something")
    expect(page.locator(".skeleton:visible")).to_have_count(0)


def test_a_wrong_token_is_told_and_a_right_one_opens(open_page: Open, server: Server) -> None:
    """The token leaves the address bar when it is used; who has none is asked for one."""
    page = open_page()
    assert TOKEN not in page.url
    page.context.clear_cookies()
    page.goto("about:blank")  # only another fragment would not load the page again
    page.goto(f"{server.url}/#token=wrong")
    expect(page.get_by_role("alert")).to_contain_text("not valid")
    expect(page.locator("login-form code")).to_have_text("moot serve")
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Open").click()
    expect(page.locator("#shell")).to_be_visible()


def test_a_page_that_is_loaded_again_while_it_logs_in_keeps_its_token(open_page: Open, server: Server) -> None:
    """The token stays in the address until the server has answered."""
    page = open_page()
    page.context.clear_cookies()
    page.goto("about:blank")
    page.route("**/api/login", lambda _: None)  # no answer comes
    with page.expect_request("**/api/login"):
        page.goto(f"{server.url}/#token={TOKEN}")
    page.unroute("**/api/login")
    page.reload()
    expect(page.locator("top-bar .link")).to_have_attribute("data-state", "connected")
    assert TOKEN not in page.url


def test_a_session_that_is_gone_is_said_to_be(open_page: Open, server: Server) -> None:
    """Unknown sessions are not found; a removed one ends for those who look at it."""
    session_id = server.create("talk")
    page = open_page(session_id)
    expect(page.locator("chat-log .blank")).to_contain_text("Say something")
    assert server.client.delete(f"/api/sessions/{session_id}").is_success
    expect(page.locator("chat-log .blank")).to_contain_text("Session not found")
    expect(page.locator("#composer")).to_be_hidden()
    page.reload()
    expect(page.locator("#inspector")).to_be_hidden()  # there is nothing to stand beside
    page.get_by_role("button", name="All sessions").click()
    expect(page.locator("#goal")).to_be_visible()


def test_the_page_opens_without_a_network(open_page: Open, server: Server) -> None:
    """The page itself is kept, nothing of a session: it opens, says that there is no server, and goes on with it."""
    session_id = server.create("talk")
    server.command(session_id, "user.message", content="before")
    page = open_page(session_id)
    expect(page.locator("article.message.human")).to_contain_text("before")
    page.evaluate("() => navigator.serviceWorker.ready.then(() => undefined)")
    page.reload()  # now all of its files are kept
    expect(page.locator("article.message.human")).to_contain_text("before")
    server.kill()
    page.reload()
    expect(page.locator("chat-log .blank")).to_contain_text("cannot be reached")
    expect(page.locator("top-bar .link")).to_have_attribute("data-state", "reconnecting")
    server.start()
    expect(page.locator("article.message.human")).to_contain_text("before")
    expect(page.locator("top-bar .link")).to_have_attribute("data-state", "connected")
