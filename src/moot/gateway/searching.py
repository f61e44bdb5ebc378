"""`GET /api/search`: what was said, over all the sessions that whoever asks may read."""

from starlette.requests import Request
from starlette.responses import Response

from moot.app import App
from moot.core import limits
from moot.core.errors import NotFound
from moot.gateway.bodies import read_number
from moot.gateway.documents import FoundDocument
from moot.gateway.guard import principal_of
from moot.gateway.operations import Operation, Parameter
from moot.gateway.replies import Json
from moot.protocol.command_table import MAX_SEQ, SESSION_ID
from moot.protocol.protocol_errors import ProtocolError
from moot.runtime.searching import search


class SearchOperations:
    def __init__(self, app: App) -> None:
        self._app = app

    def list_operations(self) -> list[Operation]:
        return [
            Operation(
                method="GET",
                path="/api/search",
                summary="What was said in the sessions you may read, the newest first",
                handler=self.search,
                gives=FoundDocument,
                parameters=(
                    Parameter("q", "the words: each must be there, and a word is found by its beginning"),
                    Parameter("session", "only in this session"),
                    Parameter("limit", f"at most so many; never more than {limits.FOUND}", int),
                ),
            )
        ]

    async def search(self, request: Request) -> Response:
        principal = principal_of(request.scope)
        query = request.query_params.get("q", "")
        if len(query) > limits.QUERY_CHARS:
            raise ProtocolError("bad_field", detail=f"q (at most {limits.QUERY_CHARS} characters)")
        wanted = request.query_params.get("session")
        if wanted is not None and not (SESSION_ID.fullmatch(wanted) and principal.may_read(wanted)):
            raise NotFound("no such session")
        limit = min(read_number(request, "limit", limits.FOUND, "bad_field", MAX_SEQ), limits.FOUND)
        session_id = wanted or principal.session_id
        return Json(FoundDocument(found=await search(self._app.log, query, session_id=session_id, limit=limit)))
