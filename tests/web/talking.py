"""What people do on the page, in the words of the tests."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.web.server import Server


def say(page: Page, text: str) -> None:
    page.locator("#composer").fill(text)
    page.locator("#composer").press("Enter")


def card(page: Page, count: int = 1) -> Any:
    """The question that waits."""
    found = page.locator("confirm-cards .card")
    expect(found).to_have_count(count)
    return found.first


def column(page: Page, name: str) -> Any:
    return page.locator(f"task-board .column.{name}")


def check_complete(page: Page, server: Server, session_id: str) -> None:
    """Every message of the log is on the page, in order, once; and the page is at the log's end."""
    frames = server.events(session_id)
    expect(page.locator("top-bar .link .words")).to_contain_text(f"event {frames[-1]['seq']} ")
    said = [str(frame["seq"]) for frame in frames if frame["event"] in ("message.posted", "agent.final_answer")]
    shown = page.locator("article.message[data-seq]")
    expect(shown).to_have_count(len(said))
    assert shown.evaluate_all("all => all.map(each => each.dataset.seq)") == said
