"""The plan flow in the browser: edit, approve, progress, retry, cancel, decisions, interruptions."""

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.web.conftest import Open
from tests.web.server import Server
from tests.web.talking import card, column, say


def wait_for(page: Page, row: Any, title: str) -> None:
    """A task of the editor begins after another one."""
    row.get_by_role("button", name="after…").click()
    page.locator(".menu").get_by_role("menuitem", name=title).click()


def plan(page: Page, text: str = "Make a booklet about the harbour") -> None:
    say(page, text)
    expect(card(page).locator(".tasks li").first).to_be_visible()


def test_a_plan_is_edited_approved_and_done(open_page: Open, server: Server) -> None:
    """Edit, approve, watch progress and a retry; what was approved is what runs."""
    session_id = server.create("work")
    page = open_page(session_id)
    plan(page)
    expect(page.get_by_text("Gather, draw, write.")).to_have_count(1)
    expect(card(page).locator(".left")).to_have_text(re.compile(r"4:\d\d left · then: Reject"))
    page.get_by_role("button", name="Edit…").click()
    editor = page.locator("plan-editor dialog")
    rows, approve = editor.locator(".row"), editor.locator(".approve")
    expect(approve).to_have_text("Approve 3 tasks")
    rows.nth(0).get_by_label("Title").fill("Gather facts, quickly")
    expect(approve).to_have_text("Approve 3 tasks (1 changed)")
    rows.nth(1).get_by_role("button", name="Move up").click()
    expect(rows.nth(0).get_by_label("Title")).to_have_value("Draw pictures")
    editor.get_by_role("button", name="Add a task").click()
    expect(editor.locator(".row .problems")).to_contain_text(["A title is missing"])
    expect(approve).to_be_disabled()
    rows.nth(3).get_by_label("Title").fill("Check it")
    wait_for(page, rows.nth(3), "Write it up")
    expect(approve).to_have_text("Approve 4 tasks (3 changed)")
    rows.nth(0).get_by_role("button", name="after…").click()
    expect(page.get_by_role("menuitem")).to_have_text(["Gather facts, quickly"])  # the others wait for it
    page.keyboard.press("Escape")
    approve.click()
    expect(editor).to_be_hidden()
    page.get_by_role("tab", name="Work").click()
    expect(column(page, "done").locator(".task b")).to_have_count(4)
    expect(page.locator("article.message", has_text="All of it on one page.")).to_be_visible()
    approved = next(each for each in server.events(session_id) if each["event"] == "workflow.plan_approved")
    assert [task["title"] for task in approved["metadata"]["tasks"]] == [
        *("Draw pictures", "Gather facts, quickly", "Write it up", "Check it"),
    ]
    page.get_by_role("tab", name="Trace").click()
    expect(page.locator("time-line .row.errors .what")).to_contain_text(["1/3 · Draw pictures"])


def test_a_retry_and_a_cancelled_task_are_told(open_page: Open, server: Server) -> None:
    """Progress, attempts, cancel; a question about what depends on it."""
    session_id = server.create("work")
    tasks = [{"id": "draw", "title": "Draw pictures"}, {"id": "long", "title": "Wait for rain"}]
    later = {"id": "write", "title": "Write it up", "depends_on": ["draw", "long"]}
    server.command(session_id, "user.solve_tasks", tasks=[*tasks, later])
    page = open_page(session_id)
    page.get_by_role("tab", name="Work").click()
    expect(page.locator(".note.task_failed")).to_contain_text("Draw pictures: took too long: the pen was slow")
    expect(page.locator(".note.task_retried")).to_contain_text("Retry 1/3: Draw pictures")
    expect(page.locator(".note.task_done summary")).to_contain_text("Draw pictures · BenTwo pictures.")
    page.locator("task-board [data-task=write] .more").click()
    page.get_by_role("menuitem", name="Cancel").click()
    expect(page.locator("task-board [data-task=write]")).to_have_attribute("data-state", "CANCELLED")
    expect(column(page, "failed").locator(".task b")).to_have_text("Write it up")


