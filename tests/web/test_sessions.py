"""The list of sessions: what it says of each, and what a person does with it."""

import json
import re
from typing import Any

from playwright.sync_api import Page, Route, WebSocketRoute, expect

from moot.core.session.principal import Role
from tests.web.conftest import Open
from tests.web.server import Server
from tests.web.talking import say


def row(page: Page, session_id: str) -> Any:
    return page.locator(f"session-list li[data-id='{session_id}']")


def do(page: Page, session_id: str, deed: str) -> None:
    """By keyboard: the button of the row, then the deed."""
    row(page, session_id).locator(".more").press("Enter")
    page.locator(".menu").get_by_role("menuitem", name=deed).press("Enter")


def test_a_row_says_what_was_said_last_and_what_is_new(open_page: Open, server: Server) -> None:
    """The last line, and how many messages are new since it was looked at; both outlive a reload."""
    here, there = server.create("talk", "Here"), server.create("talk", "There")
    page = open_page(there)
    expect(row(page, there).locator("a")).to_have_attribute("aria-current", "page")
    row(page, here).locator("a").click()
    expect(row(page, here).locator("a")).to_have_attribute("aria-current", "page")
    server.command(there, "user.message", content="first\nof all")
    server.command(there, "user.message", content="[NEXT: Bob] and then")
    expect(row(page, there).locator(".last")).to_contain_text("Bob: ")
    expect(row(page, there).locator(".unread")).to_have_text("3")
    page.reload()
    expect(row(page, there).locator(".unread")).to_have_text("3")
    row(page, there).locator("a").click()
    expect(row(page, there).locator(".unread")).to_be_hidden()
    page.reload()
    expect(row(page, there).locator(".last")).to_contain_text("Bob: ")
    expect(row(page, there).locator(".unread")).to_be_hidden()


def test_rename_with_f2(open_page: Open, server: Server) -> None:
    """F2 renames; the list, the header and the title of the page say it, on every screen, also when it is over."""
    session_id = server.create("talk", "Draft")
    page, other = open_page(session_id), open_page(session_id)
    expect(page.locator("top-bar .title")).to_have_text("Draft")
    page.locator("#composer").press("F2")
    box = page.get_by_label("Title", exact=True)
    expect(box).to_be_focused()
    expect(box).to_have_value("Draft")
    box.fill("   ")
    box.press("Enter")
    expect(page.locator("rename-dialog .problem")).to_contain_text("A title cannot be empty")
    box.fill("Poster 海报")
    box.press("Enter")
    expect(box).to_be_hidden()
    for each in (page, other):
        expect(each.locator("top-bar .title")).to_have_text("Poster 海报")
        expect(each).to_have_title(re.compile("Poster 海报 · Moot$"))
        expect(row(each, session_id).locator(".name")).to_have_text("Poster 海报")
    say(page, "/rename The End")
    expect(page.locator("top-bar .title")).to_have_text("The End")
    server.command(session_id, "user.end")
    do(page, session_id, "Rename")
    page.get_by_label("Title", exact=True).fill("Over")
    page.get_by_label("Title", exact=True).press("Enter")
    expect(page.locator("top-bar .title")).to_have_text("Over")


def test_pin_and_archive(open_page: Open, server: Server) -> None:
    """Pinned ones stand first; archived ones are behind a filter, are found, come back; it outlives a reload."""
    old, new = server.create("talk", "Quince"), server.create("talk", "Medlar")
    page = open_page(new)
    do(page, old, "Pin")
    expect(page.locator("session-list .name").first).to_have_text("★ Quince")
    do(page, new, "Archive")
    expect(row(page, new)).to_have_count(0)
    page.reload()
    expect(page.locator("session-list .name").first).to_have_text("★ Quince")
    expect(row(page, new)).to_have_count(0)
    page.get_by_role("searchbox").fill("medl")
    expect(row(page, new)).to_be_visible()
    page.get_by_role("searchbox").fill("")
    page.get_by_role("button", name="Archived (1)").click()
    expect(page.locator("session-list li")).to_have_count(1)
    do(page, new, "Bring back")
    expect(row(page, new)).to_have_count(0)
    page.get_by_role("button", name="Archived (0)").click()
    expect(row(page, new)).to_be_visible()
    do(page, new, "Archive")
    server.command(new, "user.message", content="still here?")
    expect(row(page, new)).to_be_visible()  # it waits for somebody


