"""A conversation in the browser: queue, completion, slash commands, streaming, what is refused."""

import re

from playwright.sync_api import FilePayload, expect

from tests.web.conftest import Open
from tests.web.server import Server
from tests.web.talking import card, say


def test_a_session_from_the_first_words_to_the_answer(open_page: Open) -> None:
    """Home begins with what should be done: the words start a session, and whom they name answers."""
    page = open_page()
    page.locator("session-list .new").click()
    page.get_by_label("What should the team do?").fill("@Bob hello")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", name="@Bob hello")).to_be_visible()
    answer = page.locator("article.message.ai", has_text="Hello from Bob.")
    expect(answer).to_be_visible()
    expect(answer.locator("strong")).to_have_text("Bob")
    expect(answer.locator(".author")).to_have_text("writer")
    expect(page.locator("top-bar .status")).to_have_text("Waiting for you")
    expect(page.locator("top-bar .hops")).to_have_text(re.compile("1/"))
    expect(page.locator("top-bar .spent")).to_have_text("15 tokens")
    expect(page.locator("queue-bar")).to_be_hidden()


def test_one_types_at_once(open_page: Open) -> None:
    """Who opens the page types and presses Enter: nothing has to be clicked for an answer."""
    page = open_page()
    expect(page.locator("#goal")).to_be_focused()
    page.keyboard.type("@Bob hello")
    page.keyboard.press("Enter")
    expect(page.locator("article.message.ai", has_text="Hello from Bob.")).to_be_visible()


def test_the_queue_can_be_skipped_moved_and_cleared(open_page: Open, server: Server) -> None:
    """Chips with skip and move, clear; pause and stop act on what runs."""
    page = open_page(server.create("talk"))
    say(page, "[NEXT: Slow, Bob, Carol, Dave] go")
    chips = page.locator("queue-bar .chip:not(.running) .grip")
    expect(chips).to_have_text(["Bob", "Carol", "Dave"])
    expect(page.locator("queue-bar .running")).to_have_attribute("aria-current", "step")
    line = "📋 Queue: [Slow ⏳] → Bob → Carol → Dave"
    expect(page.locator("queue-bar ol")).to_have_attribute("aria-label", line)
    page.get_by_role("button", name="Skip Carol").click()
    expect(chips).to_have_text(["Bob", "Dave"])
    chips.nth(1).press("Alt+ArrowLeft")
    expect(chips).to_have_text(["Dave", "Bob"])
    page.get_by_role("button", name="Skip", exact=True).click()
    expect(chips).to_have_text(["Bob"])
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(chips).to_have_count(0)
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.locator("queue-bar")).to_be_hidden()


def test_escape_stops_the_turn_that_runs(open_page: Open, server: Server) -> None:
    """In a chat Esc stops, as the message box says, and the queue is kept; a list of offers is closed first."""
    page = open_page(server.create("talk"))
    say(page, "[NEXT: Slow, Bob] go")
    expect(page.locator("chat-composer .hint")).to_contain_text("Esc stops")
    page.locator("#composer").press_sequentially("/")
    page.keyboard.press("Escape")
    expect(page.locator("chat-composer .offers")).to_be_hidden()
    expect(page.locator("queue-bar .running")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("top-bar .status")).to_have_text("Paused")
    expect(page.locator("queue-bar .chip .grip")).to_have_text(["Bob"])
    expect(page.locator("queue-bar .resume")).to_be_visible()


def test_members_and_commands_are_completed(open_page: Open, server: Server) -> None:
    """@ offers members, / offers commands; arrows choose, Tab or Enter takes, Esc leaves."""
    page = open_page(server.create("talk"))
    box, offers = page.locator("#composer"), page.locator("chat-composer .offers [role=option]")
    box.press_sequentially("hi @c")
    expect(offers).to_have_count(1)
    box.press("Tab")
    expect(box).to_have_value("hi @Carol ")
    box.fill("")
    box.press_sequentially("/q")
    expect(offers.locator("b")).to_have_text(["/queue", "/queue skip", "/queue clear"])
    box.press("ArrowDown")
    expect(offers.nth(1)).to_have_attribute("aria-selected", "true")
    box.press("Escape")
    expect(offers).to_have_count(0)
    box.fill("")
    box.press_sequentially("/hel")
    box.press("Enter")
    expect(box).to_have_value("/help")
    box.press("Enter")
    expect(page.locator(".note.help")).to_contain_text("[NEXT: name] says who is next")


