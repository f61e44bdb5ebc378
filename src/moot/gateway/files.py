"""Files of sessions over HTTP: what people attach, and what members show.

A file is named by the hash of its content and belongs to one session. Who may speak in the session may upload, who may
read the session may read its files. Nothing that is served here can act as a page of this origin.
"""

from functools import partial
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from moot.app import App
from moot.core import limits
from moot.core.errors import NotFound
from moot.core.session.attachments import Attachment
from moot.gateway.bodies import UPLOAD_TIMEOUT_S, read_bytes
from moot.gateway.bounds import Bounds
from moot.gateway.guard import principal_of
from moot.gateway.operations import Operation, Parameter
from moot.gateway.replies import Json
from moot.gateway.rest import readable_session
from moot.protocol.protocol_errors import ProtocolError
from moot.runtime.files import describe_file

PATH = "/api/sessions/{session_id}/files"
NAME = Parameter("name", "what people call the file; it names no place")


class FileOperations:
    def __init__(self, app: App, bounds: Bounds) -> None:
        self._app = app
        self._bounds = bounds

    def list_operations(self) -> list[Operation]:
        return [
            Operation(
                method="POST",
                path=PATH,
                summary="Upload a file, to be named in the attachments of a message; the body is its content",
                handler=self.upload_file,
                takes=bytes,
                gives=Attachment,
                parameters=(NAME,),
                status=201,
            ),
            Operation(
                method="GET",
                path=f"{PATH}/{{sha256}}",
                summary="The content of a file",
                handler=self.get_file,
                gives=bytes,
                parameters=(NAME,),
                media_type="application/octet-stream",
            ),
        ]

    async def upload_file(self, request: Request) -> Response:
        """Keep a file with a session. It is durable once this answers 201."""
        session_id = readable_session(request)
        principal = principal_of(request.scope)
        if not principal.may_write(session_id):
            raise ProtocolError("forbidden")
        await self._app.log.head(session_id)  # raises NotFound before the body is read
        self._bounds.hold(request.scope)  # a body is in memory for as long as its client takes to send it
        count = partial(self._bounds.take_bytes, principal)
        data = await read_bytes(request, limits.FILE_BYTES, UPLOAD_TIMEOUT_S, count)
        file = await self._app.files.put(session_id, data, request.query_params.get("name", ""))
        return Json(file, 201, {"location": f"/api/sessions/{session_id}/files/{file.sha256}"})

    async def get_file(self, request: Request) -> Response:
        """Return the content. Pictures may be shown in place; everything else is offered as a download."""
        session_id, sha256 = readable_session(request), request.path_params["sha256"]
        await self._app.log.head(session_id)
        self._bounds.hold(request.scope)  # or to take it
        data = await self._app.log.get_file(session_id, sha256)
        if data is None:
            raise NotFound("no such file")
        file = describe_file(data, sha256, request.query_params.get("name", ""))
        how = "inline" if file.is_image else "attachment"
        media_type = f"{file.media_type}; charset=utf-8" if file.media_type == "text/plain" else file.media_type
        headers = {
            "content-type": media_type,
            "content-disposition": f"{how}; filename*=UTF-8''{quote(file.name, safe='')}",
            "content-security-policy": "default-src 'none'; sandbox",
            "cache-control": "private, max-age=31536000, immutable",
        }
        return Response(data, headers=headers)