def test_duplicate_as_new(open_page: Open, server: Server) -> None:
    """The same team and nothing said yet."""
    session_id = server.create("pair", "Couple")
    page = open_page(session_id)
    do(page, session_id, "Duplicate as new")
    expect(page.locator("top-bar .title")).to_have_text("Couple (copy)")
    copy = page.url.rsplit("/", 1)[1]
    assert copy != session_id
    assert [frame["event"] for frame in server.events(copy)] == ["agent.session_created"]
    assert server.events(copy)[0]["metadata"]["team"] == "pair"


def test_removal_can_be_undone(open_page: Open, server: Server) -> None:
    """It is in the trash at once, also of the server, and comes back to where it was."""
    session_id = server.create("talk", "Soon gone")
    server.command(session_id, "user.message", content="remember me")
    page = open_page(session_id)
    expect(page.get_by_text("remember me", exact=True)).to_be_visible()
    row(page, session_id).click(button="right")
    page.locator(".menu").get_by_role("menuitem", name="Remove").click()
    expect(row(page, session_id)).to_have_count(0)
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_visible()
    assert server.client.get(f"/api/sessions/{session_id}").status_code == 404
    undo.click()
    expect(row(page, session_id)).to_be_visible()
    expect(page.get_by_text("remember me", exact=True)).to_be_visible()


def test_a_viewer_arranges_and_changes_nothing(open_page: Open, server: Server) -> None:
    """What would be refused is not offered; the list is everybody's own to arrange."""
    session_id = server.create("talk", "Look at me")
    page = open_page(session_id, server.issue(Role.VIEWER, session_id))
    row(page, session_id).locator(".more").press("Enter")
    expect(page.locator(".menu button")).to_have_text(["Pin", "Archive"])
    page.keyboard.press("Escape")
    page.keyboard.press("F2")
    expect(page.get_by_label("Title", exact=True)).to_be_hidden()


def test_the_start_page(open_page: Open, server: Server) -> None:
    """Home says that a team plays a script, and starts a session with the first words, at 320 px too."""
    server.create("talk")
    page = open_page(viewport={"width": 320, "height": 640})
    page.locator("session-list .new").click()
    expect(page.locator("start-page .team", has_text="talk").locator(".scripted")).to_have_text(
        "plays a script, no model"
    )
    page.locator("start-page .team", has_text="talk").click()
    page.locator("#goal").fill("good morning")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("article.message.human .body")).to_have_text("good morning")
    expect(page.locator("start-page")).to_be_hidden()
    expect(page.locator("#composer")).to_be_focused()


def test_a_long_list_comes_page_by_page(open_page: Open, server: Server) -> None:
    """A full page of the newest is listed first; older ones come when they are asked for, until there are no more."""
    made = [server.create("talk", f"number {number}") for number in range(5)]
    page = open_page()
    small = re.compile(r"/api/sessions(\?|$)")

    def fill(message: str) -> str:
        frames = json.loads(message)
        for frame in frames if isinstance(frames, list) else [frames]:
            if frame["event"] == "system.sessions" and frame["metadata"]["full"]:
                first, *_ = frame["metadata"]["sessions"]
                frame["metadata"]["sessions"] = [{**first, "session_id": f"s_{number}"} for number in range(200)]
        return json.dumps(frames)

    def pass_on(socket: WebSocketRoute) -> None:
        behind = socket.connect_to_server()
        behind.on_message(lambda message: socket.send(fill(str(message))))

    def shrink(route: Route) -> None:
        url = route.request.url
        route.continue_(url=f"{url}{'&' if '?' in url else '?'}limit=2")

    page.route(small, shrink)
    page.route_web_socket(re.compile(r"/ws\?"), pass_on)
    page.reload()
    rows, older = page.locator("session-list li"), page.locator("session-list .older")
    expect(rows).to_have_count(200)
    older.click()
    expect(rows).to_have_count(4)
    expect(rows.first).to_have_attribute("data-id", made[-1])
    while older.is_visible():
        count = rows.count()
        older.click()
        expect(rows).not_to_have_count(count)
    for session_id in made:
        expect(page.locator(f"session-list li[data-id={session_id}]")).to_have_count(1)