def test_a_task_is_given_to_another(open_page: Open, server: Server) -> None:
    """Reassign on a card; what the other one brings counts."""
    session_id = server.create("work")
    server.command(session_id, "user.solve_tasks", tasks=[{"id": "long", "title": "Wait for rain"}])
    page = open_page(session_id)
    page.get_by_role("tab", name="Work").click()
    task = page.locator("task-board [data-task=long]")
    expect(task).to_have_attribute("data-state", "RUNNING")
    expect(page.locator("task-board .overall progress")).to_have_attribute("value", "0")
    task.locator(".more").click()
    expect(page.get_by_role("menuitem")).to_have_text(["Give it to Eve", "Cancel"])  # Ben has it already
    page.get_by_role("menuitem", name="Give it to Eve").click()
    expect(page.locator(".note.task_done summary")).to_contain_text("Wait for rain · EveDrawn by Eve.")
    expect(task.locator(".more")).to_be_hidden()


def test_work_that_is_sent_back_is_told(open_page: Open, server: Server) -> None:
    """Who sends back what and why, in the conversation, where only what was accepted is done; the timeline speaks the
    reader's language, not codes."""
    session_id = server.create("checked")
    server.command(session_id, "user.solve_tasks", tasks=[{"id": "page", "title": "Write a page"}])
    page = open_page(session_id)
    expect(page.locator(".note.task_sent_back")).to_contain_text("Iris sends back: Write a page · one word too many")
    expect(page.locator(".note.pipeline\\.complete")).to_be_visible()
    results = page.locator(".note.result")
    expect(results.locator("summary b")).to_have_text(["Write a page · Ben", "✓ Write a page · Ben"])
    expect(results.first).to_have_attribute("data-tone", "plain")
    expect(results.last).to_have_attribute("data-tone", "good")
    page.get_by_role("tab", name="Trace").click()
    what = page.locator("time-line .row .what")
    expect(what.filter(has_text="sent back: Write a page · one word too many")).to_have_count(1)
    expect(what.filter(has_text="attempt 2 · Write a page")).to_have_count(1)
    expect(what.filter(has_text="under way → done")).to_have_count(1)
    expect(what.filter(has_text=re.compile(r"_|#1|[A-Z]{4}"))).to_have_count(0)
    page.locator("time-line .row", has_text="under way → done").click()
    expect(page.locator("time-line .details dl")).to_contain_text("EXECUTION")
    page.locator("session-list .gear").click()
    page.get_by_role("button", name="中文").click()
    expect(page.locator(".note.task_sent_back")).to_contain_text("Iris 退回：Write a page · one word too many")
    expect(what.filter(has_text="执行中 → 已完成")).to_have_count(1)


def test_a_failure_asks_and_an_interruption_asks(open_page: Open, server: Server) -> None:
    """A decision after a failure; Esc leaves its card, then pauses the work, then stops what does not end by itself;
    another goal while work runs asks what to do with it."""
    page = open_page(server.create("failing"))
    plan(page)
    page.get_by_role("button", name="Approve 2 tasks").click()
    expect(card(page).locator(".what")).to_contain_text("Ask the oracle")
    expect(card(page).locator("button")).to_have_text(
        ["Try again", "Go on without it", "Give it to another member", "Plan again", "Stop the work"]
    )
    page.locator("[data-view=board]").click()
    expect(page.locator("task-board .who .name")).to_have_text(["Ben", "Ben"])  # both slots of one member
    card(page).locator("button").first.press("Escape")
    expect(page.locator("#composer")).to_be_focused()
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Resume", exact=True).click()
    expect(page.locator("queue-bar .running")).to_be_visible()
    page.get_by_role("button", name="Go on without it").click()
    expect(page.locator(".note.answer")).to_contain_text(["Approve", "Go on without it"])
    expect(page.locator(".plan-block [data-column=skipped]")).to_contain_text("Ask the oracle")
    page.keyboard.press("Escape")
    expect(page.locator("queue-bar .halt")).to_have_text("Pausing…")
    page.keyboard.press("Escape")
    expect(page.locator("queue-bar .halt")).to_have_text("Paused")
    page.get_by_role("button", name="Resume", exact=True).click()
    expect(page.locator("queue-bar .running")).to_be_visible()
    say(page, "Forget that, write me a poem about cats instead")
    expect(card(page).locator("button").first).to_be_visible()
    page.get_by_role("tab", name="Trace").click()
    expect(page.locator("time-line .row.semantic .what")).to_contain_text(["a new task"])
    page.get_by_role("button", name="Close the current work and start this").click()
    expect(card(page).locator(".tasks b")).to_have_text(["Ask somebody else"])


