"""Looking back: the timeline, replay, and the file that needs no server."""

from pathlib import Path

from playwright.sync_api import expect

from tests.web.conftest import Open
from tests.web.server import Server
from tests.web.talking import say


def test_timeline_and_conversation_show_the_same_event(open_page: Open, server: Server) -> None:
    """UX: linked both ways; details readable first, JSON second; the address names the event."""
    session_id = server.create("talk")
    page = open_page(session_id)
    say(page, "[NEXT: Bob, Carol] hello")
    expect(page.locator("article.message.ai:not(.writing)")).to_have_count(2)
    rows = page.locator("time-line .row")
    expect(rows.locator(".label")).to_have_text(["Input", "Routed", "Turn", "Routed", "Turn", "Routed"])
    rows.first.click()
    expect(page.locator("article.message.human")).to_contain_class("selected")
    expect(page.locator("time-line .details dd").first).to_contain_text("Alice")
    assert page.url.endswith("#2")
    page.locator("article.message.ai").first.hover()
    page.locator("article.message.ai .place").first.click()
    expect(page.locator("time-line .details .name")).to_contain_text("message.posted")
    page.locator("chat-log .log").focus()
    page.keyboard.press("j")
    expect(page.locator("time-line .row[aria-selected=true]")).to_have_count(1)
    page.get_by_role("button", name="routing").click()
    expect(rows.locator(".label")).to_have_text(["Input", "Turn", "Turn"])


def test_another_session_shows_nothing_of_the_one_before(open_page: Open, server: Server) -> None:
    """Events of two sessions have the same numbers: neither words nor details of the one stay in the other."""
    first, second = server.create("talk", "Lighthouse"), server.create("talk", "Orchard")
    page = open_page(first)
    words = page.locator("article.message.human .body")
    for title, text in (("Lighthouse", "about the lighthouse"), ("Orchard", "about the orchard")):
        page.locator("session-list li", has_text=title).locator("a").click()
        expect(page.get_by_role("heading", name=title)).to_be_visible()
        say(page, text)
        expect(words).to_have_text([text])
    page.locator("session-list li", has_text="Lighthouse").locator("a").click()
    expect(words).to_have_text(["about the lighthouse"])
    page.locator("time-line .row").first.click()
    expect(page.locator("time-line .details")).to_contain_text("about the lighthouse")
    page.locator("session-list li", has_text="Orchard").locator("a").click()
    expect(words).to_have_text(["about the orchard"])
    page.locator("time-line .row").first.click()
    expect(page.locator("time-line .details")).to_contain_text("about the orchard")
    assert page.url.endswith(f"{second}#2")


def test_a_long_history_keeps_few_rows(open_page: Open, server: Server) -> None:
    """UX virtualised: thousands of rows, at most a hundred of them in the document."""
    session_id = server.create("talk")
    for _ in range(30):
        server.command(session_id, "user.message", content="[NEXT: nobody] hm")
    page = open_page(session_id)
    expect(page.locator("time-line .row").first).to_be_visible()
    assert page.locator("time-line .row").count() <= 100
    page.locator("time-line .scroller").evaluate("each => { each.scrollTop = 0 }")
    expect(page.locator("time-line .row").first).to_have_attribute("aria-posinset", "1")


def test_an_address_leads_to_its_event(open_page: Open, server: Server) -> None:
    """Also in a new page, and to what is older than what is shown at first; the end is not scrolled to afterwards."""
    session_id = server.create("talk")
    for number in range(160):
        server.command(session_id, "user.message", content=f"note {number}")
    said = [each["seq"] for each in server.events(session_id) if each["event"] == "message.posted"]
    page = open_page()
    for at in (0, 150):
        page.goto("about:blank")
        page.goto(f"{server.url}/s/{session_id}#{said[at]}")
        chosen = page.locator("article.message.selected")
        expect(chosen.locator(".body")).to_have_text(f"note {at}")
        expect(chosen).to_be_in_viewport(ratio=1)
        expect(page.locator("time-line .row[aria-selected=true] .what")).to_contain_text(f"note {at}")
        say(page, "meanwhile")
        expect(page.locator("article.message.unsent")).to_have_count(0)
        expect(chosen).to_be_in_viewport(ratio=1)


def test_replay_folds_everything_from_the_log(open_page: Open, server: Server) -> None:
    """UX replay mode: a slider over the events; read only; everything shown is that moment's."""
    page = open_page(server.create("talk"))
    say(page, "[NEXT: Bob, Carol] hello")
    expect(page.locator("article.message.ai:not(.writing)")).to_have_count(2)
    page.get_by_role("button", name="Replay").click()
    expect(page.locator("replay-bar .banner")).to_have_text("Replay · read only")
    expect(page.locator("#composer")).to_be_hidden()
    slider = page.get_by_label("Event", exact=True)
    slider.fill("6")
    expect(page.locator("replay-bar output")).to_contain_text("6 /")
    expect(page.locator("article.message:not(.writing)")).to_have_count(1)
    expect(page.locator("queue-bar .running")).to_contain_text("Bob")
    page.get_by_role("button", name="Speed").click()
    page.get_by_role("button", name="Speed").click()
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.locator("article.message.ai:not(.writing)")).to_have_count(2)
    page.get_by_role("button", name="Leave the replay").click()
    expect(page.locator("#composer")).to_be_visible()


def test_an_export_opens_without_a_server(open_page: Open, server: Server, tmp_path: Path) -> None:
    """One HTML file with everything that was said; it asks nobody for anything."""
    page = open_page(server.create("work", "Harbour"))
    say(page, "Make a booklet")
    page.get_by_role("button", name="Approve 3 tasks").click()
    expect(page.locator("article.message", has_text="All of it")).to_be_visible()
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Export as one HTML file").click()
    file = tmp_path / "export.html"
    downloading.value.save_as(file)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    expect(page.get_by_role("heading", name="Harbour")).to_be_visible()
    expect(page.get_by_text("All of it on one page.")).to_be_visible()
    expect(page.get_by_text("✓ Ben finished: Gather facts")).to_be_visible()
    assert asked == [file.as_uri()]