def test_everything_that_was_said_is_found(open_page: Open, server: Server) -> None:
    """The search of the list finds words inside of sessions, Chinese ones too, and opens the message."""
    there = server.create("talk", "Gumboots")
    server.command(there, "user.message", content="mind the wet feet, 小心地滑")
    page = open_page(server.create("talk", "Elsewhere"))
    for words in ("wet feet", "小心"):
        page.get_by_label("Search sessions").fill(words)
        expect(page.locator("session-list .said li").first).to_contain_text("Gumboots")
    page.locator("session-list .said a", has_text="Gumboots").first.click()
    expect(page.locator("article.message.selected")).to_contain_text("wet feet")


def test_the_list_is_filtered_and_grouped(open_page: Open, server: Server) -> None:
    """By state, by team, and by the project that the team's file is in."""
    server.create("talk", "Small talk")
    asking = server.create("work", "Asks something")
    server.command(asking, "user.message", content="Make a poster.")
    page = open_page()
    rows = page.locator("session-list li[data-id]")
    expect(rows.filter(has_text="Asks something").locator(".state")).to_have_text("proposes a plan")

    def choose(name: str) -> None:
        page.get_by_role("button", name="Filter and group").click()
        page.get_by_role("menuitemradio", name=name, exact=True).click()

    choose("Needs you")
    expect(rows.filter(has_text="Asks something")).to_have_count(1)
    expect(rows.filter(has_text="Small talk")).to_have_count(0)
    page.get_by_role("button", name="Show all").click()
    choose("talk")
    expect(rows.filter(has_text="Asks something")).to_have_count(0)
    expect(rows.filter(has_text="Small talk")).to_have_count(1)
    page.get_by_role("button", name="Show all").click()
    choose("By project")
    expect(page.locator("session-list section.project h2")).to_have_text("teams")
    page.reload()
    expect(page.locator("session-list section.project h2")).to_have_text("teams")


def test_on_a_phone_the_inbox_is_answered_in_place(open_page: Open, server: Server) -> None:
    """It opens on what waits; approving there approves, and it is gone."""
    session_id = server.create("work", "From the phone")
    server.command(session_id, "user.message", content="Make a poster.")
    page = open_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    item = page.locator("session-list .inbox li", has_text="From the phone")
    item.get_by_role("button", name="Approve").click()
    expect(item).to_have_count(0)
    events = [frame["event"] for frame in server.events(session_id)]
    assert "agent.user_confirm_closed" in events


def test_questions_are_answered_at_home(open_page: Open, server: Server) -> None:
    """Choices are buttons, the last of many are in a menu; what asks for words gets words."""
    chosen, told = server.create("failing", "Many choices"), server.create("failing", "In words")
    server.command(chosen, "user.solve_tasks", tasks=[{"id": "bad", "title": "Ask the oracle"}])
    server.command(told, "user.solve_tasks", tasks=[{"id": "long", "title": "Wait for rain"}])
    server.command(told, "user.message", content="change it")
    page = open_page()
    words = page.locator("start-page .inbox li", has_text="In words")
    words.get_by_label("Your answer").fill("Wait for snow")  # it stays while another one is answered
    item = page.locator("start-page .inbox li", has_text="Many choices")
    expect(item.locator(".answers > button:not(.more)")).to_have_text(
        ["Try again", "Go on without it", "Give it to another member"]
    )
    begins = "each => each.getBoundingClientRect().left"
    assert item.locator(".answers button").first.evaluate(begins) == item.locator(".what").evaluate(begins)
    item.locator(".answers .more").click()
    page.get_by_role("menuitem", name="Stop the work").click()
    expect(item).to_have_count(0)
    words.get_by_role("button", name="Answer").click()
    expect(words).to_have_count(0)
    closed = [frame["metadata"] for frame in server.events(told) if frame["event"] == "agent.user_confirm_closed"]
    assert closed[0]["answer"] == "Wait for snow"
    for session_id in (chosen, told):
        server.command(session_id, "user.end")  # its task would keep a place
