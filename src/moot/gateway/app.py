"""The ASGI application of the server: the guard in front of the REST routes, the page and the WebSocket endpoint."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from moot.app import App
from moot.core.errors import MootError, NotFound
from moot.core.machines.session import Status
from moot.gateway import openapi
from moot.gateway.auth import Tokens
from moot.gateway.bounds import Bounds
from moot.gateway.demo_operations import DemoOperations
from moot.gateway.diff_operations import ChangeOperations
from moot.gateway.documents import (
    ForkPlace,
    Frame,
    Health,
    InboxDocument,
    Login,
    LoginDocument,
    LoginEntry,
    MachineDocument,
    NewLoginDocument,
    NewSession,
    SessionDocument,
    SessionEntry,
    TeamDocument,
)
from moot.gateway.files import FileOperations
from moot.gateway.guard import SAFE_METHODS, Guard, find_principal, principal_of
from moot.gateway.hosts import Hosts
from moot.gateway.inbox import Inbox
from moot.gateway.logins import Logins
from moot.gateway.metrics import Metrics
from moot.gateway.operations import AFTER, COMMANDS, LANGUAGE, Operation, Parameter
from moot.gateway.page import Page
from moot.gateway.private import Holder, PrivateOperations
from moot.gateway.replies import (
    PIECE_BYTES,
    Json,
    error_language,
    explain,
    in_pieces,
    is_for_person,
    tell_not_found,
)
from moot.gateway.rest import SESSION, Rest
from moot.gateway.searching import SearchOperations
from moot.gateway.settings import GatewaySettings
from moot.gateway.sharing import LinkOperations
from moot.gateway.sse import Streams
from moot.gateway.team_sources import TeamSources
from moot.gateway.workers import WorkerEndpoint
from moot.protocol.protocol_errors import ProtocolError
from moot.protocol.worker_frames import PATH
from moot.runtime.cluster import ClusterStatus, Sample, cluster_of
from moot.runtime.ports import Log, Takeover

logger = logging.getLogger(__name__)

WATCH_S = 0.25  # how often to look for revoked tokens whose connections must be closed
LOGIN_WATCH_S = 60.0
COUNTED_S = 15.0


class Sockets(Protocol):
    """An ASGI application for WebSocket scopes that passed the guard."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...

    async def close(self) -> None:
        """Close every connection with 1012: the server stops."""

    def close_token(self, token_id: str) -> None:
        """Close the connections of a token that is no longer valid."""

    def close_login(self, login_id: str) -> None:
        """Close the connections of a login that has ended."""

    def open_logins(self) -> set[str]:
        """Return the logins that have connections."""

    def count(self) -> int:
        """Return how many connections are open."""


