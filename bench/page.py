"""`make bench-page`: how quick the web page is, measured in Chromium, beside its bars. A table, nothing asserted.

Requests and bytes of the first load, first paint, the first message over a slow network, a session of 13,000 events
from the click to the last message, Enter to the painted message in it, an event's way from the command to the screen,
streaming at 50 pieces a second, how far things jump in one exchange, and CommonMark.
"""

import gzip
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from statistics import median, quantiles

import uvloop
from playwright.sync_api import Browser, Page, sync_playwright

from bench import turns
from moot.gateway import page as gateway
from tests.web.node import NODE, ROOT
from tests.web.server import TOKEN, Server

TURNS = 2_600  # of five events each
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
      method: "POST", headers: {"content-type": "application/json", "moot-login": localStorage.getItem("moot.login")},
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


FIRST_MESSAGE = """() => new Promise(resolve => {
  const isThere = () => document.querySelector("article.message");
  const look = () => isThere() ? resolve(performance.now()) : requestAnimationFrame(look);
  look();
})"""
ENTER = """async count => {
  const box = document.querySelector("#composer"), log = document.querySelector("chat-log .items"), took = [];
  for (let n = 0; n < count; n++) {
    box.value = `note ${n} ${Math.random()}`;
    const text = box.value, started = performance.now();
    box.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true, cancelable: true}));
    await new Promise(resolve => {
      const isThere = () => [...log.children].slice(-4).some(each => each.textContent.includes(text));
      const look = () => isThere() ? resolve() : requestAnimationFrame(look);
      look();
    });
    await new Promise(requestAnimationFrame);
    took.push(performance.now() - started);
    await new Promise(resolve => setTimeout(resolve, 150));
  }
  return took;
}"""
WATCH_JUMPS = """() => {
  window.jumped = 0;
  const add = each => { window.jumped += each.hadRecentInput ? 0 : each.value; };
  new PerformanceObserver(list => list.getEntries().forEach(add)).observe({type: "layout-shift", buffered: false});
}"""


def open_page(browser: Browser, server: Server, path: str) -> Page:
    page = browser.new_context(viewport={"width": 1300, "height": 800}).new_page()
    page.goto(f"{server.url}{path}#token={TOKEN}")
    page.locator("#shell").wait_for()
    page.wait_for_url(lambda url: "#token=" not in url)  # it is logged in; whoever leaves before that is a stranger
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


def first_load(browser: Browser, server: Server) -> tuple[int, int]:
    """Requests and bytes that go over the wire until the page stands, in a browser that knows nothing."""
    page = open_page(browser, server, "/")
    page.locator("start-page .team").first.wait_for()
    network = page.context.new_cdp_session(page)
    sizes: list[int] = []
    network.send("Network.enable")
    network.send("Network.setCacheDisabled", {"cacheDisabled": True})
    network.on("Network.loadingFinished", lambda event: sizes.append(int(event["encodedDataLength"])))
    page.reload()
    page.locator("start-page .team").first.wait_for()
    page.wait_for_load_state("networkidle")
    page.context.close()
    return len(sizes), sum(sizes)


def slow_network(browser: Browser, server: Server) -> float:
    """From the address to the first message, at a round trip of 150 ms and 1.6 Mbit/s."""
    session_id = server.create("talk")
    server.command(session_id, "user.message", content="[NEXT: Bob] hello")
    page = open_page(browser, server, "/")
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.send("Network.setCacheDisabled", {"cacheDisabled": True})
    speed = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 200_000}
    network.send("Network.emulateNetworkConditions", speed)
    page.goto(f"{server.url}/s/{session_id}", wait_until="commit")
    took = float(page.evaluate(FIRST_MESSAGE))
    page.context.close()
    return took


def enter_to_paint(browser: Browser, server: Server, session_id: str) -> float:
    """95 of 100 messages of a session are painted within this time after Enter."""
    page = open_page(browser, server, f"/s/{session_id}")
    page.locator("top-bar .link[data-state=connected]").wait_for()
    page.locator("article.message:visible, chat-log .blank:visible").first.wait_for()
    took: list[float] = page.evaluate(ENTER, 40)
    page.context.close()
    return quantiles(took, n=20)[-1]


def jumps(browser: Browser, server: Server) -> float:
    """How far things move by themselves in one exchange: the browser's own sum (CLS)."""
    session_id = server.create("talk")
    page = open_page(browser, server, f"/s/{session_id}")
    page.locator("chat-log .blank").wait_for()
    page.evaluate(WATCH_JUMPS)
    page.locator("#composer").fill("[NEXT: Bob] hello")
    page.locator("#composer").press("Enter")
    page.locator("article.message.ai:not(.writing)").wait_for()
    moved = float(page.evaluate("() => window.jumped"))
    page.context.close()
    return moved


def common_mark() -> str:
    """How many examples of CommonMark come out as they should."""
    command = [NODE or "node", "--test", str(ROOT / "tests" / "web" / "js" / "markdown.test.mjs")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "MOOT_COUNT": "1"})
    found = re.search(r"CommonMark (\d+ of \d+)", done.stdout)
    return found[1] if found else "?"


def gzipped() -> int:
    """Bytes of the document, the texts, and the scripts and styles that the document names, compressed."""
    files = gateway.Page().files
    named = re.findall(r"/static/\w+/((?:css|js)/[\w.-]+)", files["index.html"].body.decode())
    return sum(len(gzip.compress(files[name].body)) for name in ("index.html", "lang/en.json", *named))


def measure(browser: Browser, server: Server, session_id: str) -> list[tuple[str, str, str]]:
    pixel, pixel_p95 = event_to_pixel(browser, server)
    gap, dropped = streaming(browser, server)
    requests, sent = first_load(browser, server)
    return [
        ("first load: requests", f"{requests}", "≤ 12"),
        ("first load: sent", f"{sent / 1000:.0f} kB", ""),
        ("first load: gzipped", f"{gzipped() / 1000:.0f} kB", "≤ 120 kB"),
        ("first paint", f"{first_paint(browser, server):.0f} ms", "≤ 300 ms"),
        ("first message, 150 ms, 1.6 Mbit/s", f"{slow_network(browser, server):.0f} ms", "≤ 1,500 ms"),
        ("Enter to painted, new session, p95", f"{enter_to_paint(browser, server, server.create('talk')):.0f} ms", ""),
        ("a session of 13,000 events", f"{long_session(browser, server, session_id):.0f} ms", "≤ 1,000 ms"),
        ("Enter to painted in it, p95", f"{enter_to_paint(browser, server, session_id):.0f} ms", "≤ 50 ms"),
        ("jumps in one exchange", f"{jumps(browser, server):.3f}", "≤ 0.05"),
        ("CommonMark", common_mark(), "≥ 500"),
        ("command to pixel, median", f"{pixel:.0f} ms", ""),
        ("command to pixel, p95", f"{pixel_p95:.0f} ms", "≤ 100 ms"),
        ("streaming: frame gap p95", f"{gap:.0f} ms", "≤ 34 ms"),
        ("streaming: gaps over 50 ms", f"{dropped}", "0"),
    ]


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        uvloop.run(turns.one_session(TURNS, Path(made)))
        rows = measure_with(Path(made))
    for what, value, bar in rows:
        print(f"{what:36} {value:>10}   {bar}")
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