def test_what_is_refused_comes_back_with_the_reason(open_page: Open, server: Server) -> None:
    """Nothing that was typed is lost; the server's sentence stands at the composer."""
    page = open_page(server.create("talk"))
    say(page, "/nonsense")
    expect(page.locator("chat-composer .problem")).to_contain_text("Unknown command /nonsense")
    expect(page.locator("#composer")).to_have_value("/nonsense")
    say(page, "[NEXT: nobody] hi")
    expect(page.locator(".note.unresolved")).to_contain_text("Cannot resolve [NEXT:nobody]")
    say(page, "[NEXT: Broken] write")
    expect(page.locator(".note.agent_error")).to_contain_text("out of ink")


def test_shift_enter_breaks_the_line_and_an_input_method_keeps_its_enter(open_page: Open, server: Server) -> None:
    """Enter that ends a composition does not send."""
    page = open_page(server.create("talk"))
    box = page.locator("#composer")
    box.press_sequentially("one")
    box.press("Shift+Enter")
    box.press_sequentially("two")
    expect(box).to_have_value("one\ntwo")
    box.fill("")
    box.focus()
    cdp = page.context.new_cdp_session(page)
    cdp.send("Input.imeSetComposition", {"text": "nihao", "selectionStart": 5, "selectionEnd": 5})
    cdp.send(
        "Input.dispatchKeyEvent",
        {"type": "rawKeyDown", "key": "Process", "code": "Enter", "windowsVirtualKeyCode": 229},
    )
    cdp.send("Input.insertText", {"text": "你好"})
    expect(box).to_have_value("你好")
    expect(page.locator("article.message")).to_have_count(0)
    box.press("Enter")
    expect(page.locator("article.message.human .body")).to_have_text("你好")


def test_what_sends_can_be_chosen(open_page: Open, server: Server) -> None:
    """Ctrl+Enter sends if that is wanted, single letters can be off; both are remembered."""
    page = open_page(server.create("talk"))
    expect(page.locator("chat-log .blank")).to_contain_text("Say something")
    page.locator("session-list .gear").click()
    page.get_by_label("Ctrl+Enter sends").check()
    page.get_by_label("Single letters are keys").uncheck()
    page.keyboard.press("Escape")
    expect(page.locator("chat-composer .hint")).to_contain_text("Ctrl+Enter sends · Enter breaks the line")
    page.reload()
    box = page.locator("#composer")
    box.press_sequentially("one")
    box.press("Enter")
    box.press_sequentially("two")
    expect(box).to_have_value("one\ntwo")
    box.press("Control+Enter")
    expect(page.locator("article.message.human .body p")).to_have_text("one\ntwo")
    page.locator("chat-log .log").press("?")
    page.locator("chat-log .log").press("/")
    expect(page.locator("chat-log .log")).to_be_focused()
    expect(page.locator("help-dialog dialog")).to_be_hidden()


def test_who_addresses_nobody_is_told_how(open_page: Open, server: Server) -> None:
    """A message that names nobody is given to an AI with one click; messages show whom they are for."""
    page = open_page(server.create("talk"))
    say(page, "hello?")
    page.locator(".note.nobody_addressed").get_by_role("button", name="Carol").click()
    expect(page.get_by_text("Carol here.", exact=True)).to_be_visible()
    say(page, "@Bob hello")
    expect(page.locator("article.message.human .to").last).to_have_text("→ Bob")


def test_text_is_shown_while_it_is_written(open_page: Open, server: Server) -> None:
    """Pieces appear in place; the finished message has all of them, once."""
    page = open_page(server.create("stream"))
    say(page, "[NEXT: Poet] recite, and wait")
    writing = page.locator("article.writing .body")
    expect(writing).to_contain_text("word3 ")
    assert "word59" not in (writing.text_content() or "")
    card(page).get_by_role("button").first.click()
    expect(page.locator("article.message.ai:not(.writing) .body")).to_contain_text("word58 word59")
    expect(page.locator("article.message.ai")).to_have_count(1)


def test_a_thought_is_shown_folded_up_and_is_no_part_of_the_answer(open_page: Open, server: Server) -> None:
    """What a member thinks is there to see while it thinks, dim and in one line; then it is a step."""
    page = open_page(server.create("stream"))
    say(page, "[NEXT: Thinker] how many?")
    writing = page.locator("article.writing")
    thinking = writing.locator(".thinking")
    expect(thinking.locator(".newest")).to_have_text("Two and two, <b>then</b>")
    expect(writing.locator(".author")).to_have_text("thinking…")
    expect(thinking.locator("p")).to_be_hidden()
    thinking.locator("summary").click()
    expect(thinking.locator("p")).to_contain_text("Two numbers.")
    expect(writing.locator(".body")).to_have_text("")
    expect(page.locator("top-bar .status")).to_have_text("Needs your decision")
    page.locator("confirm-cards button").first.click()
    expect(page.locator("article.message.ai:not(.writing) .body")).to_have_text("Four.")


