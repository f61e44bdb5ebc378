"""`GET /api/inbox`: every open question and every floor that waits for whoever asks, over all their sessions."""

from starlette.requests import Request
from starlette.responses import Response

from moot.app import App
from moot.gateway.documents import InboxDocument
from moot.gateway.guard import principal_of
from moot.gateway.replies import Json, wanted_language


class Inbox:
    def __init__(self, app: App) -> None:
        self._app = app

    async def list_items(self, request: Request) -> Response:
        items = await self._app.waiting.list_items(principal_of(request.scope), wanted_language(request))
        return Json(InboxDocument(items=items))
