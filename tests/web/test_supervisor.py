"""The supervisor flow in the browser: a question answered, a review stop, output put right, being stuck."""

from playwright.sync_api import expect

from tests.web.conftest import Open
from tests.web.server import Server
from tests.web.talking import card, say


def test_a_question_and_a_review_stop(open_page: Open, server: Server) -> None:
    """Decisions are told in words; a question is answered; an output is checked and put right."""
    session_id = server.create("studio")
    page = open_page(session_id)
    page.get_by_role("tab", name="Work").click()
    say(page, "A story for the evening")
    expect(card(page).locator(".what")).to_have_text("Who should read it?")
    expect(card(page).locator(".asker")).to_have_text("asked by Asker")
    expect(page.locator("article.message", has_text="First a brief.").locator(".body")).to_have_text("First a brief.")
    expect(page.locator(".note.decided")).to_contain_text(["→ Asker: Who is it for?"])
    expect(page.locator("live-region")).not_to_contain_text("next_agent")
    card(page).get_by_label("Children").check()
    card(page).get_by_label("Everybody").check()
    card(page).get_by_role("button", name="Answer").click()
    expect(page.locator(".note.answer")).to_contain_text(["Children, Everybody"])
    expect(card(page).locator("button").first).to_be_visible()
    expect(page.locator("job-board .choices b").first).to_have_text("→ Writer")
    page.reload()
    page.locator("confirm-cards button", has_text="Edit").click()
    output = page.get_by_label("Output as JSON")
    expect(output).to_have_value('{\n  "draft": {\n    "body": "Once upon a time"\n  }\n}')
    output.fill("{ not json")
    page.get_by_role("button", name="Use this instead").click()
    expect(page.locator(".output .problem")).not_to_be_empty()
    output.fill('{"draft": {"body": "Twice upon a time"}}')
    page.get_by_role("button", name="Use this instead").click()
    expect(page.locator(".note.mark", has_text="The work is done").locator(".body")).to_have_text("Twice upon a time")
    page.locator("job-board details", has_text="draft").locator("summary").click()
    expect(page.locator("job-board pre", has_text="Twice")).to_be_visible()


def test_a_question_leaves_the_last_word_in_sight(open_page: Open, server: Server) -> None:
    """A card takes room from the conversation, which stays at its end; where somebody reads, too."""
    page = open_page(server.create("studio"), viewport={"width": 400, "height": 560})
    say(page, "A story for the evening")
    expect(card(page).locator(".what")).to_have_text("Who should read it?")
    expect(page.get_by_text("I would rather ask.", exact=True)).to_be_in_viewport(ratio=1)


def test_a_supervisor_that_is_stuck_asks(open_page: Open, server: Server) -> None:
    """Three turns without a decision hand the floor to a human, who chooses; the result is in the
    conversation, whole."""
    page = open_page(server.create("stuck"))
    say(page, "A story for the evening")
    expect(card(page).locator(".what")).to_contain_text("What now?")
    expect(page.locator(".note.supervisor_undecided")).to_contain_text("Lead gave no usable decision 3 times")
    expect(card(page).locator(".option button")).to_have_text(["Writer", "End it"])
    page.reload()
    card(page).get_by_label("Your answer").fill("short, please")
    card(page).get_by_role("button", name="Writer").click()
    expect(page.locator(".note.answer")).to_contain_text("Writer: short, please")
    done = page.locator(".note.mark", has_text="The work is done")
    expect(done.locator(".body .heading")).to_have_text("A story")
    expect(done.locator(".body em")).to_have_text("time")
    page.get_by_role("tab", name="Trace").click()
    expect(page.locator("time-line .what", has_text="→ Writer")).to_have_count(1)


def test_a_finished_job_looks_like_a_post(open_page: Open, server: Server) -> None:
    """Title, text, tags and pictures stand in the conversation, to be copied and kept; no agent's JSON does."""
    page = open_page(server.create("post"))
    say(page, "A post about herbs")
    made = page.locator(".deliverable")
    expect(page.locator(".note.trace li", has_text="paint")).to_have_text(
        ["Painter · paint()", "✓ paint: asset_id: dawn-1 · src: data:… · caption: Dawn · is_placeholder: true"]
    )
    expect(made.locator("h3")).to_have_text("Five pots")
    expect(made.locator(".body strong")).to_have_text("mint")
    expect(made.locator(".tags")).to_have_text("#first_balcony")
    expect(made.locator("figcaption")).to_have_text("Dawn (placeholder)")
    expect(made.locator("img")).to_have_js_property("naturalWidth", 8)
    expect(made.get_by_role("link", name="Download")).to_have_attribute("download", "Five pots.md")
    expect(made.get_by_role("button", name="Copy")).to_be_visible()
    expect(page.locator("article.message .body")).to_have_text(["A post about herbs", "One picture.", "Here it is."])
