"""Checks in front of every request: an allowed Host and Origin, and a token where the path is not public.

docs/server.md#who-may-do-what describes the rules for users.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from moot.core.session.principal import Principal
from moot.core.session.team import DEFAULT_LANGUAGE, Language
from moot.gateway.auth import CREDENTIALS, Tokens, TooManyTries, address_of, find_credentials
from moot.gateway.hosts import Hosts
from moot.gateway.metrics import Metrics
from moot.gateway.replies import error_language, explain, is_for_person, tell_not_found
from moot.protocol.protocol_errors import ProtocolError
from moot.protocol.worker_frames import PATH as WORKERS
from moot.runtime.peers import PeerCheck, is_on_this_machine

PRINCIPAL = "moot.principal"
PRIVATE = "private"  # the client's host of a request over the private socket; its port is the process
LOGIN_PATH = "/api/login"
PUBLIC_PATHS = {"/", "/healthz", "/readyz", LOGIN_PATH}
PUBLIC_FOLDERS = ("/static/", "/s/")
SOCKET_PATHS = {"/", "/ws", WORKERS}
SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types lit-html moot"
)
SECURITY_HEADERS: dict[bytes, bytes] = {
    b"content-security-policy": CSP.encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"cache-control": b"no-store",
}


def is_public(path: str) -> bool:
    return path in PUBLIC_PATHS or path.startswith(PUBLIC_FOLDERS)


def is_private(scope: Mapping[str, Any]) -> bool:
    """Whether a request came over the private socket, to which no browser and nobody on the network can connect."""
    return (scope.get("client") or ("",))[0] == PRIVATE


def principal_of(scope: Mapping[str, Any]) -> Principal:
    """Return the authenticated principal of a request that passed the guard; only for paths that are not public."""
    principal: Principal = scope[PRINCIPAL]
    return principal


def find_principal(scope: Mapping[str, Any]) -> Principal | None:
    """Return the authenticated principal of a request; None on a public path."""
    principal: Principal | None = scope.get(PRINCIPAL)
    return principal


class Guard:
    """ASGI middleware that lets only checked requests through to `inner` and adds security headers to responses."""

    def __init__(
        self, inner: ASGIApp, *, hosts: Hosts, tokens: Tokens, metrics: Metrics, language: Language = DEFAULT_LANGUAGE
    ) -> None:
        self._inner = inner
        self._hosts = hosts
        self._tokens = tokens
        self._metrics = metrics
        self._language = language
        self._peers = PeerCheck()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._hide_token(scope)
        if scope["type"] == "websocket":
            await self._guard_socket(scope, receive, send)
        elif scope["type"] == "http":
            await self._guard_request(scope, receive, _with_headers(send))

    async def _guard_socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        credentials = find_credentials(scope, self._tokens.cookie_name)
        if (
            scope["path"] in SOCKET_PATHS
            and self._is_ours(scope, needs_origin=credentials.kind == "login")
            and not await self._is_agent(scope)
        ):
            await self._inner(scope, receive, send)
            return
        await receive()
        await send({"type": "websocket.close", "code": 4403})  # before accepting: HTTP 403

    async def _guard_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._check(scope)
        needs_person = PRINCIPAL in scope or scope["path"] == LOGIN_PATH
        if refusal is None and needs_person and await self._is_agent(scope):
            refusal = ProtocolError("forbidden")
        if refusal is None:
            await self._inner(scope, receive, send)
            return
        language = error_language(Request(scope), self._language)
        is_stray = refusal.code == "unauthenticated" and is_for_person(scope)  # every page for people is public
        await (tell_not_found(language) if is_stray else explain(refusal, language))(scope, receive, send)

    def _check(self, scope: Scope) -> ProtocolError | None:
        """Return why a request is refused; None lets it in and puts its principal into the scope."""
        path: str = scope["path"]
        if not self._is_ours(scope, needs_origin=False):
            return ProtocolError("forbidden")
        if is_public(path):
            return None
        credentials = find_credentials(scope, self._tokens.cookie_name)
        try:
            principal = self._tokens.authenticate(credentials, address_of(scope))
        except TooManyTries:
            self._metrics.unauthenticated.inc()
            return ProtocolError("too_many_tries", retryable=True)
        if principal is None:
            self._metrics.unauthenticated.inc()
            return ProtocolError("unauthenticated")
        if principal.is_worker:
            self._metrics.forbidden.labels("worker").inc()
            return ProtocolError("forbidden")
        is_login = credentials.kind == "login"
        needs_origin = is_login and scope["method"] not in SAFE_METHODS
        if is_login and not self._is_same_origin(scope, needs_origin=needs_origin):
            self._metrics.forbidden.labels("cross_site").inc()
            return ProtocolError("forbidden")
        scope[PRINCIPAL] = principal
        return None

    async def _is_agent(self, scope: Scope) -> bool:
        """Whether an agent's program on this machine sends this. Whatever token it has, it is not a person."""
        peer, local = scope.get("client"), scope.get("server")
        is_agent: bool | None
        if peer and is_private(scope):
            is_agent = bool(peer[1]) and await asyncio.to_thread(self._peers.is_program, peer[1])
        elif not peer or not local or not is_on_this_machine(peer, local):
            return False
        else:
            is_agent = self._peers.find_known(peer, local)
            if is_agent is None:
                is_agent = await asyncio.to_thread(self._peers.find_out, peer, local)
        if is_agent:
            self._metrics.forbidden.labels("agent").inc()
        return is_agent

    def _is_ours(self, scope: Scope, *, needs_origin: bool) -> bool:
        hosts, origins = _values(scope, b"host"), _values(scope, b"origin")
        if is_private(scope):
            return not origins  # a browser sends one, and cannot get here
        if len(hosts) != 1 or not self._hosts.allows_host(hosts[0]):
            self._metrics.forbidden.labels("host").inc()
            return False
        if len(origins) > 1 or any(not self._hosts.allows_origin(origin) for origin in origins):
            self._metrics.forbidden.labels("origin").inc()
            return False
        if needs_origin and not origins:
            self._metrics.forbidden.labels("no_origin").inc()
            return False
        return True

    def _is_same_origin(self, scope: Scope, *, needs_origin: bool) -> bool:
        """Whether a request with a login comes from our page.

        Cookies ignore ports: the browser also sends ours from the pages of other servers on this host.
        """
        fetch_sites = _values(scope, b"sec-fetch-site")
        if fetch_sites:
            return fetch_sites == ["same-origin"] or (fetch_sites == ["none"] and not needs_origin)
        return bool(_values(scope, b"origin")) or not needs_origin

    def _hide_token(self, scope: Scope) -> None:
        """Move the token from the query to `scope[CREDENTIALS]`, in place, so that no log of URLs contains it."""
        if scope["type"] not in ("http", "websocket") or CREDENTIALS in scope:
            return
        credentials = find_credentials(scope, self._tokens.cookie_name)
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if any(name == "token" for name, _ in pairs):
            scope["query_string"] = urlencode([pair for pair in pairs if pair[0] != "token"]).encode()
        scope[CREDENTIALS] = credentials


def _values(scope: Scope, name: bytes) -> list[str]:
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    return [value.decode("latin-1") for key, value in headers if key == name]


def _with_headers(send: Send) -> Send:
    async def secured(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", []))
            present = {name.lower() for name, _ in headers}
            headers += [pair for pair in SECURITY_HEADERS.items() if pair[0] not in present]
            message["headers"] = headers
        await send(message)

    return secured
