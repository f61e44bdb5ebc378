"""For everybody: axe finds nothing in both themes and languages; small screens and large letters work."""

import math

import pytest
from playwright.sync_api import Page, Route, expect

from tests.web.axe import find_violations
from tests.web.conftest import Open
from tests.web.node import needs_axe
from tests.web.server import Server
from tests.web.talking import card, say


@needs_axe
@pytest.mark.parametrize("language", ["en", "zh"])
def test_axe_finds_nothing(open_page: Open, server: Server, language: str) -> None:
    """0 violations in both themes and languages: talk, a plan, its editor, tasks, machines, replay."""
    chat, work, studio = (server.create(team, team.title()) for team in ("talk", "work", "studio"))
    server.command(
        chat, "user.message", content="# Hi\n\n`a` [x](https://a.test/) @Bob [NEXT: Bob, nobody, Slow, Carol]"
    )
    server.command(work, "user.message", content="Make a booklet")
    server.command(studio, "user.message", content="Write a story")
    page = open_page(chat, query=f"?lang={language}", ignore="inline style")  # axe has some
    expect(page.locator("queue-bar .chip")).to_have_count(2)
    page.locator("time-line .row").first.click()
    page.locator("#composer").fill("/")
    violations = find_violations(page, "talk, an event's details, offers")
    page.keyboard.press("Escape")
    page.locator(f"session-list a[href='/s/{work}']").click()
    expect(card(page).locator(".tasks li")).to_have_count(3)
    page.locator("#tab-state").click()
    violations += find_violations(page, "a plan, machines")
    page.locator("confirm-cards [data-key=e]").click()
    page.locator("plan-editor .row .title").first.fill("")
    violations += find_violations(page, "the editor, with a problem")
    page.locator("plan-editor .reset").click()
    page.keyboard.press("Escape")
    page.locator("confirm-cards [data-key=a]").click()
    page.locator("#tab-tasks").click()
    expect(page.locator("task-board .column.done .task").first).to_be_visible()
    expect(page.locator("article.message", has_text="All of it")).to_be_visible()
    violations += find_violations(page, "tasks, results")
    page.locator(f"session-list a[href='/s/{studio}']").click()
    expect(page.locator("job-board .choices li")).to_have_count(1)
    page.locator("top-bar .replay").click()
    violations += find_violations(page, "a job, its question, replay")
    page.keyboard.press("Control+k")
    violations += find_violations(page, "palette")
    assert not violations, "\n".join(violations)


@needs_axe
@pytest.mark.parametrize("language", ["en", "zh"])
def test_axe_finds_nothing_in_dialogs_and_on_small_screens(open_page: Open, server: Server, language: str) -> None:
    """0 violations where less fits: keys, a new session, the drawer, each pane alone, no token."""
    server.client.delete(f"/api/sessions/{server.create('talk', 'Thrown away')}").raise_for_status()
    session_id = server.create("failing")
    tasks = [{"id": "bad", "title": "Ask the oracle"}, {"id": "long", "title": "Wait for rain"}]
    server.command(session_id, "user.solve_tasks", tasks=tasks)
    page = open_page(session_id, query=f"?lang={language}", ignore="inline style")
    expect(card(page).locator("button").first).to_be_visible()
    page.locator("chat-log .log").press("?")
    violations = find_violations(page, "keys")
    page.keyboard.press("Escape")
    page.locator("session-list .new").click()
    expect(page.locator("start-page .team").first).to_be_visible()
    violations += find_violations(page, "home")
    page.locator("session-list .gear").click()
    violations += find_violations(page, "settings")
    page.keyboard.press("Escape")
    page.locator("session-list .shelf.trash").click()
    expect(page.locator("session-list .name", has_text="Thrown away").first).to_be_visible()
    page.locator("session-list .select").click()
    page.locator("session-list .choose input").first.check()
    violations += find_violations(page, "trash, some are selected")
    page.locator("session-list .bulk button").last.click()
    page.locator("session-list .shelf.trash").click()
    page.go_back()
    page.locator("top-bar .share").click()
    violations += find_violations(page, "share")
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1000, "height": 700})
    page.locator("top-bar .inspector_toggle").click()
    page.locator("#tab-tasks").click()
    page.locator("task-board [data-task=long] .more").click()
    violations += find_violations(page, "drawer, a task to be given away")
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 400, "height": 700})
    for pane in range(3):
        page.locator("pane-tabs button").nth(pane).click()
        violations += find_violations(page, f"narrow, pane {pane}")
    page.context.clear_cookies()
    page.goto(f"{server.url}/?lang={language}#token=wrong")
    expect(page.get_by_role("alert")).not_to_be_empty()
    violations += find_violations(page, "no token")
    assert not violations, "\n".join(violations)


def test_forced_colours_keep_what_colour_tells(open_page: Open, server: Server) -> None:
    """What is open, chosen or current has an outline, not colour alone; the link's dot is there."""
    page = open_page(server.create("work"), forced_colors="active")
    say(page, "Make a booklet")
    expect(card(page).locator(".tasks li")).to_have_count(3)
    page.locator("#tab-timeline").click()
    for chosen in ("session-list [aria-current]", "#tab-timeline", "time-line .filter.routing"):
        expect(page.locator(chosen)).to_have_css("outline-style", "solid")
    expect(page.locator("#tab-tasks")).to_have_css("outline-style", "none")
    expect(page.locator("top-bar .dot")).not_to_have_css("background-color", "rgba(0, 0, 0, 0)")
    page.locator("#tab-state").click()
    current, other = page.locator("state-map .current rect"), page.locator("state-map .node:not(.current) rect").first
    fill = "each => getComputedStyle(each).fill"
    assert current.evaluate(fill) != other.evaluate(fill)


