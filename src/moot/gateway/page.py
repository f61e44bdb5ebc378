"""The web page and its files. They are read into a table at the start, so that no path can lead out of the folder.

The page refers to its files as `/static/<version>/…`, where the version is a digest of all of them: browsers may cache
these for ever and load them again only after a change. Modules import each other by relative paths and so inherit the
version. Scripts are served without the comments that stand on lines of their own.
"""

import hashlib
import mimetypes
import re
from importlib import resources
from importlib.resources.abc import Traversable

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from moot.core.texts import TEXTS
from moot.protocol.errors import ProtocolError

INDEX = "index.html"
SOURCES = (".py", ".pyc", ".d.ts")  # needed for development only: not served
COMMENT = re.compile(rb"^[ \t]*(?://.*|/\*\*(?:[^*]|\*(?!/))*\*/)[ \t]*$", re.MULTILINE)
REVALIDATE, IMMUTABLE = "no-cache", "private, max-age=31536000, immutable"


class File(Struct, frozen=True):
    body: bytes
    media_type: str
    etag: str


class Page:
    """The operations that serve the page: `/`, `/s/{session_id}` and `/static/{path}`."""

    def __init__(self, folder: Traversable | None = None) -> None:
        self.files = dict(_read(folder or resources.files("moot").joinpath("web"), ""))
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
        if request.headers.get("if-none-match") == file.etag:
            return Response(status_code=304, headers=headers)
        return Response(file.body, media_type=file.media_type, headers=headers)


def _read(folder: Traversable, prefix: str) -> list[tuple[str, File]]:
    files = []
    for entry in folder.iterdir():
        if entry.is_dir():
            files += _read(entry, f"{prefix}{entry.name}/")
        elif not entry.name.endswith(SOURCES):
            body = entry.read_bytes()
            body = without_comments(body) if entry.name.endswith(".js") else body
            files.append((f"{prefix}{entry.name}", _make_file(entry.name, body)))
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


def without_comments(script: bytes) -> bytes:
    """Blank out comments but keep their line breaks, so that errors in the browser name lines of the source."""
    return COMMENT.sub(lambda match: b"\n" * match[0].count(b"\n"), script)


def _make_file(name: str, body: bytes) -> File:
    media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return File(body, media_type, f'"{hashlib.sha256(body).hexdigest()[:16]}"')