def test_a_plan_is_rejected_or_planned_again(open_page: Open, server: Server) -> None:
    """Reject says what it does; feedback plans again."""
    page = open_page(server.create("failing"))
    plan(page)
    expect(page.locator(".note.trace .count").first).to_have_text("4 steps")  # as they come
    page.get_by_role("button", name="Reject…").click()
    page.get_by_label("What should be different?").fill("ask somebody else")
    page.get_by_role("button", name="Plan again").click()
    expect(card(page).locator(".tasks b")).to_have_text(["Ask somebody else"])
    page.get_by_role("button", name="Reject…").click()
    page.get_by_role("button", name="Reject the plan").click()
    expect(page.locator(".note.mark")).to_contain_text(["The plan was rejected"])


def test_a_draft_of_a_plan_outlives_a_reload(open_page: Open, server: Server) -> None:
    """The draft is kept by step; another's answer is shown in its place."""
    session_id = server.create("work")
    page = open_page(session_id)
    plan(page)
    page.get_by_role("button", name="Edit…").click()
    page.locator("plan-editor .row").nth(2).get_by_role("button", name="Remove the task").click()
    expect(page.locator("plan-editor .removed")).to_contain_text("Write it up")
    page.reload()
    page.get_by_role("button", name="Edit…").click()
    expect(page.locator("plan-editor .approve")).to_have_text("Approve 2 tasks (1 changed)")
    question = next(each for each in server.events(session_id) if each["event"] == "agent.user_confirm")
    server.command(session_id, "user.response", step_id=question["step_id"], confirmed=False)
    expect(page.locator(".note.answer")).to_contain_text("Alice: Reject")


