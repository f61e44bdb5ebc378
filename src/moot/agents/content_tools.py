"""Tools of the content studio: search the web, and make a picture. Moot runs them between the turns of an agent.

`search_web` asks the server of `$MOOT_SEARCH_URL`, which answers like SearXNG. `make_picture` asks a provider: the
server of `$MOOT_IMAGE_URL`, which speaks OpenAI's API of images (its key is in `$MOOT_IMAGE_KEY`), or, without one, the
local provider, which draws a card with the layout and the subject. A card is marked as a placeholder.
"""

import base64
import hashlib
import json
import os
import re
import unicodedata
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Any, Protocol
from xml.sax.saxutils import escape

from msgspec import Struct

from moot.core.errors import AgentError

TIMEOUT_S = 60.0
ANSWER_BYTES = 4_000_000
SRC_BYTES = 180_000  # of a picture in the log, as a data: address
RESULTS = 10
SNIPPET_CHARS = 500


def search_web(query: str, count: int = 5) -> list[dict[str, str]]:
    """Search the web; returns title, url and snippet of each result."""
    address = os.environ.get("MOOT_SEARCH_URL")
    if not address:
        raise AgentError(
            "config",
            "there is no search here, MOOT_SEARCH_URL is not set: write what is well known, with source 'unchecked'",
        )
    answer = _request(f"{address}?{urllib.parse.urlencode({'q': query, 'format': 'json'})}")
    results = answer.get("results") if isinstance(answer, dict) else None
    return [
        {
            "title": str(result.get("title", "")),
            "url": str(result.get("url", "")),
            "snippet": str(result.get("content", ""))[:SNIPPET_CHARS],
        }
        for result in (results if isinstance(results, list) else [])[: max(1, min(count, RESULTS))]
        if isinstance(result, dict)
    ]


def make_picture(
    plan_id: str, subject: str, caption: str = "", ratio: str = "4:5", provider: str = ""
) -> dict[str, Any]:
    """Make one planned picture and return its asset_id. Leave provider out, or use card (a placeholder) or url."""
    request = PictureRequest(plan_id=plan_id, subject=subject, caption=caption, ratio=_read_ratio(ratio))
    chosen = provider.strip() or ("url" if os.environ.get("MOOT_IMAGE_URL") else "card")
    if chosen not in PROVIDERS:
        raise AgentError("config", f"no provider of pictures {chosen!r}; there are {', '.join(PROVIDERS)}")
    src = PROVIDERS[chosen].make(request)
    digest = hashlib.sha256(src.encode()).hexdigest()[:8]
    name = re.sub(r"[^\w-]+", "-", plan_id).strip("-")[:40] or "picture"
    return {
        "asset_id": f"{name}-{digest}",
        "src": src,
        "caption": caption,
        "is_placeholder": chosen == "card",
        "provider": chosen,
    }


class PictureRequest(Struct, frozen=True, kw_only=True):
    """A picture to be made. `ratio` is width over height."""

    plan_id: str
    subject: str
    caption: str = ""
    ratio: float = 0.8


class PictureProvider(Protocol):
    """Makes pictures."""

    def make(self, request: PictureRequest) -> str:
        """Return the address of the picture: data: or https:. Raises AgentError."""
        ...


