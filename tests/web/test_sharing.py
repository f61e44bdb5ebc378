"""What an owner does with a whole session on the page: share it, fork it, throw it away, bring it back."""

from playwright.sync_api import expect

from tests.web.conftest import Open
from tests.web.server import Server
from tests.web.talking import say
from tests.web.test_sessions import do, row


def test_a_link_is_made_used_and_revoked(open_page: Open, server: Server) -> None:
    """Somebody with the link sees this session and may only look; once it is revoked it opens nothing."""
    session_id = server.create("talk", "For the printer")
    owner = open_page(session_id)
    owner.locator("top-bar .share").click()
    dialog = owner.locator("share-dialog dialog")
    dialog.get_by_label("For whom?").fill("the printer")
    dialog.get_by_role("button", name="Make a link").click()
    address = dialog.locator(".made code").inner_text()
    assert f"/s/{session_id}#token=moot_" in address
    viewer = open_page(session_id, address.partition("#token=")[2])
    expect(viewer.locator("top-bar .title")).to_have_text("For the printer")
    expect(viewer.locator("session-list .new")).to_be_hidden()
    expect(viewer.locator("#composer")).not_to_be_visible()
    expect(dialog.locator(".links li")).to_contain_text("the printer")
    dialog.get_by_role("button", name="Revoke").click()
    expect(dialog.locator(".links li")).to_have_count(0)
    viewer.reload()
    expect(viewer.locator("login-form")).to_be_visible()


def test_a_session_is_forked_at_a_message(open_page: Open, server: Server) -> None:
    """The copy is the same until that message; what is said there is not said in the first one."""
    session_id = server.create("talk", "First way")
    page = open_page(session_id)
    say(page, "one")
    say(page, "two")
    expect(page.locator("article.message.human:not(.unsent)")).to_have_count(2)
    page.locator("article.message.human").first.hover()
    page.locator("article.message.human .fork").first.click()
    expect(page).not_to_have_url(f"{server.url}/s/{session_id}")
    expect(page.locator("article.message.human")).to_have_count(1)
    say(page, "another way")
    expect(page.locator("article.message.human:not(.unsent)")).to_have_count(2)
    page.goto(f"{server.url}/s/{session_id}")
    expect(page.locator("article.message.human .body")).to_have_text(["one", "two"])


def test_a_message_is_asked_again(open_page: Open, server: Server) -> None:
    """The words before an answer go to its author once more."""
    session_id = server.create("talk")
    page = open_page(session_id)
    say(page, "@Bob hello")
    answer = page.locator("article.message.ai:not(.writing)")
    expect(answer).to_have_count(1)
    answer.hover()
    answer.locator(".retry").click()
    expect(page.locator("article.message.ai:not(.writing)")).to_have_count(2)
    expect(page.locator("article.message.human .body")).to_have_text(["@Bob hello", "@Bob hello"])


def test_a_session_comes_back_from_the_trash(open_page: Open, server: Server) -> None:
    """What was removed is in the trash, can be restored from there, or deleted for good after a question."""
    kept, lost = server.create("talk", "Comes back"), server.create("talk", "Is gone")
    page = open_page()
    for session_id in (kept, lost):
        do(page, session_id, "Remove")
        expect(row(page, session_id)).to_have_count(0)
    page.locator("session-list .shelf.trash").click()
    do(page, kept, "Restore")
    expect(row(page, kept)).to_have_count(0)
    do(page, lost, "Delete for good")
    page.get_by_role("button", name="Delete for good").click()
    expect(row(page, lost)).to_have_count(0)
    assert server.client.get(f"/api/sessions/{lost}").status_code == 404
    page.locator("session-list .shelf.trash").click()
    expect(row(page, kept)).to_be_visible()


def test_several_sessions_at_once(open_page: Open, server: Server) -> None:
    """Those that are selected are removed together, and undo brings all of them back."""
    made = [server.create("talk", f"batch {number}") for number in range(3)]
    page = open_page()
    page.locator("session-list .shelf.select").click()
    for session_id in made[:2]:
        row(page, session_id).get_by_role("checkbox").check()
    expect(page.locator("session-list .chosen")).to_have_text("2 selected")
    page.locator("session-list .bulk .remove").click()
    for session_id in made[:2]:
        expect(row(page, session_id)).to_have_count(0)
    expect(row(page, made[2])).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    for session_id in made[:2]:
        expect(row(page, session_id)).to_be_visible()