def test_the_whole_flow_by_keyboard(open_page: Open, server: Server) -> None:
    """Plan, edit, approve and read the result without a mouse."""
    page = open_page(server.create("work"))
    expect(page.locator("#composer")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("Make a booklet")
    page.keyboard.press("Enter")
    expect(card(page).locator(".tasks li")).to_have_count(3)
    page.keyboard.press("Shift+F6")
    expect(page.get_by_role("button", name="Approve 3 tasks")).to_be_focused()
    page.keyboard.press("e")
    editor = page.locator("plan-editor dialog")
    expect(editor).to_be_visible()
    expect(editor.locator(".row .title").first).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.type(" by hand")
    page.keyboard.press("Enter")
    expect(editor).to_be_hidden()
    expect(page.locator("article.message", has_text="All of it")).to_be_visible()
    expect(page.locator(".note.task_done summary b")).to_contain_text(["Gather facts by hand"])
    page.keyboard.press("F6")
    page.keyboard.press("Control+k")
    page.keyboard.type("replay")
    page.keyboard.press("Enter")
    expect(page.locator("replay-bar")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("replay-bar")).to_be_hidden()


def test_machines_are_lit_where_they_stand(open_page: Open, server: Server) -> None:
    """Drawn from the real tables; the current state is filled and named in text too."""
    page = open_page(server.create("work"))
    plan(page)
    page.get_by_role("tab", name="Debug").click()
    expect(page.locator("state-map .node.current")).to_have_attribute("data-state", "WAIT_USER_DECISION")
    expect(page.locator("state-map .now")).to_contain_text("waiting for a decision · WAIT_USER_DECISION")
    expect(page.locator("state-map .node.current title")).to_have_text("waiting for a decision")
    expect(page.locator("state-map .edge.last")).to_have_count(1)
    page.get_by_label("State machine").select_option(label="Connection")
    expect(page.locator("state-map .node.current")).to_have_attribute("data-state", "CONNECTED")
    expect(page.locator("state-map .now")).to_contain_text("connected · CONNECTED")
    current = page.locator("state-map .node.current")
    page.get_by_label("State machine").select_option(label="Input")
    expect(current).to_have_attribute("data-state", "PLAN_LOOP")
    page.get_by_role("button", name="Replay").click()
    page.get_by_label("Event", exact=True).fill("3")
    expect(current).to_have_attribute("data-state", "SEMANTIC_UNDERSTANDING")
    page.get_by_label("State machine").select_option(label="Interruption")
    expect(current).to_have_attribute("data-state", "EXECUTION")


def test_a_graph_of_ten_tasks_fits_its_panel(open_page: Open, server: Server) -> None:
    """Where many stand side by side, the nodes get narrower: nothing is scrolled sideways or runs out of its node."""
    session_id = server.create("work")
    page = open_page(session_id)
    roots: dict[str, list[str]] = {f"first {at}": [] for at in range(4)}
    after = roots | {
        "copy": ["first 0", "first 1"],
        "press": ["first 1"],
        "hero": ["first 2"],
        "mail": ["copy", "press"],
        "posts": ["press", "hero"],
        "go": ["mail", "posts", "first 3"],
    }
    tasks = [
        {"id": name, "title": f"Write {name} for the day of the launch", "objective": "x", "depends_on": others}
        for name, others in after.items()
    ]
    server.command(session_id, "user.solve_tasks", tasks=tasks)
    page.locator("[data-view=graph]").click()
    graph = page.locator("task-board plan-graph")
    expect(graph.locator(".node")).to_have_count(10)
    assert graph.evaluate("graph => graph.scrollWidth <= graph.clientWidth")
    drawn = graph.locator("svg")
    assert drawn.evaluate("svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width") >= 0.75
    widths = "node => [...node.querySelectorAll('rect, text')].map((part) => part.getBBox().width)"
    for room, *texts in drawn.locator(".node").evaluate_all(f"nodes => nodes.map({widths})"):
        assert max(texts) < room - 12


def test_two_tasks_of_one_title(open_page: Open, server: Server) -> None:
    """Tasks are told apart by their id: the page goes on, with an entry for each in the tab of states."""
    session_id = server.create("work")
    page = open_page(session_id)
    page.locator("#tab-state").click()
    tasks = [{"id": name, "title": "Same", "objective": "x"} for name in ("a", "b")]
    server.command(session_id, "user.solve_tasks", tasks=tasks)
    options = page.locator("state-map option", has_text="Same")
    expect(options).to_have_count(2)
    values = options.evaluate_all("(all) => all.map((option) => option.value)")
    assert len(set(values)) == 2
    server.command(session_id, "user.rename", title="Still alive")
    expect(page).to_have_title(re.compile("Still alive"))
    page.locator("#tab-tasks").click()
    expect(page.locator("task-board [data-task]")).to_have_count(2)
    page.locator("[data-view=time]").click()
    expect(page.locator("plan-time .label")).to_have_text(["Same", "Same"])


def test_what_a_task_writes_is_seen_while_it_is_written(open_page: Open, server: Server) -> None:
    """Tasks that run side by side show their text as Markdown, each on its own card, and no more once they are done."""
    page = open_page(server.create("live"))
    say(page, "two poems, please")
    card(page).locator("[data-key=a]").click()
    page.locator("[data-view=board]").click()
    for task in ("poem", "song"):
        live = page.locator(f"task-board [data-task={task}] .live")
        expect(live.locator(".heading")).to_have_text("A poem")
        expect(live.locator("strong")).to_have_text("first")
    for left in (2, 1):
        card(page, left).get_by_role("button", name="Allow").click()
    expect(page.locator("task-board .done .task")).to_have_count(2)
    expect(page.locator("task-board .live:visible")).to_have_count(0)
