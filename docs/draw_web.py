"""`make pictures`: starts a server with the built-in teams, uses the page, and takes a picture of every screen.

All, in both themes and languages, go to build/pictures; those that the pages of docs/ show are copied there.
Needs Chromium; fonts for Chinese make the pictures complete (Debian: fonts-noto-cjk).
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

FOLDER = Path(__file__).parent
PICTURES = FOLDER.parent / "build" / "pictures"
SHOWN = {  # those on the pages of docs/
    "chat-light-en": "web-chat.png",
    "editor-light-en": "web-editor.png",
    "deliverable-dark-zh": "web-dark-zh.png",
    "phone-plan-light-en": "web-narrow.png",
}
LOCALES = {"en": "en_US.UTF-8", "zh": "zh_CN.UTF-8"}
TOKEN = "token-for-pictures"  # noqa: S105 - of a server that lives for a minute
BUILT_IN = ("chat-demo", "content-studio-demo", "plan-demo")
IDENTITY = ("-c", "user.name=You", "-c", "user.email=you@example.org", "-c", "init.defaultBranch=main")
WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
SWITCHES = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
SAID = {
    "en": (
        "The library opens on Sundays from May. Can you three write the poster?",
        "Prepare the reading night on 12 June.",
        "A post about growing herbs on a balcony, with two pictures.",
        "Add a discount and a tax to shop.py, each with a test.",
    ),
    "zh": (
        "图书馆五月起周日开放。你们三个能写一张海报吗？",
        "请准备 6 月 12 日的阅读之夜。",
        "写一篇在阳台上种香草的帖子，配两张图。",
        "给 shop.py 加上折扣和税，各带一个测试。",
    ),
}
RETITLED = {"en": "Find four people who read", "zh": "找四位朗读者"}
COMMENT = {"en": "Round to whole cents.", "zh": "请四舍五入到分。"}
ABOUT = {"en": "Two who write, one who plans.", "zh": "两个写，一个规划。"}
expect.set_options(timeout=30_000)


class Camera:
    """Takes pictures of one browser window, in one theme and language."""

    def __init__(self, browser: Browser, url: str, theme: str, language: str) -> None:
        self.browser, self.url, self.theme, self.language = browser, url, theme, language

    @contextmanager
    def open(self, path: str = "/", **options: Any) -> Iterator[Page]:
        settings = {
            "viewport": WIDE,
            "locale": "zh-CN" if self.language == "zh" else "en-US",
            "color_scheme": self.theme,
        }
        context = self.browser.new_context(**{**settings, **options})
        page = context.new_page()
        page.goto(f"{self.url}{path}#token={TOKEN}")
        expect(page.locator("top-bar .link")).to_be_visible()
        yield page
        context.close()

    def take(self, page: Page, name: str) -> None:
        page.mouse.move(0, 0)  # nothing is pointed at
        name = f"{name}-{self.theme}-{self.language}"
        page.screenshot(path=PICTURES / f"{name}.png")
        if name in SHOWN:
            shutil.copy(PICTURES / f"{name}.png", FOLDER / SHOWN[name])


def start(page: Page, team: str, text: str) -> str:
    """Begin a session at home, as people do; return its path."""
    page.locator("session-list .new").click()
    page.locator("start-page .team", has_text=team).click()
    page.locator("#goal").fill(text)
    page.locator("start-page .start").click()
    expect(page.locator("article.message.human").first).to_be_visible()
    return re.sub(r"https?://[^/]+", "", page.url)


def draw_chat(camera: Camera) -> None:
    with camera.open() as page:
        expect(page.locator("start-page .team").first).to_be_visible()
        camera.take(page, "home-new")
        start(page, "chat-demo", SAID[camera.language][0])
        expect(page.locator("article.message.ai:not(.writing)").nth(5)).to_be_visible(timeout=20_000)
        camera.take(page, "chat")
        page.locator("details.did summary").first.click()
        page.locator("#tab-team").click()
        expect(page.locator("team-panel .members li").first).to_be_visible()
        camera.take(page, "chat-team")
        page.locator("session-list .gear").click()
        expect(page.locator("settings-dialog .logins li").first).to_be_visible()
        camera.take(page, "settings")
        page.keyboard.press("Escape")
        page.locator("top-bar .share").click()
        expect(page.locator("share-dialog .logins li").first).to_be_visible()
        camera.take(page, "share")
        page.keyboard.press("Escape")
        page.locator("#tab-state").click()
        expect(page.locator("state-map svg")).to_be_visible()
        camera.take(page, "debug")
        page.locator("#tab-timeline").click()
        page.goto(f"{camera.url}/?demo=plan")
        expect(page.locator("confirm-cards .card.plan")).to_be_visible(timeout=60_000)
        camera.take(page, "demo")
        page.locator("demo-bar .end").click()
        page.locator("confirm-cards [data-key=r]").click()  # else it is in the inbox of the next pictures
        page.locator("confirm-cards .danger").click()
        expect(page.locator("confirm-cards .card")).to_have_count(0)


def draw_plan(camera: Camera) -> None:
    with camera.open() as page:
        path = start(page, "plan-demo", SAID[camera.language][1])
        expect(page.locator("confirm-cards .card.plan")).to_be_visible(timeout=20_000)
        expect(page.locator("plan-graph .node").first).to_be_visible()
        camera.take(page, "plan")
        page.locator("confirm-cards [data-key=e]").click()
        page.locator("plan-editor .row .title").first.fill(RETITLED[camera.language])
        camera.take(page, "editor")
        page.keyboard.press("Escape")
        page.goto(f"{camera.url}/")
        expect(page.locator("start-page .inbox li").first).to_be_visible()
        camera.take(page, "home")
        with camera.open("/", viewport=NARROW, has_touch=True, is_mobile=True) as phone:
            expect(phone.locator("session-list .inbox .primary").first).to_be_visible()
            camera.take(phone, "phone-inbox")
            phone.locator("session-list .new").click()
            camera.take(phone, "phone-home")
        with camera.open(path, viewport=NARROW, has_touch=True, is_mobile=True) as phone:
            expect(phone.locator("confirm-cards .card.plan")).to_be_visible()
            camera.take(phone, "phone-plan")
            phone.locator("confirm-cards .primary").first.click()
            phone.locator("pane-tabs button").nth(2).click()
            expect(phone.locator("task-board .task").first).to_be_visible()
            camera.take(phone, "phone-work")
        page.goto(f"{camera.url}{path}")
        expect(page.locator("task-board .running .task, task-board .done .task").first).to_be_visible(timeout=20_000)
        camera.take(page, "running")
        expect(page.locator(".note.pipeline\\.complete")).to_be_visible(timeout=40_000)
        page.locator("[data-view=time]").click()
        camera.take(page, "done")
        page.locator("#tab-timeline").click()
        camera.take(page, "trace")


def draw_studio(camera: Camera) -> None:
    with camera.open() as page:
        start(page, "content-studio", SAID[camera.language][2])
        page.locator("confirm-cards button").first.click(timeout=20_000)
        expect(page.locator(".deliverable")).to_be_visible(timeout=40_000)
        page.locator(".deliverable").evaluate("each => each.scrollIntoView({block: 'start'})")
        camera.take(page, "deliverable")


def draw_failure(camera: Camera) -> None:
    with camera.open() as page:
        start(page, "failing", SAID[camera.language][1])
        page.locator("confirm-cards [data-key=a]").click(timeout=20_000)
        expect(page.locator("confirm-cards .card:not(.plan)")).to_be_visible(timeout=40_000)
        page.locator("#tab-tasks").click()
        camera.take(page, "failure")
        page.locator("confirm-cards .danger").click()  # a task that hangs would keep a place
        expect(page.locator("confirm-cards .card")).to_have_count(0)


def draw_changes(camera: Camera) -> None:
    with camera.open() as page:
        start(page, "shop-coders", SAID[camera.language][3])
        page.locator("confirm-cards [data-key=a]").click(timeout=20_000)
        expect(page.locator(".note.pipeline\\.complete")).to_be_visible(timeout=60_000)
        page.locator("#tab-changes").click()
        page.locator("changes-panel .file").first.click()
        page.locator("changes-panel button.no").nth(3).click()
        page.locator("changes-panel .comment textarea").fill(COMMENT[camera.language])
        expect(page.locator("changes-panel .hl-keyword").first).to_be_visible()
        camera.take(page, "changes")
        page.locator("changes-panel .comment [type=button]").click()
        page.locator("changes-panel .how button").click()
        camera.take(page, "changes-split")
        page.locator("changes-panel .how button").click()


def draw_team_editor(camera: Camera) -> None:
    with camera.open() as page:
        page.locator("start-page li", has_text="shop-coders").hover()
        page.locator("start-page .edit-team").first.click()
        about = page.locator("team-editor .form textarea").first
        about.fill(ABOUT[camera.language])
        about.press("Tab")
        camera.take(page, "team-form")
        page.locator("team-editor [data-tab=changes]").click()
        expect(page.locator("team-editor .cm-insertedLine").first).to_be_visible()
        camera.take(page, "team-editor")


def make_repository(folder: Path) -> Path:
    """A repository with a file, and a team that works in it; return the team's file."""
    folder.mkdir()
    team = Path(shutil.copy(FOLDER.parent / "examples" / "10_coding_team.yaml", folder / "moot.yaml"))
    (folder / "shop.py").write_text('"""Prices of a small shop, in cents."""\n', encoding="utf-8")
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "start"]):
        subprocess.run(["git", *IDENTITY, *command], cwd=folder, check=True)  # noqa: S603, S607
    return team


