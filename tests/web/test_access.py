"""For everybody: axe finds nothing in both themes and languages; small screens and large letters work."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Open
from tests.web.node import AXE, needs_axe
from tests.web.server import Server
from tests.web.talking import card, say


def find_violations(page: Page) -> list[str]:
    """What axe has to say, a line each."""
    if not page.evaluate("() => 'axe' in window"):
        cdp = page.context.new_cdp_session(page)
        cdp.send("Runtime.evaluate", {"expression": AXE.read_text(encoding="utf-8")})
    found: dict[str, Any] = page.evaluate("async () => await axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for each in found["violations"]
        for node in each["nodes"]
    ]


@needs_axe
@pytest.mark.parametrize(("theme", "language"), [("light", "en"), ("dark", "zh")])
def test_axe_finds_nothing(open_page: Open, server: Server, theme: str, language: str) -> None:
    """Issue 7: 0 violations: a conversation, a plan that waits, its editor, tasks, machines, replay, dialogs."""
    chat, work, studio = (server.create(team, team.title()) for team in ("talk", "work", "studio"))
    server.command(
        chat, "user.message", content="# Hi\n\n`a` [x](https://a.test/) @Bob [NEXT: Bob, nobody, Slow, Carol]"
    )
    server.command(work, "user.message", content="Make a booklet")
    server.command(studio, "user.message", content="Write a story")
    page = open_page(chat, query=f"?lang={language}", color_scheme=theme, ignore="inline style")  # axe has some
    expect(page.locator("queue-bar .chip")).to_have_count(2)
    violations = find_violations(page)
    page.locator("time-line .row").first.click()
    page.locator("#composer").fill("/")
    violations += find_violations(page)
    page.locator(f"session-list a[href='/s/{work}']").click()
    expect(card(page).locator(".tasks li")).to_have_count(3)
    page.locator("#tab-state").click()
    violations += find_violations(page)
    page.locator("confirm-cards [data-key=e]").click()
    violations += find_violations(page)
    page.keyboard.press("Escape")
    page.locator("confirm-cards [data-key=a]").click()
    page.locator("#tab-tasks").click()
    expect(page.locator("task-board .column.done .task").first).to_be_visible()
    violations += find_violations(page)
    page.locator(f"session-list a[href='/s/{studio}']").click()
    expect(page.locator("job-board .choices li")).to_have_count(1)
    violations += find_violations(page)
    page.locator("top-bar .replay").click()
    page.keyboard.press("Control+k")
    violations += find_violations(page)
    assert not violations, "\n".join(violations)


def test_a_narrow_screen_shows_one_pane_at_a_time(open_page: Open, server: Server) -> None:
    """Issue 7: 320 px: nothing is cut off sideways, every pane can be reached."""
    session_id = server.create("work", "A rather long title of a session about the harbour")
    page = open_page(session_id, viewport={"width": 320, "height": 640})
    say(page, "Make a booklet")
    expect(card(page).locator(".tasks li")).to_have_count(3)
    page.get_by_role("button", name="Edit…").click()
    check_fits(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Approve 3 tasks").click()
    for pane in ("Sessions", "Inspector", "Talk"):
        page.locator("pane-tabs").get_by_role("button", name=pane).click()
        check_fits(page)
    expect(page.locator("#composer")).to_be_in_viewport()
    page.locator("pane-tabs").get_by_role("button", name="Sessions").click()
    page.get_by_role("button", name="New session").click()
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#composer")).to_be_focused()


def test_large_letters(open_page: Open, server: Server) -> None:
    """Issue 7: 200 % zoom of a 1280 px window is 640 px of twice the size; longer words fit too."""
    page = open_page(
        server.create("talk"), query="?pseudo", viewport={"width": 640, "height": 400}, device_scale_factor=2
    )
    say(page, "[NEXT: Slow, Bob, Carol] go")
    expect(page.locator("queue-bar .chip")).to_have_count(3)
    check_fits(page)
    expect(page.locator("#composer")).to_be_in_viewport()


def check_fits(page: Page) -> None:
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    wide = page.evaluate(
        """() => [...document.querySelectorAll("button, input, textarea, select, p, h1, h2, li")]
          .filter(each => each.checkVisibility() && !each.closest("live-region, .skip, .window, .picture, pre"))
          .filter(each => each.getBoundingClientRect().right > innerWidth + 1)
          .map(each => each.outerHTML.slice(0, 100))"""
    )
    assert wide == []


def test_the_screen_reader_hears_each_message_once(open_page: Open, server: Server) -> None:
    """UX screen readers: who begins, the finished message, whose turn it is; never every token."""
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
    heard = "\n".join(page.evaluate("() => window.heard"))
    assert heard.count("Poet is replying") == 1
    assert heard.count("Poet: word0 word1") == 1
    assert heard.count("It is your turn") == 1


def test_theme_and_language_are_kept(open_page: Open, server: Server) -> None:
    """UX theme, zh/en: chosen once, the same after a reload; what the server says comes in that language too."""
    session_id = server.create("talk")
    server.command(session_id, "user.message", content="[NEXT: nobody] hi")
    page = open_page(session_id)
    expect(page.locator(".note.unresolved")).to_contain_text("Cannot resolve")
    page.get_by_role("button", name="中文").click()
    expect(page.locator(".note.unresolved")).to_contain_text("无法解析任何目标")
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    page.locator("top-bar .theme").click()
    page.locator("top-bar .theme").click()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_role("button", name="发送")).to_be_visible()
    expect(page.locator(".note.unresolved")).to_contain_text("无法解析任何目标")