class LayoutCard:
    """Draws a card with the subject and the caption, as SVG: what the picture will show and how much room it takes."""

    WIDTH = 640

    def make(self, request: PictureRequest) -> str:
        height = round(self.WIDTH / request.ratio)
        lines = list(_wrap(request.subject, 34))[:8]
        top = max(height // 2 - 18 * len(lines), 110)
        texts = [_text(self.WIDTH // 2, top + 36 * number, line, 26) for number, line in enumerate(lines)]
        caption = [
            _text(self.WIDTH // 2, height - 34 - 26 * number, line, 18, "#5b6b5b")
            for number, line in enumerate(reversed(list(_wrap(request.caption, 52))[:2]))
        ]
        svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.WIDTH} {height}" font-family="sans-serif">'
            f'<rect width="{self.WIDTH}" height="{height}" fill="#eef2ea"/>'
            f'<rect x="14" y="14" width="{self.WIDTH - 28}" height="{height - 28}" fill="none" stroke="#7d9473" '
            'stroke-width="3" stroke-dasharray="12 8"/>'
            f"{_text(self.WIDTH // 2, 58, f'PLACEHOLDER · 占位图 · {request.plan_id}', 18, '#a04a2a')}"
            f"{''.join(texts)}{''.join(caption)}</svg>"
        )
        return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


class ImageServer:
    """Asks a server that speaks OpenAI's API of images."""

    def make(self, request: PictureRequest) -> str:
        address, key = os.environ.get("MOOT_IMAGE_URL"), os.environ.get("MOOT_IMAGE_KEY")
        if not address:
            raise AgentError("config", "there is no server of pictures (MOOT_IMAGE_URL is not set): use provider card")
        wide, high = (1024, 1024) if 0.9 < request.ratio < 1.1 else (1024, 1536) if request.ratio < 1 else (1536, 1024)
        order = {"prompt": request.subject, "n": 1, "size": f"{wide}x{high}"}
        if model := os.environ.get("MOOT_IMAGE_MODEL"):
            order["model"] = model
        answer = _request(f"{address.rstrip('/')}/images/generations", order, key)
        made = answer.get("data") if isinstance(answer, dict) else None
        picture = made[0] if isinstance(made, list) and made and isinstance(made[0], dict) else {}
        if isinstance(picture.get("url"), str):
            return str(picture["url"])
        if not isinstance(picture.get("b64_json"), str):
            raise AgentError("agent", "the server of pictures answered without a picture")
        if len(picture["b64_json"]) > SRC_BYTES:
            raise AgentError("config", "the picture is too large for the log: have the server answer with a URL")
        return f"data:image/png;base64,{picture['b64_json']}"


PROVIDERS: dict[str, PictureProvider] = {"card": LayoutCard(), "url": ImageServer()}


def _read_ratio(written: str) -> float:
    """Return width over height of a ratio such as 4:5; 0.8 if it cannot be read. Extreme ones are bounded."""
    match = re.fullmatch(r"\s*(\d{1,4})\s*[:：x/]\s*(\d{1,4})\s*", written)
    if match is None or not int(match[2]):
        return 0.8
    return min(max(int(match[1]) / int(match[2]), 0.25), 4.0)


def _wrap(text: str, width: int) -> Iterator[str]:
    """Yield lines of at most `width` columns; wide characters, such as Chinese ones, take two."""
    line, used = "", 0
    for word in re.findall(r"\s+|[\u2e80-\uffef]|[^\s\u2e80-\uffef]+", " ".join(text.split())):
        columns = sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in word)
        if line and used + columns > width:
            yield line.strip()
            line, used = "", 0
        line, used = line + word, used + columns
    if line.strip():
        yield line.strip()


def _text(x: int, y: int, line: str, size: int, colour: str = "#2f3d2f") -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{colour}" text-anchor="middle">{escape(line)}</text>'


def _request(address: str, document: dict[str, Any] | None = None, key: str | None = None) -> Any:
    """Send a request and return the JSON of the answer. Raises AgentError."""
    if not address.startswith(("http://", "https://")):
        raise AgentError("config", f"not an address: {address!r}")
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    data = None if document is None else json.dumps(document).encode()
    request = urllib.request.Request(address, data, headers)  # noqa: S310 - only http and https, see above
    host = urllib.parse.urlsplit(address).netloc
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310
            return json.loads(answer.read(ANSWER_BYTES))
    except urllib.error.HTTPError as error:
        error.close()
        raise AgentError("agent", f"{host} answered {error.code}") from None
    except (OSError, ValueError) as error:
        raise AgentError("network", f"{host} cannot be used: {error}") from None
