"""Logging in: a browser exchanges its token for a cookie that scripts cannot read."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from moot.core.session.principal import Principal
from moot.gateway.auth import COOKIE, Tokens
from moot.gateway.bodies import read_text
from moot.gateway.documents import LoginDocument
from moot.gateway.guard import principal_of
from moot.gateway.metrics import Metrics
from moot.gateway.replies import Json
from moot.protocol.errors import ProtocolError
from moot.protocol.strict_json import read_object

BODY_BYTES = 4096
LIFETIME_S = 30 * 24 * 3600


class Logins:
    """The operations `/api/login`, `/api/me` and `/api/logout`."""

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
            raise ProtocolError("unauthenticated")
        response = Json(_describe(principal))
        response.set_cookie(
            COOKIE,
            self._tokens.login(principal),
            max_age=LIFETIME_S,
            path="/",
            httponly=True,
            samesite="strict",
            secure=request.headers.get("origin", "").startswith("https://"),  # behind a proxy with TLS
        )
        return response

    async def who(self, request: Request) -> Response:
        """Describe the principal of this request; a reloaded page asks what it may do."""
        return Json(_describe(principal_of(request.scope)))

    async def logout(self, request: Request) -> Response:
        """Delete the cookie and close the connections of its token; other holders of the token just reconnect."""
        self._close_token(principal_of(request.scope).token_id)
        response = Response(status_code=204)
        response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
        return response


def _describe(principal: Principal) -> LoginDocument:
    return LoginDocument(role=principal.role, session_id=principal.session_id, member=principal.member)
