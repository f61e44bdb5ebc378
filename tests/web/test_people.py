"""Several people at one session, and those who may only look."""

from playwright.sync_api import expect

from moot.core.session.principal import Role
from tests.web.conftest import Open
from tests.web.server import Server
from tests.web.talking import say


def test_two_browsers_as_two_humans(open_page: Open, server: Server) -> None:
    """Each speaks as themselves, both see everything, each sees whose turn it is."""
    session_id = server.create("pair")
    alice = open_page(session_id, server.issue(Role.MEMBER, session_id, "alice"))
    zoe = open_page(session_id, server.issue(Role.MEMBER, session_id, "zoe"))
    say(alice, "[NEXT: Bob] start")
    expect(zoe.locator("top-bar .status")).to_have_text("Waiting for you")
    expect(alice.locator("top-bar .status")).to_have_text("Waiting for Zoe")
    expect(zoe.locator("article.message b")).to_have_text(["Alice", "Bob"])
    say(zoe, "thanks [NEXT: Bob]")
    expect(alice.locator("top-bar .status")).to_have_text("Waiting for you")
    expect(alice.locator("article.message.human:not(.mine) b")).to_have_text(["Zoe"])
    expect(alice.locator("session-list .new")).to_be_hidden()


def test_an_answer_of_another_is_shown(open_page: Open, server: Server) -> None:
    """If another human answered, who and what."""
    session_id = server.create("pair")
    alice = open_page(session_id, server.issue(Role.MEMBER, session_id, "alice"))
    zoe = open_page(session_id, server.issue(Role.MEMBER, session_id, "zoe"))
    say(alice, "[NEXT: Zoe, Bob] hm")
    say(alice, "/queue clear")
    zoe.get_by_role("button", name="Keep it").click()
    expect(alice.locator(".note.answer")).to_contain_text("Zoe: Keep it")
    expect(alice.locator("confirm-cards .card")).to_have_count(0)


def test_an_owner_says_for_whom_they_speak(open_page: Open, server: Server) -> None:
    """With several humans a page that is nobody's chooses."""
    page = open_page(server.create("pair"))
    say(page, "who am I?")
    expect(page.locator("chat-composer .problem")).to_contain_text("Several humans share this session")
    page.get_by_label("Speak as").select_option(label="Zoe")
    page.locator("#composer").press("Enter")
    expect(page.locator("article.message.mine b")).to_have_text("Zoe")


def test_a_viewer_reads_and_nothing_else(open_page: Open, server: Server) -> None:
    """Viewer reads; nothing is offered that would be refused."""
    session_id = server.create("talk")
    server.command(session_id, "user.message", content="[NEXT: Slow, Bob] go")
    page = open_page(session_id, server.issue(Role.VIEWER, session_id))
    expect(page.locator("article.message.human")).to_contain_text("go")
    expect(page.locator("#composer")).to_be_hidden()
    expect(page.locator("chat-composer .hint")).to_have_text("You may read this session, not write")
    expect(page.locator("queue-bar .actions button:visible")).to_have_count(0)
    expect(page.locator("queue-bar .x")).to_be_disabled()
    server.command(session_id, "user.message", content="/queue clear")
    expect(page.locator("confirm-cards button").first).to_be_disabled()
