"""`python -m bench.page`: how quick the web page is, measured in the browser. A table, nothing asserted.

First paint, a session of 10,000 events from the click to the last message, an event's way from the command to the
screen, streaming at 50 pieces a second, and the size of the scripts.
"""

import gzip
import json
import shutil
import tempfile
from pathlib import Path
from statistics import median, quantiles

import uvloop
from playwright.sync_api import Browser, Page, sync_playwright

from bench import turns
from moot.gateway import page as gateway
from tests.web.server import TOKEN, Server

TURNS = 1_700  # of six events each
PINGS = 100
SWITCHES = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
OPENED = """seq => new Promise(resolve => {
  const look = () => {
    const words = document.querySelector("top-bar .link[data-state=connected] .words")?.textContent ?? "";
    const isThere = words.includes(`event ${seq} `) && document.querySelector("article.message");
    isThere ? resolve(performance.now()) : requestAnimationFrame(look);
  };
  look();
})"""
SEEN = """async ([session, count]) => {
  const log = document.querySelector("chat-log .log"), took = [];
  for (let n = 0; n < count; n++) {
    const text = `ping ${n}.`, started = performance.now();
    const shown = new Promise(resolve => {
      const look = new MutationObserver(() => {
        if (![...log.querySelectorAll(".body")].some(each => each.textContent === text)) return;
        look.disconnect();
        requestAnimationFrame(() => resolve(performance.now() - started));
      });
      look.observe(log, {childList: true, subtree: true});
    });
    await fetch(`/api/sessions/${session}/commands`, {
      method: "POST", headers: {"content-type": "application/json"},
      body: JSON.stringify({event: "user.message", content: text}),
    });
    took.push(await shown);
    await new Promise(resolve => setTimeout(resolve, 60));
  }
  return took;
}"""
FRAMES = """() => new Promise(resolve => {
  const gaps = []; let last = performance.now();
  const tick = now => {
    gaps.push(now - last); last = now;
    document.querySelector("article.writing") || gaps.length < 30 ? requestAnimationFrame(tick) : resolve(gaps);
  };
  requestAnimationFrame(tick);
})"""


def open_page(browser: Browser, server: Server, path: str) -> Page:
    page = browser.new_context(viewport={"width": 1300, "height": 800}).new_page()
    page.goto(f"{server.url}{path}#token={TOKEN}")
    page.locator("#shell").wait_for()
    return page


def first_paint(browser: Browser, server: Server) -> float:
    took = []
    for _ in range(5):
        page = open_page(browser, server, "/")
        page.reload()
        page.locator("#shell").wait_for()
        took.append(float(page.evaluate(PAINT)))
        page.context.close()
    return median(took)


def long_session(browser: Browser, server: Server, session_id: str) -> float:
    """From the navigation to the page saying that it is at the log's end."""
    seq = server.client.get(f"/api/sessions/{session_id}").json()["seq"]
    took = []
    for _ in range(3):
        page = open_page(browser, server, "/")
        page.goto(f"{server.url}/s/{session_id}", wait_until="commit")
        took.append(float(page.evaluate(OPENED, seq)))
        rows = page.locator("time-line .row").count()
        page.context.close()
    print(f"  {seq} events, {rows} rows of the timeline in the document")
    return median(took)


def event_to_pixel(browser: Browser, server: Server) -> tuple[float, float]:
    session_id = server.create("talk")
    page = open_page(browser, server, f"/s/{session_id}")
    page.locator("top-bar .link[data-state=connected]").wait_for()
    took: list[float] = page.evaluate(SEEN, [session_id, PINGS])
    page.context.close()
    return median(took), quantiles(took, n=20)[-1]


def streaming(browser: Browser, server: Server) -> tuple[float, int]:
    session_id = server.create("stream")
    page = open_page(browser, server, f"/s/{session_id}")
    page.locator("#composer").fill("[NEXT: Poet] go")
    page.locator("#composer").press("Enter")
    page.locator("article.writing").wait_for()
    gaps: list[float] = page.evaluate(FRAMES)
    page.context.close()
    return quantiles(gaps, n=20)[-1], sum(gap > 50 for gap in gaps)


def script_bytes() -> int:
    sent = [file.body for name, file in sorted(gateway.Page().files.items()) if name.endswith(".js")]
    return len(gzip.compress(b"".join(sent)))


def measure(browser: Browser, server: Server, session_id: str) -> list[tuple[str, str, str]]:
    pixel, pixel_p95 = event_to_pixel(browser, server)
    gap, dropped = streaming(browser, server)
    return [
        ("first paint", f"{first_paint(browser, server):.0f} ms", "≤ 300 ms"),
        ("a session of 10,000 events", f"{long_session(browser, server, session_id):.0f} ms", "≤ 1,000 ms"),
        ("command to pixel, median", f"{pixel:.0f} ms", ""),
        ("command to pixel, p95", f"{pixel_p95:.0f} ms", "≤ 100 ms"),
        ("streaming: frame gap p95", f"{gap:.0f} ms", "≤ 34 ms"),
        ("streaming: gaps over 50 ms", f"{dropped}", "0"),
        ("scripts, gzipped together", f"{script_bytes() / 1000:.1f} kB", "≤ 60 kB"),
    ]


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        uvloop.run(turns.one_session(TURNS, Path(made)))
        rows = measure_with(Path(made))
    for what, value, bar in rows:
        print(f"{what:32} {value:>10}   {bar}")
    results = Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    (results / "page.json").write_text(json.dumps(rows, ensure_ascii=False, indent=1), encoding="utf-8")


def measure_with(folder: Path) -> list[tuple[str, str, str]]:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    server = Server(folder)
    with sync_playwright() as playwright:
        try:
            server.start()
            session_id = str(server.client.get("/api/sessions").json()[0]["session_id"])
            browser = playwright.chromium.launch(executable_path=chromium, args=SWITCHES)
            return measure(browser, server, session_id)
        finally:
            server.close()


if __name__ == "__main__":
    main()
