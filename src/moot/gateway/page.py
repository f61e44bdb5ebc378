"""The page and its files, read once: only what is in this table can be asked for, so no path leads out of it."""

import hashlib
import mimetypes
from importlib import resources
from importlib.resources.abc import Traversable

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from moot.gateway.replies import HttpError

INDEX = "index.html"


class File(Struct, frozen=True):
    body: bytes
    media_type: str
    etag: str


class Page:
    def __init__(self, folder: Traversable | None = None) -> None:
        self.files = dict(_read(folder or resources.files("moot").joinpath("web"), ""))

    async def index(self, request: Request) -> Response:
        return self._answer(request, INDEX)

    async def static(self, request: Request) -> Response:
        return self._answer(request, request.path_params["path"])

    def _answer(self, request: Request, name: str) -> Response:
        file = self.files.get(name)
        if file is None:
            raise HttpError("unknown_path")
        headers = {"etag": file.etag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == file.etag:
            return Response(status_code=304, headers=headers)
        return Response(file.body, media_type=file.media_type, headers=headers)


def _read(folder: Traversable, prefix: str) -> list[tuple[str, File]]:
    found = []
    for each in folder.iterdir():
        if each.is_dir():
            found += _read(each, f"{prefix}{each.name}/")
        elif not each.name.endswith((".py", ".pyc")):
            body = each.read_bytes()
            media_type = mimetypes.guess_type(each.name)[0] or "application/octet-stream"
            etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
            found.append((f"{prefix}{each.name}", File(body, media_type, etag)))
    return found
