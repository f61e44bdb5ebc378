"""The file of a team on the page: a form, the text with its problems, what is different; saved, it is inert."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.web.axe import PHONE, find_violations
from tests.web.conftest import Open
from tests.web.node import needs_axe
from tests.web.server import TEAMS, Server


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copy(TEAMS / "chat.yaml", tmp_path_factory.mktemp("project")))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, file: Path) -> Iterator[Server]:
    started = Server(tmp_path_factory.mktemp("editor"), (str(file), "plan-demo"))
    started.start()
    yield started
    started.close()


def test_a_team_file_is_edited(open_page: Open, server: Server, file: Path) -> None:
    """The form changes values in the text and leaves the rest; a problem is told at its line and not saved; what is
    saved is in the file, and the page says how to confirm it. A built-in team has no file to edit."""
    before = file.read_text(encoding="utf-8")
    page = open_page(ignore="422")
    expect(page.locator("start-page .edit-team")).to_have_count(1)
    page.locator("start-page li", has_text="talk").hover()
    page.locator("start-page .edit-team").click()
    editor = page.locator("team-editor")
    about = editor.get_by_label("What it is for")
    about.fill("Two who talk: about anything.")
    about.press("Tab")
    expect(editor.locator(".save")).to_be_enabled()
    editor.locator("[data-tab=changes]").click()
    expect(editor.locator(".cm-insertedLine")).to_contain_text("Two who talk: about anything.")
    editor.locator("[data-tab=text]").click()
    editor.locator(".cm-content").click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("nonsense: 1\n")
    expect(editor.locator(".problems")).to_contain_text("nonsense")
    expect(editor.locator(".save")).to_be_disabled()
    for key in ("Control+Home", "Shift+ArrowDown", "Delete"):
        page.keyboard.press(key)
    expect(editor.locator(".problems")).to_have_count(0)
    editor.locator(".save").click()
    expect(editor.locator(".saved")).to_contain_text(f"moot trust add {file.parent}")
    after = file.read_text(encoding="utf-8")
    assert 'description: "Two who talk: about anything."' in after
    kept = [line for line in before.splitlines() if not line.startswith("description:")]
    assert [line for line in after.splitlines() if not line.startswith("description:")] == kept
    teams = server.client.get("/api/teams").json()
    assert [team["description"] for team in teams if team["name"] == "talk"] == [""]


def test_what_is_not_saved_is_not_lost_by_a_key(open_page: Open) -> None:
    """Esc asks once; the form stays. From the team's tab of a session, too."""
    page = open_page()
    page.locator("start-page .team", has_text="talk").click()
    page.locator("#goal").fill("Hello.")
    page.locator("#goal").press("Enter")
    page.locator("#tab-team").click()
    page.locator("team-panel .edit-file").click()
    editor = page.locator("team-editor")
    name = editor.get_by_label("Role").first
    name.fill("chair")
    name.press("Tab")
    page.keyboard.press("Escape")
    expect(editor.locator(".problem")).to_contain_text("not saved")
    expect(editor.get_by_role("dialog")).to_be_visible()
    editor.get_by_role("button", name="Close").click()
    expect(editor.get_by_role("dialog")).to_be_hidden()


@needs_axe
@pytest.mark.parametrize("language", ["en", "zh"])
def test_axe_finds_nothing_in_the_editor(open_page: Open, language: str) -> None:
    """0 violations: the form, the text with a problem, what is different; on a phone, too."""
    page = open_page(query=f"?lang={language}", ignore="inline style")
    page.locator("start-page .edit-team").click(force=True)
    editor = page.locator("team-editor")
    editor.locator("textarea").first.fill("For everything.")
    editor.locator("textarea").first.press("Tab")
    violations: list[str] = []
    for size in (None, PHONE):
        if size:
            page.set_viewport_size(size)
        for tab in ("form", "text", "changes"):
            editor.locator(f"[data-tab={tab}]").click()
            if tab == "text" and not size:
                editor.locator(".cm-content").click()
                page.keyboard.press("Control+Home")
                page.keyboard.type("nonsense: 1\n")
                expect(editor.locator(".problems")).to_contain_text("nonsense")
            violations += find_violations(page, f"{tab}, {size}")
    assert not violations, "\n".join(violations)
