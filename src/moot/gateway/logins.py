"""Logging in: a browser exchanges its token for a cookie that scripts cannot read (E60)."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from moot.gateway.auth import COOKIE, Tokens
from moot.gateway.bodies import read_text
from moot.gateway.documents import LoginDocument
from moot.gateway.guard import principal_of
from moot.gateway.metrics import Metrics
from moot.gateway.replies import HttpError, Json
from moot.protocol.errors import ProtocolError
from moot.protocol.strict_json import read_object

BODY_BYTES = 4096
LIFETIME_S = 30 * 24 * 3600


class Logins:
    def __init__(self, tokens: Tokens, metrics: Metrics, close_token: Callable[[str], None]) -> None:
        self._tokens = tokens
        self._metrics = metrics
        self._close_token = close_token

    async def login(self, request: Request) -> Response:
        token = read_object(await read_text(request, BODY_BYTES)).get("token")
        if not isinstance(token, str):
            raise ProtocolError("bad_field", detail="token")
        principal = self._tokens.find(token)
        if principal is None:
            self._metrics.unauthenticated.inc()
            raise HttpError("unauthenticated")
        known = LoginDocument(role=principal.role, session_id=principal.session_id, member=principal.member)
        response = Json(known)
        response.set_cookie(
            COOKIE,
            self._tokens.login(principal),
            max_age=LIFETIME_S,
            path="/",
            httponly=True,
            samesite="strict",
            secure=request.headers.get("origin", "").startswith("https://"),  # a proxy in front speaks TLS
        )
        return response

    async def who(self, request: Request) -> Response:
        """Who the cookie or token of this request is for: a page that was loaded again must know what it may do."""
        principal = principal_of(request.scope)
        return Json(LoginDocument(role=principal.role, session_id=principal.session_id, member=principal.member))

    async def logout(self, request: Request) -> Response:
        """The cookie goes, and so do the connections of its token: whoever still holds it comes back by itself."""
        self._close_token(principal_of(request.scope).token_id)
        response = Response(status_code=204)
        response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
        return response
