"""The web page and its files. They are read into a table at the start, so that no path can lead out of the folder.

The page is made from the sources in web/ when the package is built. It refers to its files as `/static/<version>/…`,
where the version is a digest of all of them: browsers may cache these for ever and load them again only after a change.
Scripts import each other by relative paths and so inherit the version.
"""

import gzip
import hashlib
import mimetypes
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from moot.core.texts import TEXTS
from moot.protocol.protocol_errors import ProtocolError

INDEX = "index.html"
WORKER = "js/sw.js"  # keeps the page for when there is no network; it serves all of it, not its folder alone
STAMP = "sources.sha256"  # what the page was made from: not served
NOT_MADE = b"<!doctype html><title>Moot</title><p>This page was not built. Run <code>make web</code> in the checkout."
LEAST_PACKED = 512  # bytes
BROTLI = ".br"  # the ending of a file that the build has packed
REVALIDATE, IMMUTABLE = "no-cache", "private, max-age=31536000, immutable"


class File(Struct, frozen=True):
    """A file of the page. `packed` is its body in smaller encodings, the smallest first."""

    body: bytes
    media_type: str
    etag: str
    packed: dict[str, bytes] = {}


class Page:
    """The operations that serve the page: `/`, `/s/{session_id}` and `/static/{path}`."""

    def __init__(self, folder: Traversable | None = None) -> None:
        folder = folder or resources.files("moot").joinpath("web")
        self.files = {INDEX: _make_file(INDEX, NOT_MADE)} | (dict(_read(folder, "")) if folder.is_dir() else {})
        for language, texts in TEXTS.items():
            name = f"lang/{language}.json"
            self.files[name] = _make_file(name, msgspec.json.encode(_select_texts(texts)))
        etags = "".join(f"{name}{file.etag}" for name, file in sorted(self.files.items()))
        self.version = hashlib.sha256(etags.encode()).hexdigest()[:12]
        page = self.files[INDEX].body.replace(b"</title>", b"</title>" + _list_languages())
        page = page.replace(b'"/static/', b'"/static/%b/' % self.version.encode())
        self.files[INDEX] = _make_file(INDEX, page)

    async def index(self, request: Request) -> Response:
        return self._answer(request, INDEX, REVALIDATE)

    async def static(self, request: Request) -> Response:
        path: str = request.path_params["path"]
        version, _, name = path.partition("/")
        if version == self.version:
            return self._answer(request, name, IMMUTABLE)
        return self._answer(request, path, REVALIDATE)

    def _answer(self, request: Request, name: str, cache_control: str) -> Response:
        file = self.files.get(name)
        if file is None:
            raise ProtocolError("unknown_path")
        headers = {"etag": file.etag, "cache-control": cache_control}
        if name == WORKER:
            headers["service-worker-allowed"] = "/"
        if file.packed:
            headers["vary"] = "accept-encoding"
        if request.headers.get("if-none-match") == file.etag:
            return Response(status_code=304, headers=headers)
        for encoding, body in file.packed.items():
            if encoding in _read_encodings(request):
                return Response(body, media_type=file.media_type, headers={**headers, "content-encoding": encoding})
        return Response(file.body, media_type=file.media_type, headers=headers)


def _read_encodings(request: Request) -> set[str]:
    """Return the encodings that a client takes: those that it names and does not refuse with `q=0`."""
    offers = [offer.partition(";") for offer in request.headers.get("accept-encoding", "").lower().split(",")]
    return {name.strip() for name, _, weight in offers if weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00")}


def _read(folder: Traversable, prefix: str) -> list[tuple[str, File]]:
    files = []
    for entry in folder.iterdir():
        if entry.is_dir():
            files += _read(entry, f"{prefix}{entry.name}/")
        elif entry.name != STAMP and not entry.name.endswith(BROTLI):
            better = folder.joinpath(f"{entry.name}{BROTLI}")
            packed = {"br": better.read_bytes()} if better.is_file() else {}
            files.append((f"{prefix}{entry.name}", _make_file(entry.name, entry.read_bytes(), packed)))
    return files


def _select_texts(texts: dict[str, str]) -> dict[str, str]:
    """Return the texts that the page needs: those of the screens, without their prefix, and the labels of options."""
    screens = {code.removeprefix("ui."): text for code, text in texts.items() if code.startswith("ui.")}
    return screens | {code: text for code, text in texts.items() if code.startswith("option.")}


def _list_languages() -> bytes:
    """Return link elements from which the page learns the languages it can switch to."""
    link = '\n<link rel="alternate" hreflang="{}" title="{}" data-short="{}" href="/static/lang/{}.json">'
    codes = ("language.name", "language.short")
    return "".join(link.format(name, *(texts[code] for code in codes), name) for name, texts in TEXTS.items()).encode()


def _make_file(name: str, body: bytes, packed: Mapping[str, bytes] | None = None) -> File:
    """Describe a file. What gets smaller is packed here, once, unless the build has packed it better."""
    media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    smaller = {"gzip": gzip.compress(body, 9, mtime=0)} if len(body) >= LEAST_PACKED and _is_text(media_type) else {}
    smaller = {encoding: data for encoding, data in {**(packed or {}), **smaller}.items() if len(data) < len(body)}
    return File(body, media_type, f'"{hashlib.sha256(body).hexdigest()[:16]}"', smaller)


def _is_text(media_type: str) -> bool:
    """Whether files of a type get much smaller: pictures and fonts are packed already."""
    return media_type.startswith("text/") or media_type.endswith(("json", "javascript", "svg+xml"))
