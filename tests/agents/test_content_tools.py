"""The tools of the content studio: a search that asks a server, pictures by a provider."""

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from xml.etree import ElementTree

import pytest

from moot.agents.content_tools import make_picture, search_web
from moot.core.errors import AgentError

SVG = "{http://www.w3.org/2000/svg}"


@contextmanager
def serve(answer: bytes, status: int = 200) -> Iterator[tuple[str, list[Any]]]:
    """A server on loopback that gives one answer; yields its address and what it was asked."""
    asked: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers.get("authorization"), None))
            self._send()

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked.append((self.path, self.headers.get("authorization"), body))
            self._send()

        def _send(self) -> None:
            self.send_response(status)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MOOT_SEARCH_URL", "MOOT_IMAGE_URL", "MOOT_IMAGE_KEY", "MOOT_IMAGE_MODEL"):
        monkeypatch.delenv(name, raising=False)


def draw(**args: Any) -> ElementTree.Element:
    """The SVG of a card."""
    head, _, data = make_picture(**{"plan_id": "cover", "subject": "five pots", **args})["src"].partition(",")
    assert head == "data:image/svg+xml;base64"
    return ElementTree.fromstring(base64.b64decode(data))  # noqa: S314 - the SVG is our own


def test_a_search_asks_the_server_that_the_user_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results have title, url and snippet; no more than asked for."""
    results = [{"title": f"t{n}", "url": f"https://x/{n}", "content": "c" * 900, "score": n} for n in range(9)]
    with serve(json.dumps({"results": results}).encode()) as (address, asked):
        monkeypatch.setenv("MOOT_SEARCH_URL", f"{address}/search")
        given = search_web("阳台 香草", count=2)
    assert given == [{"title": f"t{n}", "url": f"https://x/{n}", "snippet": "c" * 500} for n in range(2)]
    assert asked[0][0].startswith("/search?q=%E9%98%B3%E5%8F%B0+%E9%A6%99%E8%8D%89&format=json")


def test_without_a_server_a_search_says_what_to_do() -> None:
    """The agent is told to go on without it, and how to mark what it writes."""
    with pytest.raises(AgentError, match="MOOT_SEARCH_URL is not set: write what is well known"):
        search_web("herbs")


def test_a_server_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors name the host and hide nothing else of the address."""
    with serve(b"no", 503) as (address, _):
        monkeypatch.setenv("MOOT_SEARCH_URL", f"{address}/search?token=secret")
        with pytest.raises(AgentError, match="answered 503") as failure:
            search_web("herbs")
    assert "secret" not in str(failure.value)
    with serve(b"<html>") as (address, _):
        monkeypatch.setenv("MOOT_SEARCH_URL", address)
        with pytest.raises(AgentError, match="cannot be used"):
            search_web("herbs")
    monkeypatch.setenv("MOOT_SEARCH_URL", "file:///etc/hostname")
    with pytest.raises(AgentError, match="not an address"):
        search_web("herbs")


def test_a_card_shows_the_plan_and_says_that_it_is_a_placeholder() -> None:
    """Subject and caption are on the card, in the ratio of the plan, as text: nothing in them is markup."""
    drawn = draw(subject="a <b>pot</b> & 五个陶盆排在阳台的栏杆上，晨光里冒着热气", caption="Five pots", ratio="1:2")
    texts = [text.text or "" for text in drawn.iter(f"{SVG}text")]
    assert texts[0] == "PLACEHOLDER · 占位图 · cover"
    assert "<b>pot</b>" in "".join(texts)
    assert "Five pots" in texts
    assert len(texts) > 3  # long subjects are wrapped
    assert drawn.get("viewBox") == "0 0 640 1280"


def test_a_picture_has_an_id_and_a_mark() -> None:
    """The id names the plan and the content; the same order gives the same id."""
    made = make_picture("my cover!", "pots", caption="Five")
    assert made["asset_id"].startswith("my-cover-")
    assert (made["caption"], made["is_placeholder"], made["provider"]) == ("Five", True, "card")
    assert make_picture("my cover!", "pots", caption="Five") == made
    assert make_picture("my cover!", "herbs")["asset_id"] != made["asset_id"]


@pytest.mark.parametrize("ratio", ["", "wide", "4:0", "9999:1", "1：4000"])
def test_odd_ratios_are_drawn(ratio: str) -> None:
    """What cannot be read or would be extreme is drawn in bounds."""
    _, _, width, height = (int(part) for part in (draw(ratio=ratio).get("viewBox") or "").split())
    assert 0.25 <= width / height <= 4


def test_a_server_of_pictures_is_asked_when_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets the subject and the key from the environment; its picture is no placeholder."""
    with serve(b'{"data": [{"b64_json": "QUJD"}]}') as (address, asked):
        monkeypatch.setenv("MOOT_IMAGE_URL", f"{address}/v1")
        monkeypatch.setenv("MOOT_IMAGE_KEY", "k")
        monkeypatch.setenv("MOOT_IMAGE_MODEL", "painter")
        made = make_picture("cover", "five pots", ratio="4:5")
    assert (made["src"], made["is_placeholder"]) == ("data:image/png;base64,QUJD", False)
    order = {"prompt": "five pots", "n": 1, "size": "1024x1536", "model": "painter"}
    assert asked == [("/v1/images/generations", "Bearer k", order)]
    with serve(b'{"data": [{"url": "https://pictures/1.png"}]}') as (address, _):
        monkeypatch.setenv("MOOT_IMAGE_URL", address)
        assert make_picture("cover", "five pots", ratio="1:1")["src"] == "https://pictures/1.png"
        assert make_picture("cover", "five pots", provider="card")["is_placeholder"]


def test_what_a_provider_cannot_do_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """No provider of that name, no server, no picture, one that is too large."""
    with pytest.raises(AgentError, match="there are card, url"):
        make_picture("cover", "pots", provider="oil")
    with pytest.raises(AgentError, match="MOOT_IMAGE_URL is not set"):
        make_picture("cover", "pots", provider="url")
    for answer, problem in (
        (b"{}", "without a picture"),
        (json.dumps({"data": [{"b64_json": "A" * 200_000}]}).encode(), "too large"),
    ):
        with serve(answer) as (address, _):
            monkeypatch.setenv("MOOT_IMAGE_URL", address)
            with pytest.raises(AgentError, match=problem):
                make_picture("cover", "pots")
