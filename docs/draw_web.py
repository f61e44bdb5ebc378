"""`python docs/draw_web.py`: starts a server with the built-in teams, uses the page, and takes the README's pictures.

Needs Chromium; fonts for Chinese and emoji make the pictures complete (Debian: fonts-noto-cjk fonts-noto-color-emoji).
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

FOLDER = Path(__file__).parent
TOKEN = "token-for-pictures"  # noqa: S105 - of a server that lives for a minute
WIDE, NARROW = {"width": 1280, "height": 760}, {"width": 390, "height": 760}
SWITCHES = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]


def open_page(browser: Browser, url: str, *, locale: str = "en-US", theme: str = "light") -> Page:
    look = "dark" if theme == "dark" else "light"
    page = browser.new_context(viewport=WIDE, locale=locale, color_scheme=look).new_page()  # type: ignore[arg-type]
    page.goto(f"{url}#token={TOKEN}")
    expect(page.locator("top-bar .link")).to_be_visible()
    return page


def start(page: Page, team: str, title: str, text: str) -> None:
    page.locator("session-list .new").click()
    page.locator("new-session .team", has_text=team).click()
    page.locator("new-session .name").fill(title)
    page.locator("new-session .primary").click()
    expect(page.locator("top-bar .title")).to_have_text(title)
    page.mouse.move(0, 0)  # nothing is pointed at
    page.locator("#composer").fill(text)
    page.locator("#composer").press("Enter")


def draw_chat(page: Page) -> None:
    start(page, "chat-demo", "A poster", "The library opens on Sundays. Can you three write the poster?")
    expect(page.locator("article.message.ai:not(.writing)").nth(2)).to_be_visible()
    page.screenshot(path=FOLDER / "web-chat.png")
    expect(page.locator("top-bar .status")).to_have_attribute("data-status", "paused")


def draw_plan(page: Page) -> None:
    start(page, "plan-demo", "Reading night", "Please prepare the library's reading night on 12 June.")
    expect(page.locator("confirm-cards .card.plan")).to_be_visible()
    page.locator("confirm-cards [data-key=e]").click()
    page.locator("plan-editor .row .title").first.fill("Find four people who read")
    page.screenshot(path=FOLDER / "web-editor.png")
    page.locator("plan-editor .approve").click()
    expect(page.locator("plan-editor dialog")).to_be_hidden()


def draw_studio(page: Page) -> None:
    start(page, "content-studio-demo", "阳台香草", "A post about growing herbs on a balcony, with two pictures.")
    page.locator("confirm-cards button").first.click()
    page.locator("#tab-tasks").click()
    expect(page.locator("job-board .choices li").nth(2)).to_be_visible(timeout=20_000)
    page.screenshot(path=FOLDER / "web-dark-zh.png")
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    page.screenshot(path=FOLDER / "web-narrow.png")


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    command = [sys.executable, "-m", "moot.cli.main", "serve", "--port", "0"]
    with tempfile.TemporaryDirectory() as data, sync_playwright() as playwright:
        environment = {**os.environ, "MOOT_TOKEN": TOKEN, "MOOT_DATA": data}
        server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, cwd=data)  # noqa: S603
        try:
            url = re.sub(r"\s", "", server.stdout.readline() if server.stdout else "")
            browser = playwright.chromium.launch(executable_path=chromium, args=SWITCHES)
            draw_chat(open_page(browser, url))
            draw_plan(open_page(browser, url))
            draw_studio(open_page(browser, url, locale="zh-CN", theme="dark"))
        finally:
            server.terminate()
            server.wait()
            if server.stdout:
                server.stdout.close()


if __name__ == "__main__":
    main()
