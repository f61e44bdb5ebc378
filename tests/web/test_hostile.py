"""Whatever members say stays text: no script runs, nothing is fetched, no layout breaks."""

from urllib.parse import urlsplit

from playwright.sync_api import Page, expect

from tests.web.conftest import Open
from tests.web.hostile import HOSTILE
from tests.web.server import Server
from tests.web.talking import column


def check_harmless(page: Page, server: Server, asked: list[str]) -> None:
    assert page.evaluate("() => window.pwned") is None
    assert {urlsplit(url).netloc for url in asked if not url.startswith("data:")} == {urlsplit(server.url).netloc}
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("chat-log script, chat-log img, chat-log iframe, task-board img, time-line img").count() == 0
    links = page.locator("chat-log .body a").evaluate_all("all => all.map(a => [a.protocol, a.rel, a.target])")
    assert all(
        each in (["https:", "noopener noreferrer", "_blank"], ["http:", "noopener noreferrer", "_blank"])
        for each in links
    )


def test_hostile_messages_and_titles(open_page: Open, server: Server) -> None:
    """A hundred strings as messages, and some as titles: shown as they are."""
    for title in HOSTILE[::12]:
        server.create("talk", title[:180])
    session_id = server.create("talk", HOSTILE[0])
    spoken = [text.replace("[FROM:", "[FORM:") for text in HOSTILE]  # who signs as nobody is refused
    for start in range(0, len(spoken), 10):
        server.command(session_id, "user.message", content="say:\n\n" + "\n\n".join(spoken[start : start + 10]))
    page = open_page(session_id)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    expect(page.locator("article.message")).to_have_count(10)
    expect(page.locator("top-bar .title")).to_have_text(HOSTILE[0])
    expect(page.get_by_text("<img src=x onerror=window.pwned=1>", exact=True)).to_be_visible()
    page.set_viewport_size({"width": 320, "height": 600})
    check_harmless(page, server, asked)


def test_hostile_tasks(open_page: Open, server: Server) -> None:
    """A hundred strings as titles, aims and ids of tasks: on the board, in the timeline, in the details."""
    session_id = server.create("work")
    tasks = [
        {"id": f"{at} {text[:20]}", "title": text[:150] + "!", "objective": text[:1000]}
        for at, text in enumerate(HOSTILE)
    ]
    server.command(session_id, "user.solve_tasks", tasks=tasks, question=HOSTILE[1])
    page = open_page(session_id)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    page.get_by_role("tab", name="Work").click()
    expect(column(page, "done").locator(".task")).to_have_count(100, timeout=30_000)
    expect(page.locator("live-region")).to_contain_text("your turn", timeout=30_000)  # no more rows come
    page.get_by_role("tab", name="Trace").click()
    page.locator("time-line .row").last.click()
    expect(page.locator("time-line .details")).to_be_visible()
    check_harmless(page, server, asked)


def test_hostile_plans(open_page: Open, server: Server) -> None:
    """The same strings in a plan that waits, edited and answered."""
    session_id = server.create("failing")
    server.command(session_id, "user.message", content=f"Please make a booklet about {HOSTILE[2]}")
    page = open_page(session_id)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("button", name="Edit…").click()
    for at, text in enumerate(HOSTILE[:2]):
        page.locator("plan-editor .row .title").nth(at).fill(text)
        page.locator("plan-editor .row .objective").nth(at).fill(text)
    page.reload()
    page.get_by_role("button", name="Edit…").click()
    page.locator("plan-editor .approve").click()
    expect(page.locator("confirm-cards .what")).to_contain_text("<script>")
    page.get_by_role("button", name="Stop the work").click()
    expect(page.locator(".note.interrupted")).to_be_visible()
    check_harmless(page, server, [*asked, server.url])
