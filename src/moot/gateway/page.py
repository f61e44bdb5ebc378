"""The page and its files, read once: only what is in this table can be asked for, so no path leads out of it.

The page names its files below `/static/<version>/`, a digest of them all: browsers keep those for good, and ask again
only when a file has changed. Modules name each other relatively, so they follow by themselves. A browser gets the code
without the comments that stand on lines of their own.
"""

import hashlib
import mimetypes
import re
from importlib import resources
from importlib.resources.abc import Traversable

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from moot.gateway.replies import HttpError

INDEX = "index.html"
SOURCES = (".py", ".pyc", ".d.ts")  # for those who write the page
COMMENT = re.compile(rb"^[ \t]*(?://.*|/\*\*(?:[^*]|\*(?!/))*\*/)[ \t]*$", re.MULTILINE)
CHECKED, KEPT = "no-cache", "private, max-age=31536000, immutable"


class File(Struct, frozen=True):
    body: bytes
    media_type: str
    etag: str


class Page:
    def __init__(self, folder: Traversable | None = None) -> None:
        self.files = dict(_read(folder or resources.files("moot").joinpath("web"), ""))
        etags = "".join(f"{name}{file.etag}" for name, file in sorted(self.files.items()))
        self.version = hashlib.sha256(etags.encode()).hexdigest()[:12]
        page = self.files[INDEX].body.replace(b'"/static/', b'"/static/%b/' % self.version.encode())
        self.files[INDEX] = _make_file(INDEX, page)

    async def index(self, request: Request) -> Response:
        return self._answer(request, INDEX, CHECKED)

    async def static(self, request: Request) -> Response:
        path: str = request.path_params["path"]
        version, _, name = path.partition("/")
        if version == self.version:
            return self._answer(request, name, KEPT)
        return self._answer(request, path, CHECKED)

    def _answer(self, request: Request, name: str, keeping: str) -> Response:
        file = self.files.get(name)
        if file is None:
            raise HttpError("unknown_path")
        headers = {"etag": file.etag, "cache-control": keeping}
        if request.headers.get("if-none-match") == file.etag:
            return Response(status_code=304, headers=headers)
        return Response(file.body, media_type=file.media_type, headers=headers)


def _read(folder: Traversable, prefix: str) -> list[tuple[str, File]]:
    found = []
    for each in folder.iterdir():
        if each.is_dir():
            found += _read(each, f"{prefix}{each.name}/")
        elif not each.name.endswith(SOURCES):
            body = each.read_bytes()
            body = without_comments(body) if each.name.endswith(".js") else body
            found.append((f"{prefix}{each.name}", _make_file(each.name, body)))
    return found


def without_comments(script: bytes) -> bytes:
    """Empty lines stay in their place: an error in the browser names the line of the source."""
    return COMMENT.sub(lambda found: b"\n" * found[0].count(b"\n"), script)


def _make_file(name: str, body: bytes) -> File:
    media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return File(body, media_type, f'"{hashlib.sha256(body).hexdigest()[:16]}"')