class Watch:
    """The operations for monitoring: `/healthz`, `/readyz` and `/metrics`."""

    def __init__(self, log: Log, metrics: Metrics) -> None:
        self._log = log
        self._metrics = metrics
        self._counted_until = 0.0  # what all servers report alike

    async def is_alive(self, request: Request) -> Response:  # noqa: ARG002 - one signature for all
        return Json(Health())

    async def is_ready(self, request: Request) -> Response:  # noqa: ARG002
        """Answer 200 if the log can be read and this server may act. Raises LogError if not."""
        cluster = cluster_of(self._log)
        if cluster:
            await cluster.check_ready()
        with suppress(NotFound):
            await self._log.head("not-a-session")
        return Json(Health())

    async def describe_cluster(self, request: Request) -> Response:
        """Return what an operator wants to know about all servers; owners only."""
        cluster = cluster_of(self._log)
        if cluster is None:
            raise ProtocolError("unknown_path")
        if not principal_of(request.scope).may_create:
            raise ProtocolError("forbidden")
        return Json(await cluster.read_status())

    async def metrics(self, request: Request) -> Response:
        """Return the counters of the whole server; a token for one session is not told about others."""
        if principal_of(request.scope).session_id is not None:
            raise ProtocolError("forbidden")
        cluster = cluster_of(self._log)
        if cluster is None:
            await self._count_sessions()
        else:
            self._metrics.of_node.latest = cluster.measure()
            if time.monotonic() >= self._counted_until:  # every server is asked, and all count the same
                self._counted_until = time.monotonic() + COUNTED_S
                await self._count_sessions()
                self._metrics.of_cluster.latest = _measure_all(await cluster.read_status())
        return Response(self._metrics.render(), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    async def _count_sessions(self) -> None:
        listings = await self._log.sessions()
        by_status = Counter(listing.summary.status for listing in listings)
        for status in Status:
            self._metrics.sessions.labels(status.value).set(by_status[status])
        self._metrics.events_logged.set(sum(listing.head.seq for listing in listings))


def _measure_all(status: ClusterStatus) -> list[Sample]:
    """What every server reports alike, because it is about all of them."""
    samples = [
        Sample("nodes", sum(node.lease_left_s > 0 for node in status.nodes)),
        Sample("due_sessions", status.due),
        Sample("unowned_due_sessions", status.unowned_due),
        Sample("notify_queue_usage", status.notify_queue_usage),
        Sample("oldest_transaction_seconds", status.oldest_transaction_s),
        Sample("sync_standbys", status.sync_standbys),
    ]
    for pool in status.pools:
        samples.append(Sample("workers", pool.workers, {"pool": pool.name}))
        samples.append(Sample("jobs", pool.waiting, {"pool": pool.name, "state": "offered"}))
        samples.append(Sample("jobs", pool.under_way, {"pool": pool.name, "state": "claimed"}))
    return samples


class Gateway:
    """Routes requests to their operations. `operations` is the table behind the routes and the OpenAPI document."""

    def __init__(
        self,
        app: App,
        tokens: Tokens,
        settings: GatewaySettings,
        metrics: Metrics,
        *,
        sockets: Sockets,
        hosts: Hosts,
        bounds: Bounds,
        holder: Holder | None = None,
    ) -> None:
        self._bounds = bounds
        self._tokens = tokens
        self._metrics = metrics
        self._sockets = sockets
        self._workers = WorkerEndpoint(app, tokens)
        self._streams = Streams()
        self._language = app.teams[0].language
        self._page = Page()
        self._logins = Logins(tokens, metrics, bounds, self.close_login)
        self._watch = Watch(app.log, metrics)
        self._rest = Rest(app, tokens, settings, metrics, self._streams, bounds)
        self._inbox = Inbox(app)
        self._changes = ChangeOperations(app, bounds)
        self._files = FileOperations(app, bounds)
        self._search = SearchOperations(app)
        self._links = LinkOperations(app, tokens)
        self._sources = TeamSources(app)
        self._demos = DemoOperations(app)
        self.operations = self._list_operations() + (PrivateOperations(holder).list_operations() if holder else [])
        self._document = openapi.describe(self.operations)
        self.router = Router(
            routes=list(self._make_routes(self.operations)), default=self._find_nothing, redirect_slashes=False
        )
        self._guard = Guard(self._route, hosts=hosts, tokens=tokens, metrics=metrics, language=self._language)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._guard(scope, receive, send)

    def close_token(self, token_id: str) -> None:
        """Close the connections and streams that were opened with a token that is no longer valid."""
        self._sockets.close_token(token_id)
        self._workers.close_token(token_id)
        self._streams.close_token(token_id)

    def close_login(self, login_id: str) -> None:
        """Close the connections and streams of a login that has ended; others of its token stay."""
        self._sockets.close_login(login_id)
        self._streams.close_login(login_id)

    async def watch_tokens(self) -> None:
        """Run for ever, closing what was opened with tokens and logins that have since ended."""
        clock = asyncio.get_running_loop().time
        next_look = clock()
        while True:
            for token_id in self._tokens.take_gone():
                self.close_token(token_id)
            if clock() >= next_look:
                next_look = clock() + LOGIN_WATCH_S
                self._watch_logins()
            await asyncio.sleep(WATCH_S)

    def _watch_logins(self) -> None:
        """A login is used while it has something open; it ends when it was idle for too long."""
        for login_id in self._sockets.open_logins() | self._streams.open_logins():
            self._tokens.logins.use(login_id)
        for login_id in self._tokens.take_gone_logins():
            self.close_login(login_id)

    async def close(self) -> None:
        """End all streams and close all sockets, because the server stops."""
        self._streams.close()
        await self._workers.close()
        await self._sockets.close()

    async def _route(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and scope["path"] == PATH:
            await self._workers(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._sockets(scope, receive, send)
        else:
            with self._bounds.request(scope):
                await self.router(scope, receive, in_pieces(send))

    def _list_operations(self) -> list[Operation]:
        return [
            *self._list_session_operations(),
            *self._list_log_operations(),
            *self._changes.list_operations(),
            *self._files.list_operations(),
            *self._search.list_operations(),
            *self._links.list_operations(),
            *self._sources.list_operations(),
            *self._demos.list_operations(),
            *self._list_other_operations(),
        ]

    def _list_session_operations(self) -> list[Operation]:
        rest = self._rest
        return [
            Operation(
                method="GET",
                path="/api/sessions",
                summary="The sessions you may read, the last active first",
                handler=rest.list_sessions,
                parameters=(
                    Parameter("removed", "1: those in the trash instead; owners only"),
                    Parameter("limit", "at most so many; never more than 200", int),
                    Parameter("before", "the header Moot-Next of the page before: go on behind it"),
                ),
                gives=list[SessionEntry],
            ),
            Operation(
                method="GET",
                path="/api/inbox",
                summary="What waits for you in the sessions you may read, oldest first",
                handler=self._inbox.list_items,
                gives=InboxDocument,
                parameters=(LANGUAGE,),
            ),
            Operation(
                method="POST",
                path="/api/sessions",
                summary="Start a session",
                handler=rest.create_session,
                takes=NewSession,
                gives=SessionDocument,
                status=201,
            ),
            Operation(
                method="GET",
                path=SESSION,
                summary="A session: its state, seq and hash",
                handler=rest.get_session,
                gives=SessionDocument,
                parameters=(Parameter("at", "a seq: as the session was after that event", int),),
            ),
            Operation(
                method="GET",
                path=f"{SESSION}/takeovers",
                summary="The commands that open members' conversations in their own programs; owners only",
                handler=rest.list_takeovers,
                gives=list[Takeover],
            ),
            *self._list_moving_operations(),
        ]

    def _list_moving_operations(self) -> list[Operation]:
        rest = self._rest
        return [
            Operation(
                method="DELETE",
                path=SESSION,
                summary="Move a session to the trash, where it is kept for 30 days; owners only",
                handler=rest.remove_session,
                parameters=(Parameter("forever", "1: delete it for good, from the trash or not"),),
                status=204,
            ),
            Operation(
                method="POST",
                path=f"{SESSION}/fork",
                summary="A new session that is the same until an event, with its files as recorded then; owners only",
                handler=rest.fork_session,
                takes=ForkPlace,
                gives=SessionDocument,
                status=201,
            ),
            Operation(
                method="POST",
                path=f"{SESSION}/restore",
                summary="Take a session out of the trash; owners only",
                handler=rest.restore_session,
                gives=SessionDocument,
            ),
        ]

    def _list_log_operations(self) -> list[Operation]:
        rest = self._rest
        limit = Parameter("limit", "at most so many events; never more than 1000", int)
        last_event_id = Parameter("Last-Event-ID", "a message's id, or a seq: go on behind it", place="header")
        return [
            Operation(
                method="GET",
                path=f"{SESSION}/export",
                summary="The session as one HTML file that needs no server",
                handler=rest.export,
                gives=str,
                parameters=(LANGUAGE,),
                media_type="text/html",
            ),
            Operation(
                method="GET",
                path=f"{SESSION}/events",
                summary="Frames of the log, in order",
                handler=rest.list_events,
                gives=list[Frame],
                parameters=(AFTER, limit, LANGUAGE),
            ),
            Operation(
                method="GET",
                path=f"{SESSION}/stream",
                summary="Server-sent events: history, then live; id is seq.hash, data the frame",
                handler=rest.stream,
                gives=str,
                parameters=(AFTER, LANGUAGE, last_event_id),
                media_type="text/event-stream",
            ),
            Operation(
                method="POST",
                path=f"{SESSION}/commands",
                summary="Send a user.* frame; exactly once with a command_id",
                handler=rest.post_command,
                takes=COMMANDS,
                gives=Frame,
                parameters=(LANGUAGE,),
            ),
        ]

    def _list_other_operations(self) -> list[Operation]:
        rest, watch, logins, page = self._rest, self._watch, self._logins, self._page
        operation = partial(Operation, method="GET")
        return [
            operation(path="/api/teams", summary="Teams", handler=rest.list_teams, gives=list[TeamDocument]),
            operation(
                path="/api/machines",
                summary="Every state machine, from its table",
                handler=rest.list_machines,
                gives=list[MachineDocument],
            ),
            operation(
                method="POST",
                path="/api/login",
                summary="Exchange a token for a login: a cookie, and a secret for the header Moot-Login",
                handler=logins.login,
                takes=Login,
                gives=NewLoginDocument,
            ),
            operation(
                path="/api/cluster",
                summary="The servers on a store that several machines share; owners only",
                handler=watch.describe_cluster,
                gives=ClusterStatus,
            ),
            operation(path="/api/me", summary="Who you are", handler=logins.who, gives=LoginDocument),
            operation(method="POST", path="/api/logout", summary="End this login", handler=logins.logout, status=204),
            operation(
                path="/api/logins",
                summary="The logins of your token, or all if you are an owner",
                handler=logins.list_logins,
                gives=list[LoginEntry],
            ),
            operation(
                method="DELETE",
                path="/api/logins/{login_id}",
                summary="End a login, and close what it has open",
                handler=logins.end_login,
                status=204,
            ),
            operation(path="/api/openapi.json", summary="This document", handler=self._describe, gives=dict[str, Any]),
            operation(path="/healthz", summary="The server runs", handler=watch.is_alive, gives=Health),
            operation(path="/readyz", summary="The log can be read", handler=watch.is_ready, gives=Health),
            operation(
                path="/metrics",
                summary="Counters for Prometheus",
                handler=watch.metrics,
                gives=str,
                media_type="text/plain",
            ),
            operation(path="/", summary="The page", handler=page.index, gives=str, media_type="text/html"),
            operation(path="/s/{session_id}", summary="The page, at a session", handler=page.index, in_schema=False),
            operation(path="/static/{path:path}", summary="Files of the page", handler=page.static, in_schema=False),
        ]

    def _make_routes(self, operations: Iterable[Operation]) -> Iterable[Route]:
        for operation in operations:
            endpoint = partial(self._answer, operation)
            yield Route(operation.path, endpoint, methods=[operation.method], name=operation.handler.__name__)

    async def _answer(self, operation: Operation, request: Request) -> Response:
        response = await self._try(operation, request)
        self._metrics.requests.labels(operation.path, str(response.status_code)).inc()
        return response

    async def _try(self, operation: Operation, request: Request) -> Response:
        try:
            self._count(request)
            response = await operation.handler(request)
            self._count_answer(request, response)
        except MootError as error:
            return explain(error, error_language(request, self._language))
        except ClientDisconnect:
            return Response(status_code=400)  # never sent: the client has disconnected
        except Exception:  # a fault of this program is answered like any other error
            logger.exception("%s %s failed", operation.method, operation.path)
            return explain(ProtocolError("internal", retryable=True), error_language(request, self._language))
        return response

    def _count_answer(self, request: Request, response: Response) -> None:
        """Count a long answer, which is in memory until its client has taken it. Raises ProtocolError."""
        if len(getattr(response, "body", b"")) > PIECE_BYTES and find_principal(request.scope):
            self._bounds.hold(request.scope)

    def _count(self, request: Request) -> None:
        """Count a request of a principal. Raises ProtocolError if there are too many."""
        principal = find_principal(request.scope)
        if principal is None:
            return  # a public path
        if request.method in SAFE_METHODS:
            self._bounds.take_read(principal)
        else:
            self._bounds.take_message(principal)

    async def _describe(self, request: Request) -> Response:  # noqa: ARG002 - one signature for all
        return Json(self._document)

    async def _find_nothing(self, scope: Scope, receive: Receive, send: Send) -> None:
        language = error_language(Request(scope), self._language)
        response = (
            tell_not_found(language) if is_for_person(scope) else explain(ProtocolError("unknown_path"), language)
        )
        await response(scope, receive, send)
