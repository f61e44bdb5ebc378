"""Logging in: a browser exchanges its token for a login, which the server keeps (docs/server.md#logins)."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from moot.core.errors import NotFound
from moot.core.session.principal import Principal
from moot.core.text import clean
from moot.gateway.auth import Credentials, Tokens, TooManyTries, address_of
from moot.gateway.bodies import read_text
from moot.gateway.bounds import Bounds
from moot.gateway.documents import LoginDocument, LoginEntry, NewLoginDocument
from moot.gateway.guard import principal_of
from moot.gateway.login_file import IDLE_S, LoginRecord
from moot.gateway.metrics import Metrics
from moot.gateway.replies import Json
from moot.protocol.protocol_errors import ProtocolError
from moot.protocol.strict_json import read_object

BODY_BYTES = 4096


class Logins:
    """The operations `/api/login`, `/api/me`, `/api/logout` and `/api/logins`."""

    def __init__(self, tokens: Tokens, metrics: Metrics, bounds: Bounds, close_login: Callable[[str], None]) -> None:
        self._tokens = tokens
        self._metrics = metrics
        self._bounds = bounds
        self._close_login = close_login

    async def login(self, request: Request) -> Response:
        """Exchange a token for a login: a cookie, and a secret in the body that the page keeps."""
        token = read_object(await read_text(request, BODY_BYTES)).get("token")
        if not isinstance(token, str):
            raise ProtocolError("bad_field", detail="token")
        try:
            principal = self._tokens.authenticate(Credentials("bearer", token), address_of(request.scope))
        except TooManyTries:
            self._metrics.unauthenticated.inc()
            raise ProtocolError("too_many_tries", retryable=True) from None
        if principal is None:
            self._metrics.unauthenticated.inc()
            raise ProtocolError("unauthenticated")
        self._bounds.take_message(principal)  # on a public path nobody has counted it yet
        new = self._tokens.login(principal, clean(request.headers.get("user-agent", "")))
        document = NewLoginDocument(
            role=principal.role,
            session_id=principal.session_id,
            member=principal.member,
            login_id=new.record.login_id,
            secret=new.secret,
        )
        response = Json(document)
        response.set_cookie(
            self._tokens.cookie_name,
            new.cookie,
            max_age=int(IDLE_S),
            path="/",
            httponly=True,
            samesite="strict",
            secure=request.headers.get("origin", "").startswith("https://"),  # behind a proxy with TLS
        )
        return response

    async def who(self, request: Request) -> Response:
        """Describe the principal of this request; a reloaded page asks what it may do."""
        principal = principal_of(request.scope)
        return Json(
            LoginDocument(
                role=principal.role,
                session_id=principal.session_id,
                member=principal.member,
                login_id=principal.login_id,
            )
        )

    async def logout(self, request: Request) -> Response:
        """End the login of this request, and what it has open. Other clients of the token stay connected."""
        login_id = principal_of(request.scope).login_id
        if login_id:
            self._end(login_id)
        response = Response(status_code=204)
        response.delete_cookie(self._tokens.cookie_name, path="/", httponly=True, samesite="strict")
        return response

    async def list_logins(self, request: Request) -> Response:
        """List the logins of the principal's token; owners see those of all tokens."""
        principal = principal_of(request.scope)
        return Json([_describe(login, principal) for login in self._visible(principal)])

    async def end_login(self, request: Request) -> Response:
        login_id: str = request.path_params["login_id"]
        if login_id not in [login.login_id for login in self._visible(principal_of(request.scope))]:
            raise NotFound("no such login")
        self._end(login_id)
        return Response(status_code=204)

    def _visible(self, principal: Principal) -> list[LoginRecord]:
        return self._tokens.logins.list(None if principal.may_create else principal.token_id)

    def _end(self, login_id: str) -> None:
        self._tokens.logins.end(login_id)
        self._close_login(login_id)


def _describe(login: LoginRecord, principal: Principal) -> LoginEntry:
    return LoginEntry(
        login_id=login.login_id,
        token_id=login.token_id,
        created_at=login.created_at,
        last_used_at=login.last_used_at,
        ends_at=login.ends_at,
        agent=login.agent,
        is_this=login.login_id == principal.login_id,
    )