def test_the_conversation_follows_only_at_its_end(open_page: Open, server: Server) -> None:
    """Scrolled up, nothing jumps; a button says how much is new."""
    session_id = server.create("talk")
    for number in range(40):
        server.command(session_id, "user.message", content=f"line {number}")
    page = open_page(session_id)
    expect(page.locator("article.message").last).to_be_in_viewport()
    page.locator("chat-log .log").evaluate("log => { log.scrollTop = 0 }")
    server.command(session_id, "user.message", content="news")
    newer = page.locator("chat-log .newer")
    expect(newer).to_have_text("2 new")  # the message, and the notice that nobody was addressed
    expect(page.locator("article.message").first).to_be_in_viewport()
    newer.click()
    expect(page.get_by_text("news", exact=True)).to_be_in_viewport()
    expect(newer).to_be_hidden()


def test_sessions_are_found(open_page: Open, server: Server) -> None:
    """By title, team, id and last line."""
    kept, _ = server.create("talk", "Kept for later"), server.create("talk", "Persimmon")
    page = open_page(kept)
    page.get_by_role("searchbox").fill("persim")
    expect(page.locator("session-list li")).to_have_count(1)
    expect(page.locator("session-list li")).to_contain_text("Persimmon")


def test_files_come_with_a_message(open_page: Open, server: Server) -> None:
    """A chosen file goes with the next message and stands in it: a picture is shown, others can be saved."""
    session_id = server.create("talk")
    page = open_page(session_id)
    expect(page.locator("chat-log .blank")).to_contain_text("Say something")
    pixel = bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cf500f00038101803c"
        "1c6d0d0000000049454e44ae426082"
    )
    files: list[FilePayload] = [
        {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"buy herbs"},
        {"name": "dot.png", "mimeType": "image/png", "buffer": pixel},
    ]
    page.locator("chat-composer").get_by_label("Attach files").set_input_files(files)
    expect(page.locator("chat-composer .attached .chip:not(.busy)")).to_have_count(2)
    say(page, "look at these")
    message = page.locator("article.message.human")
    expect(message.get_by_role("button", name="notes.txt")).to_be_visible()
    expect(message.locator("img[alt='dot.png']")).to_be_visible()
    expect(page.locator("chat-composer .attached .chip")).to_have_count(0)
    with page.expect_download() as saved:
        message.get_by_role("button", name="notes.txt").click()
    assert saved.value.suggested_filename == "notes.txt"


def test_one_button_sends_and_stops(open_page: Open, server: Server) -> None:
    """While somebody writes and nothing is typed the button stops; what had been written stays, marked as stopped."""
    session_id = server.create("stream")
    page = open_page(session_id)
    say(page, "@Poet recite, and wait")
    expect(page.locator("article.writing .body")).not_to_be_empty()
    button = page.locator("chat-composer .send")
    expect(button).to_have_accessible_name("Stop")
    page.locator("#composer").fill("wait")
    expect(button).to_have_accessible_name("Send")
    page.locator("#composer").fill("")
    button.click()
    stopped = page.locator("article.message.partial")
    expect(stopped.locator(".pill")).to_have_text("Stopped")
    expect(stopped.locator(".body")).not_to_be_empty()


def test_a_new_message_moves_no_other(open_page: Open, server: Server) -> None:
    """In a session that is longer than what is shown, the oldest message leaves and the others are left alone."""
    session_id = server.create("talk")
    for number in range(160):
        server.command(session_id, "user.message", content=f"note {number}")
    page = open_page(session_id)
    expect(page.locator("article.message.human .body").last).to_have_text("note 159")
    page.evaluate(
        """() => {
          window.added = [];
          const look = new MutationObserver(all => all.forEach(each => window.added.push(...each.addedNodes)));
          look.observe(document.querySelector("chat-log .items"), {childList: true});
        }"""
    )
    say(page, "and one more")
    expect(page.locator("article.message.human:not(.unsent) .body").last).to_have_text("and one more")
    assert not page.evaluate("() => window.added.some(each => each.textContent.includes('note '))")
