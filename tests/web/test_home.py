"""Home: the demo with its captions, files with the first message, a team of one's own."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import FilePayload, expect

from tests.web.axe import PHONE, find_violations
from tests.web.conftest import Open
from tests.web.node import needs_axe
from tests.web.server import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """As a newcomer starts it: with the built-in teams."""
    started = Server(tmp_path_factory.mktemp("home"), ("chat-demo", "plan-demo"))
    started.start()
    yield started
    started.close()


def test_the_first_sentence_of_a_newcomer_is_answered(open_page: Open) -> None:
    """Nothing is chosen, clicked or learnt: one types what anybody would, presses Enter, and somebody answers."""
    page = open_page()
    expect(page.locator("#goal")).to_be_focused()
    page.keyboard.type("Hello! What can you do?")
    page.keyboard.press("Enter")
    expect(page.locator("article.message.human .body")).to_have_text("Hello! What can you do?")
    expect(page.locator("article.message.human .to")).to_have_text("→ Ada")
    expect(page.locator("article.message.ai:not(.writing) .body").first).not_to_be_empty()
    expect(page.locator("session-list .name").first).to_have_text("Hello! What can you do?")


def test_the_demo_plays_on_the_page(open_page: Open, server: Server) -> None:
    """Captions say what to look at, the human's part is acted, the link is cut once and heals; then it is over."""
    page = open_page(query="?demo=chat")
    bar, article = page.locator("demo-bar"), page.locator("article.message")
    expect(bar.locator(".caption")).to_contain_text("goes to Ada")
    expect(bar.locator(".words")).to_contain_text("Can you three write the poster?")
    expect(article).to_have_count(0)
    bar.locator(".next").click()  # what would happen by itself after a while
    expect(bar.locator(".caption")).to_contain_text("the floor came back to you")
    expect(page.locator("article.message.ai .cost").first).to_contain_text("tokens")  # known after the message
    bar.locator(".next").click()
    expect(bar.locator(".caption")).to_contain_text("A human ends the session")
    bar.locator(".next").click()
    expect(bar.locator(".over")).to_be_visible()
    (entry,) = [each for each in server.client.get("/api/sessions").json() if each["title"] == "Demo"]
    frames = server.events(entry["session_id"])
    said = [frame for frame in frames if frame["event"] == "message.posted" and frame["metadata"]["member"] == "you"]
    assert len(said) == 3
    assert frames[-1]["event"] == "session.completed"
    bar.locator(".over").click()
    expect(page.locator("#goal")).to_be_visible()
    expect(bar).to_be_hidden()


def test_the_viewer_may_take_over(open_page: Open) -> None:
    """From home; a demo that is paused waits; what the viewer says counts instead; ending it leaves the session."""
    page = open_page()
    page.locator("start-page .demo").click()
    bar = page.locator("demo-bar")
    expect(bar.locator(".caption")).to_contain_text("a planner makes a plan of it")
    bar.locator(".pause").click()
    expect(bar.locator("[aria-label='Go on with the demo']")).to_be_visible()
    page.locator("#composer").fill("Plan a small garden party.")
    page.locator("#composer").press("Enter")
    expect(page.locator("article.message.human")).to_have_count(1)
    expect(page.locator("confirm-cards .card.plan")).to_be_visible()
    bar.locator(".end").click()
    expect(bar).to_be_hidden()
    expect(page.locator("confirm-cards .card.plan [data-key=a]")).to_be_enabled()


def test_the_first_message_has_files(open_page: Open) -> None:
    """A file that is chosen at home goes with the first message; one that was dropped again does not."""
    page = open_page()
    page.locator("start-page .team", has_text="chat-demo").click()
    pick = page.locator("start-page input[type=file]")
    files: list[FilePayload] = [
        {"name": name, "mimeType": "text/plain", "buffer": b"Open on Sundays."} for name in ("brief.txt", "other.txt")
    ]
    pick.set_input_files(files)
    page.get_by_role("button", name="Without other.txt").click()
    page.locator("#goal").fill("Write the poster.")
    page.locator("#goal").press("Enter")
    expect(page.locator("article.message.human .attachments")).to_have_text("brief.txt")
    expect(page.locator("article.message.ai").first).to_be_visible()


def test_how_to_make_a_team(open_page: Open) -> None:
    """Home says what to run: a team runs programs, so it is made at the terminal."""
    page = open_page()
    page.locator("start-page .new-team").click()
    expect(page.get_by_role("dialog", name="New team")).to_contain_text("moot init")


@needs_axe
@pytest.mark.parametrize("language", ["en", "zh"])
def test_axe_finds_nothing_in_the_demo(open_page: Open, language: str) -> None:
    """0 violations while it tells, with a plan to be approved, and on a phone."""
    page = open_page(query=f"?demo=plan&lang={language}", ignore="inline style")
    bar = page.locator("demo-bar")
    bar.locator(".pause").click()
    violations = find_violations(page, "demo")
    bar.locator(".next").click()
    expect(page.locator("confirm-cards .card.plan")).to_be_visible()
    page.set_viewport_size(PHONE)
    violations += find_violations(page, "demo on a phone, a plan")
    page.locator("pane-tabs button").nth(2).click()
    violations += find_violations(page, "demo on a phone, the work")
    bar.locator(".end").evaluate("button => button.click()")
    assert not violations, "\n".join(violations)