def test_less_motion_is_no_motion(open_page: Open, server: Server) -> None:
    """Nothing blinks while somebody writes; otherwise the caret does."""
    session_id = server.create("talk")
    server.command(session_id, "user.message", content="[NEXT: Slow] go")
    page = open_page(session_id)
    caret = "each => getComputedStyle(each, '::after').animationName"
    writing = page.locator("article.writing .body")
    assert writing.evaluate(caret) == "blink"
    page.emulate_media(reduced_motion="reduce")
    assert writing.evaluate(caret) == "none"


def test_a_narrow_screen_shows_one_pane_at_a_time(open_page: Open, server: Server) -> None:
    """320 px: nothing is cut off sideways, every pane can be reached."""
    session_id = server.create("work", "A rather long title of a session about the harbour")
    page = open_page(session_id, viewport={"width": 320, "height": 640})
    say(page, "Make a booklet")
    expect(card(page).locator(".tasks li")).to_have_count(3)
    page.set_viewport_size({"width": 640, "height": 400})  # 200 % of a small laptop
    for stays in ("confirm-cards [data-key=a]", "#composer", "pane-tabs"):
        page.locator(stays).click(trial=True)  # nothing covers it
        expect(page.locator(stays)).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 320, "height": 568})
    ends, begins = "each => each.getBoundingClientRect().bottom", "each => each.getBoundingClientRect().top"
    assert page.locator("chat-composer").evaluate(ends) <= page.locator("pane-tabs").evaluate(begins) + 1
    assert page.locator("#activity").evaluate("each => each.offsetHeight") <= 8  # the sheet stands on the message box
    page.set_viewport_size({"width": 320, "height": 640})
    page.get_by_role("button", name="Edit…").click()
    check_fits(page)
    expect(page.locator("plan-editor .row .who").first).to_be_in_viewport(ratio=1)
    assert page.locator("plan-editor .row .who").first.evaluate("each => each.offsetWidth") > 72
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Approve 3 tasks").click()
    for pane in ("Inbox", "Work", "Chat"):
        page.locator("pane-tabs").get_by_role("button", name=pane).click()
        check_fits(page)
    expect(page.locator("#composer")).to_be_in_viewport()
    page.locator("pane-tabs").get_by_role("button", name="Inbox").click()
    page.get_by_role("button", name="New session").click()
    expect(page.locator("start-page .team").first).to_be_visible()
    check_fits(page)
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#composer")).to_be_focused()


def test_large_letters(open_page: Open, server: Server) -> None:
    """200 % zoom of a 1280 px window is 640 px of twice the size; longer words fit too."""
    page = open_page(server.create("talk"), viewport={"width": 640, "height": 400}, device_scale_factor=2)
    page.route("**/lang/en.json", lengthen)
    page.reload()
    expect(page.get_by_role("button", name="[Send~~]")).to_be_visible()
    say(page, "[NEXT: Slow, Bob, Carol] go")
    expect(page.locator("queue-bar .chip")).to_have_count(3)
    check_fits(page)
    expect(page.locator("#composer")).to_be_in_viewport()


def lengthen(route: Route) -> None:
    """Words that are two fifths longer, to see where a layout breaks."""
    words: dict[str, str] = route.fetch().json()
    longer = {key: f"[{text}{'~' * math.ceil(len(text) * 0.4)}]" for key, text in words.items()}
    route.fulfill(json=longer)


def check_fits(page: Page) -> None:
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("() => document.documentElement.scrollHeight <= innerHeight")  # panes scroll, the page never
    wide = page.evaluate(
        """() => [...document.querySelectorAll("button, input, textarea, select, p, h1, h2, li")]
          .filter(each => each.checkVisibility() && !each.closest("live-region, .skip, .window, .picture, pre"))
          .filter(each => each.getBoundingClientRect().right > innerWidth + 1)
          .map(each => each.outerHTML.slice(0, 100))"""
    )
    assert wide == []


def test_the_screen_reader_hears_each_message_once(open_page: Open, server: Server) -> None:
    """Who begins, the finished message, whose turn it is; never every token."""
    page = open_page(server.create("stream"))
    expect(page.locator("[role=log]")).to_have_attribute("aria-live", "off")
    expect(page.locator("chat-log .blank")).to_contain_text("Say something")
    page.evaluate(
        """() => {
          window.heard = [];
          const region = document.querySelector("live-region [aria-live=polite]");
          new MutationObserver(all => window.heard.push(region.textContent)).observe(region, {childList: true});
        }"""
    )
    say(page, "[NEXT: Poet] recite")
    expect(page.locator("article.message.ai:not(.writing)")).to_have_count(1)
    expect(page.locator("top-bar .status")).to_have_text("Waiting for you")
    heard = "\n".join(page.evaluate("() => window.heard"))
    assert heard.count("Poet is replying") == 1
    assert heard.count("Poet: word0 word1") == 1
    assert heard.count("It is your turn") == 1


def test_theme_and_language_are_kept(open_page: Open, server: Server) -> None:
    """Chosen once, the same after a reload; what the server says comes in that language too."""
    session_id = server.create("talk")
    server.command(session_id, "user.message", content="[NEXT: nobody] hi")
    page = open_page(session_id)
    expect(page.locator(".note.unresolved")).to_contain_text("Cannot resolve")
    page.locator("session-list .gear").click()
    page.get_by_role("button", name="中文").click()
    expect(page.locator(".note.unresolved")).to_contain_text("无法解析任何目标")
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    page.locator("settings-dialog .theme.dark").click()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_role("button", name="发送")).to_be_visible()
    expect(page.locator(".note.unresolved")).to_contain_text("无法解析任何目标")
