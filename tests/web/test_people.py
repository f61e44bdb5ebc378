"""Several people at one session, and those who may only look."""

from playwright.sync_api import expect

from moot.agents.cli.memory import FOLDER, Conversations
from moot.core.session.principal import Role
from moot.core.session.usage import Usage
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


def test_the_first_message_of_a_team_with_several_people(open_page: Open) -> None:
    """It is the first one's, from home too, and shows no marker: neither in the conversation nor as the title."""
    page = open_page()
    page.locator("start-page .team", has_text="pair").click()
    page.locator("#goal").fill("Who begins?")
    page.locator("#goal").press("Enter")
    expect(page.locator("article.message.human b")).to_have_text("Alice")
    expect(page.locator("article.message.human .body")).to_have_text("Who begins?")
    expect(page.locator("top-bar .title")).to_have_text("Who begins?")
    page.locator(".note.nobody_addressed .offers button").click()
    expect(page.locator("article.message.human .body").last).to_have_text("")


def test_an_owner_says_for_whom_they_speak(open_page: Open, server: Server) -> None:
    """With several humans a page that is nobody's speaks for the first, or for whoever is chosen."""
    page = open_page(server.create("pair"))
    expect(page.get_by_label("Speak as")).to_be_visible()
    say(page, "who am I?")
    expect(page.locator("article.message.mine b")).to_have_text("Alice")
    page.get_by_label("Speak as").select_option(label="as Zoe")
    say(page, "and now?")
    expect(page.locator("article.message.mine b").last).to_have_text("Zoe")


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


def test_two_browsers_answer_one_plan(open_page: Open, server: Server) -> None:
    """A plan is answered once: whoever is second sees who was first, at once, and nothing runs twice."""
    session_id = server.create("work")
    one, other = open_page(session_id), open_page(session_id)
    say(one, "Make a poster.")
    approve = [page.locator("confirm-cards [data-key=a]") for page in (one, other)]
    for button in approve:
        expect(button).to_be_visible()
    for handle in [button.element_handle() for button in approve]:
        handle.evaluate("each => each.click()")  # the second may have seen nothing yet of the first
    for page in (one, other):
        expect(page.locator("confirm-cards .card")).to_have_count(0)
        expect(page.locator(".note.answer")).to_have_count(1)
        expect(page.locator(".note.answer .plan-block")).to_be_visible()
    answers = [frame for frame in server.events(session_id) if frame["event"] == "agent.user_confirm_closed"]
    assert len(answers) == 1


def test_the_owner_goes_on_in_a_members_own_program(open_page: Open, server: Server) -> None:
    """The tab Team tells the owner what plays a member and the command, to be copied; others see none of it."""
    session_id, conversation = server.create("talk"), "3d57e54c-3152-485b-b6dd-cea9331b4f0d"
    command = ("claude", "--resume", conversation)
    kept = Conversations(server.data / FOLDER)
    kept.keep(session_id, "bob", ("claude",), conversation, Usage(), takeover=command, folder="/srv/project")
    page = open_page(session_id, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("tab", name="Team").click()
    row = page.locator("team-panel li", has_text="Bob")
    expect(row.locator(".can .pill")).to_have_text(["plays a script"])
    expect(row.locator(".copyable code")).to_have_text(f"cd /srv/project && claude --resume {conversation}")
    row.locator(".copyable button").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == f"cd /srv/project && claude --resume {conversation}"
    guest = open_page(session_id, server.issue(Role.VIEWER, session_id))
    guest.get_by_role("tab", name="Team").click()
    expect(guest.locator("team-panel li", has_text="Bob")).to_be_visible()
    expect(guest.locator("team-panel :is(.copyable, .can)")).to_have_count(0)
