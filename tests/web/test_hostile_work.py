"""The same strings in what members do, and in what people keep: names, roles, steps, files and their diffs, comments,
attachments, the file of the team, what is found, the trash."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from playwright.sync_api import FilePayload, Page, expect

from tests.runtime.workspaces.repositories import make_repository
from tests.web.conftest import Open
from tests.web.hostile import HOSTILE
from tests.web.server import Server
from tests.web.talking import say
from tests.web.test_hostile import check_harmless

MARKUP = [text for text in HOSTILE if "<" in text and "/" not in text and "\n" not in text][:8]
NAMES = [text[:80] for text in MARKUP]
FILES = {f"{text}.html": "\n".join(HOSTILE) + "\n" for text in MARKUP}
WATCH = """() => {
  window.broken = [];
  document.addEventListener("securitypolicyviolation", ({violatedDirective, blockedURI}) =>
    window.broken.push(`${violatedDirective} ${blockedURI}`));
}"""


def _team() -> dict[str, Any]:
    script = {"type": "script", "replies": [{"text": HOSTILE[1], "files": FILES}]}
    return {
        "moot": 1,
        "name": NAMES[0],
        "description": HOSTILE[2],
        "examples": HOSTILE[:3],
        "language": "en",
        "workspace": {"type": "worktree"},
        "members": [
            {"id": "you", "name": NAMES[1], "kind": "human"},
            {
                "id": "doer",
                "name": NAMES[2],
                "kind": "ai",
                "role": NAMES[3],
                "purpose": HOSTILE[4],
                "instructions": "\n\n".join(HOSTILE),
                "agent": {"type": "python", "call": "tests.web.hostile:act"},
            },
            {"id": "writer", "name": NAMES[4], "kind": "ai", "agent": script},
        ],
    }


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = make_repository(tmp_path_factory.mktemp("hostile") / "repository")
    team = folder / "team.yaml"
    team.write_text(yaml.safe_dump(_team(), allow_unicode=True))
    (folder / ".git" / "info" / "exclude").write_text("team.yaml\n")
    started = Server(tmp_path_factory.mktemp("data"), (str(team),))
    started.start()
    yield started
    started.close()


@pytest.fixture
def watched(open_page: Open, server: Server) -> Iterator[Page]:
    """A page that is told what its policy refuses. At the end nothing was run, fetched or refused."""
    page = open_page()
    asked: list[str] = []
    page.add_init_script(f"({WATCH})()")
    page.reload()
    page.on("request", lambda request: asked.append(request.url))
    yield page
    page.set_viewport_size({"width": 320, "height": 600})
    check_harmless(page, server, [url for url in asked if not url.startswith("blob:")])
    assert page.evaluate("() => window.broken") == []


def test_hostile_members_steps_and_files(watched: Page, server: Server) -> None:
    """On the screens of a team, in the steps of a turn, in Changes, in comments on lines, in names of attachments."""
    page = watched
    expect(page.locator("start-page .team .about").first).to_have_text(HOSTILE[2])
    page.locator("start-page .edit-team").first.click(force=True)
    expect(page.locator("team-editor input").first).to_have_value(NAMES[0])
    page.locator("team-editor [data-tab=text]").click()
    expect(page.locator("team-editor .cm-content")).to_contain_text("<script>")
    page.keyboard.press("Escape")
    files: list[FilePayload] = [
        {"name": name, "mimeType": "text/html", "buffer": f"<script>{name}</script>".encode()} for name in NAMES
    ]
    page.locator("start-page [type=file]").set_input_files(files)
    page.locator("#goal").fill(f"[NEXT: doer] {HOSTILE[1]}")
    page.locator("start-page .start").click()
    expect(page.locator("article.message.ai:not(.writing)")).to_have_count(1, timeout=60_000)
    expect(page.locator(".attachments .chip")).to_have_text(NAMES)
    page.locator("details.did summary").first.click()
    expect(page.locator(".step")).to_have_count(2 * len(HOSTILE))
    for opened in page.locator(".step summary").all()[:30]:
        opened.click()
    page.locator("#tab-team").click()
    expect(page.locator("team-panel b").nth(1)).to_have_text(NAMES[2])
    for opened in page.locator("team-panel summary").all():
        opened.click()
    say(page, "[NEXT: writer] write")
    page.locator("#tab-changes").click()
    panel = page.locator("changes-panel")
    expect(panel.locator(".path").first).to_be_visible()
    assert sorted(panel.locator(".path").all_text_contents()) == sorted(FILES)
    for file in panel.locator(".file").all():
        file.click()
        expect(panel.locator(".d-add", has_text="<script>").first).to_be_visible()
    panel.locator("button.no").first.click()
    panel.locator(".comment textarea").fill(HOSTILE[1])
    panel.locator("[name=keep]").click()
    expect(panel.locator(".comments li")).to_contain_text(HOSTILE[1])


def test_hostile_titles_found_and_removed(watched: Page, server: Server) -> None:
    """In what a search finds, and in the trash."""
    page = watched
    ids = [server.create(NAMES[0], text) for text in MARKUP]
    server.command(ids[0], "user.message", content=f"persimmon {HOSTILE[1]}")
    page.get_by_role("searchbox").fill("persimmon")
    expect(page.locator("session-list .said mark")).to_have_text("persimmon")
    page.get_by_role("searchbox").fill("")
    for session_id in ids[1:]:
        server.client.delete(f"/api/sessions/{session_id}").raise_for_status()
    page.locator("session-list .trash").click()
    expect(page.locator("session-list .name")).to_have_count(len(MARKUP) - 1)
    assert sorted(page.locator("session-list .name").all_text_contents()) == sorted(MARKUP[1:])