@contextmanager
def serve(language: str) -> Iterator[str]:
    """A server on data of its own, with the teams of a language; gives its address."""
    moot = [sys.executable, "-m", "moot.cli.main"]
    with tempfile.TemporaryDirectory() as data, tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "MOOT_TOKEN": TOKEN, "MOOT_DATA": data, "LC_ALL": LOCALES[language]}
        teams = [make_repository(Path(home, "shop")), FOLDER.parent / "tests" / "web" / "teams" / "failing.yaml"]
        trust = [*moot, "trust", "add", str(teams[0]), "--yes"]
        subprocess.run(trust, env=environment, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
        command = [*moot, "serve", *BUILT_IN, *map(str, teams), "--port", "0"]
        server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, cwd=data)  # noqa: S603
        try:
            yield re.sub(r"\s|/?#.*", "", server.stdout.readline() if server.stdout else "").rstrip("/")
        finally:
            server.terminate()
            server.wait()


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    PICTURES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=SWITCHES)
        for language in SAID:
            with serve(language) as url:
                for theme in ("light", "dark"):
                    camera = Camera(browser, url, theme, language)
                    for draw in (draw_chat, draw_plan, draw_studio, draw_failure, draw_changes, draw_team_editor):
                        draw(camera)


if __name__ == "__main__":
    main()
