"""The changes of a session on the page: files, diffs, comments, undoing and taking, on a real repository."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser, Page, Route, ViewportSize, expect

from tests.cli.command import MOOT
from tests.cli.serving import Serving, serving
from tests.runtime.workspaces.repositories import BOTH, CALC, MUL, SUB, chat_team, git, make_repository, plan_team
from tests.web.axe import PHONE, find_violations
from tests.web.node import needs_axe
from tests.web.talking import card, say

TASKS = [{"id": "mul", "title": "add mul"}, {"id": "sub", "title": "add sub"}]
RESOLVED = {"text": "both", "files": {"calc.py": BOTH}}
PLAN = {
    "mul": [{"text": "mul", "files": {"calc.py": MUL}}, RESOLVED],
    "sub": [{"text": "sub", "files": {"calc.py": SUB}}, RESOLVED],
}
REPLIES = [
    {"text": "1", "files": {"calc.py": MUL, ".hidden": "x\n"}},
    {"text": "2", "files": {"large.txt": "".join(f"line {number} of a long file\n" for number in range(6_000))}},
    {"text": "3", "files": {"calc.py": BOTH}},
    {"text": "thank you"},
    {"text": "5", "files": {"last.txt": "x\n"}},
]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo", {"calc.py": CALC})


def _serve(repository: Path, team: dict[str, object]) -> Iterator[Serving]:
    (repository / "team.yaml").write_text(yaml.safe_dump(team))
    (repository / ".git" / "info" / "exclude").write_text("team.yaml\n")
    folders = {name: str(repository.parent / name) for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
    subprocess.run(
        [*MOOT, "trust", "--yes", "team.yaml"],
        cwd=repository,
        env={**os.environ, **folders},
        check=True,
        capture_output=True,
    )
    with serving(repository.parent / "data", "team.yaml", cwd=repository, **folders) as server:
        yield server


@pytest.fixture
def chatting(repository: Path) -> Iterator[Serving]:
    yield from _serve(repository, chat_team(*REPLIES))


@pytest.fixture
def planning(repository: Path) -> Iterator[Serving]:
    yield from _serve(
        repository, plan_team(TASKS, PLAN, workspace={"check": [["python3", "-m", "py_compile", "calc.py"]]})
    )


@pytest.fixture
def look(browser: Browser) -> Iterator[Page]:
    """A page that must have no error."""
    errors: list[str] = []
    context = browser.new_context(locale="en-US", viewport={"width": 1500, "height": 900})
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert errors == []


def _open(page: Page, server: Serving, session_id: str) -> None:
    page.goto(f"{server.base}/s/{session_id}#token={server.token}")
    expect(page.locator("top-bar .link")).to_be_visible()


def test_a_plan_from_a_conflict_to_one_s_own_files(look: Page, planning: Serving, repository: Path) -> None:
    """Two tasks edit one file: the board shows trees and checks, Changes the whole and a part; applying writes it."""
    _open(look, planning, planning.create())
    say(look, "extend the calculator")
    expect(look.locator("chat-log")).to_contain_text("conflicts with work that is already merged, in calc.py")
    expect(card(look)).to_contain_text("What is to become of it?")
    expect(look.locator("task-board")).to_contain_text("merged · checks: ✓ python3 -m py_compile calc.py")
    desk: ViewportSize = {"width": 1500, "height": 900}
    for size in (PHONE, desk):
        look.set_viewport_size(size)
        look.get_by_role("button", name="See the changes").click()
        expect(look.locator("changes-panel .file")).to_be_visible()
        look.locator("pane-tabs button").nth(1).evaluate("button => button.click()")
    panel = look.locator("changes-panel")
    expect(panel.locator(".file")).to_have_text(["Mcalc.py+8−0"], use_inner_text=False)
    panel.get_by_label("Changes of").select_option(label="add mul")
    expect(panel.locator(".file .plus")).to_have_text("+4")
    panel.get_by_label("Changes of").select_option(label="All of the work")
    panel.locator(".file").click()
    expect(panel.locator(".d-add")).to_have_count(8)
    expect(panel.locator(".d-add .hl-keyword").first).to_have_text("def")
    panel.get_by_role("button", name="Side by side").click()
    expect(panel.locator(".split .void")).to_have_count(8)
    panel.get_by_role("button", name="Write into my files").click()
    expect(panel.locator(".taken")).to_have_text("in your files")
    expect(look.locator("confirm-cards .card")).to_have_count(0)
    assert (repository / "calc.py").read_text() == BOTH
    panel.get_by_label("Changes of").select_option(label="add mul")
    expect(panel.get_by_role("button", name="Undo")).to_have_count(1)
    say(look, "Write a manual")
    expect(card(look)).to_contain_text("What the planner returned cannot be run")
    expect(panel.get_by_role("button", name="Undo")).to_have_count(0)  # that task is none of the new plan
    expect(panel.locator(".file .plus")).to_have_text("+8")


def test_turns_are_looked_at_commented_undone_and_taken(look: Page, chatting: Serving, repository: Path) -> None:
    """Each turn has its own diff; long ones come in pages; collected comments go together; later work is taken, too."""
    session_id = chatting.create()
    for number in range(1, 4):
        chatting.say(session_id, f"[NEXT: bob] {number}")
        chatting.has(session_id, "workspace.changed", number)
        chatting.has(session_id, "session.paused", number)
    _open(look, chatting, session_id)
    look.locator("#tab-changes").click()
    panel, of = look.locator("changes-panel"), look.get_by_label("Changes of")
    expect(panel.locator(".path")).to_have_text([".hidden", "calc.py", "large.txt"])
    of.select_option("turn t2")
    expect(panel.locator(".path")).to_have_text(["large.txt"])
    panel.locator(".file").click()
    expect(panel.locator(".d-add").first).to_contain_text("line 0")
    expect(panel.get_by_role("button", name="Side by side")).to_have_count(0)  # nothing was there before
    panel.get_by_role("button", name="Show more").click()
    expect(panel.locator(".d-add").last).to_contain_text("line 5999")
    of.select_option("turn t3")
    panel.locator(".file").click()
    panel.get_by_label("Comment on line 10", exact=True).click()
    panel.get_by_label("What should be different here?").fill("why sub?")
    panel.get_by_role("button", name="Collect").click()
    expect(panel.locator(".comments")).to_contain_text("calc.py:10")
    panel.get_by_role("button", name="Send all").click()
    expect(look.locator("chat-log")).to_contain_text("why sub?")
    expect(look.locator("chat-log")).to_contain_text("thank you")
    expect(panel.locator(".comments")).to_have_count(0)
    panel.get_by_role("button", name="Undo").click()
    look.locator("toast-stack").get_by_role("button", name="Undo").click()
    chatting.has(session_id, "workspace.reverted")
    of.select_option("")
    panel.get_by_role("button", name="Merge").click()
    expect(panel.locator(".taken")).to_have_text("in your branch")
    assert (repository / "calc.py").read_text() == MUL
    chatting.say(session_id, "[NEXT: bob] 5")
    expect(panel.locator(".taken")).to_have_count(0)
    panel.get_by_role("button", name="Merge").click()
    expect(panel.locator(".taken")).to_have_text("in your branch")
    assert git(repository, "ls-files").split() == [".hidden", "calc.py", "large.txt", "last.txt"]


def test_a_diff_that_is_asked_for_twice_is_shown_once(look: Page, planning: Serving) -> None:
    """A file that is opened while the list of files comes is asked for again with the list: its lines stand once."""
    session_id = planning.create()
    planning.say(session_id, "extend the calculator")
    planning.has(session_id, "session.paused")
    _open(look, planning, session_id)
    look.locator("#tab-changes").click()
    panel, of, held = look.locator("changes-panel"), look.get_by_label("Changes of"), list[Route]()
    expect(panel.locator(".file")).to_be_visible()
    of.select_option(label="add mul")
    expect(panel.locator(".file .plus")).to_have_text("+4")

    def hold(route: Route) -> None:
        held.append(route)

    look.route(re.compile(r"/(changes|diff)\?"), hold)
    with look.expect_request(re.compile(r"/changes\?")):
        of.select_option(label="All of the work")
    with look.expect_request(re.compile(r"/diff\?")):
        panel.locator(".file").click()
    with look.expect_request(re.compile(r"/diff\?")):
        held.pop(0).continue_()
    for route in held:
        route.continue_()
    expect(panel.locator(".file .plus")).to_have_text("+8")
    expect(panel.locator(".d-add")).to_have_count(8)


@needs_axe
@pytest.mark.parametrize("language", ["en", "zh"])
def test_axe_finds_nothing_in_changes(look: Page, planning: Serving, language: str) -> None:
    """0 violations: files, a diff in both looks, a comment being written, one that was collected; on a phone, too."""
    session_id = planning.create()
    planning.say(session_id, "extend the calculator")
    planning.has(session_id, "session.paused")
    look.goto(f"{planning.base}/s/{session_id}?lang={language}#token={planning.token}")
    look.locator("#tab-changes").click()
    panel = look.locator("changes-panel")
    panel.locator(".file").click()
    for name in ("keep", "send"):
        panel.locator("button.no").last.click()
        panel.locator(".comment textarea").fill("Why?")
        if name == "keep":
            panel.locator("[name=keep]").click()
            expect(panel.locator(".comments li")).to_have_count(1)
    violations = find_violations(look, "changes")
    look.set_viewport_size(PHONE)
    look.locator("pane-tabs button").nth(2).click()
    lines = panel.locator(".lines")
    assert lines.evaluate("each => each.scrollWidth <= each.clientWidth")  # long ones are folded
    violations += find_violations(look, "changes on a phone")
    panel.locator(".how button").click()
    violations += find_violations(look, "side by side on a phone")
    assert not violations, "\n".join(violations)
