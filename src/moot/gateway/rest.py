"""REST: sessions for programs that do not hold a connection (docs/server.md#rest)."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from moot.app import App, Session
from moot.core.codec import frame
from moot.core.errors import MootError, NotFound
from moot.core.machines.catalogue import MACHINES, describe
from moot.core.session.events import SessionCreated
from moot.core.session.team import DEFAULT_LANGUAGE, Language
from moot.core.view import project
from moot.gateway.auth import Tokens
from moot.gateway.bodies import convert, identify_command, read_number, read_text
from moot.gateway.bounds import Bounds
from moot.gateway.documents import ForkPlace, NewSession, SessionDocument, describe_listing, describe_team
from moot.gateway.exports import export
from moot.gateway.guard import principal_of
from moot.gateway.metrics import Metrics
from moot.gateway.replies import Json, error_language, explain, wanted_language
from moot.gateway.settings import GatewaySettings
from moot.gateway.sse import HASH_CHARS, EventStream, Streams, read_cursor
from moot.gateway.state_export import export_state, find_hash
from moot.gateway.team_sources import find_file, may_edit
from moot.protocol.command_table import MAX_SEQ, SESSION_ID, Ack, ClientFrame, RequestState, read_command, read_frame
from moot.protocol.frames import unlogged
from moot.protocol.protocol_errors import ProtocolError, as_protocol_error
from moot.protocol.server import Follow, resume
from moot.protocol.strict_json import read_object
from moot.runtime.clock import SystemClock
from moot.runtime.copying import fork_session
from moot.runtime.ports import Clock
from moot.runtime.snapshots import load_state

SESSION = "/api/sessions/{session_id}"
PAGE_EVENTS = 1_000
READ_EVENTS = 200  # at a time
LISTED = 200  # sessions on a page of the list
REMEMBERED = 1_000  # sessions whose language is remembered
BACKSTOP_S = 1.0  # added to the timeout of streams, so that the server's own timeout for slow readers fires first


class Rest:
    """The operations on sessions, teams and machines."""

    def __init__(
        self,
        app: App,
        tokens: Tokens,
        settings: GatewaySettings,
        metrics: Metrics,
        streams: Streams,
        bounds: Bounds,
        clock: Clock | None = None,
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._settings = settings
        self._metrics = metrics
        self._streams = streams
        self._clock = clock or SystemClock()
        self._bounds = bounds
        self._languages: dict[str, tuple[int, Language]] = {}  # by session: its head, and the language there

    async def list_teams(self, request: Request) -> Response:
        """List the teams on offer; a token for one session sees the team of that session alone."""
        session_id = principal_of(request.scope).session_id
        teams = self._app.teams
        if session_id is not None:
            name = await self._find_team(session_id)
            teams = [team for team in teams if team.name == name]
        may = may_edit(request.scope)
        files = {team.name: find_file(self._app, team.name) if may else None for team in teams}
        return Json([describe_team(team, may_read=may, has_file=files[team.name] is not None) for team in teams])

    async def _find_team(self, session_id: str) -> str | None:
        try:
            created = (await self._app.log.read(session_id, 0, 1))[0].fact
        except NotFound:
            return None
        return created.team if isinstance(created, SessionCreated) else None

    async def list_machines(self, request: Request) -> Response:  # noqa: ARG002 - one signature for all
        return Json([describe(machine) for machine in MACHINES])

    async def list_sessions(self, request: Request) -> Response:
        """List a page of sessions. The header `Moot-Next` is the `before` of the next page, if there is one."""
        principal = principal_of(request.scope)
        limit = min(read_number(request, "limit", LISTED, "bad_field", MAX_SEQ), LISTED)
        is_removed = request.query_params.get("removed") == "1"
        if is_removed and not principal.may_create:
            raise ProtocolError("forbidden")
        before = request.query_params.get("before")
        if principal.session_id is not None:
            listings = [each for each in await self._app.sessions.listings() if principal.may_read(each.session_id)]
        elif is_removed:
            listings = await self._app.log.list_page(limit + 1, before=before, removed=True)
        else:
            listings = await self._app.sessions.list_page(limit + 1, before=before)
        page = listings[:limit]
        headers = {"moot-next": page[-1].place} if page and len(page) < len(listings) else None
        return Json([describe_listing(listing, principal) for listing in page], headers=headers)

    async def create_session(self, request: Request) -> Response:
        principal = principal_of(request.scope)
        if not principal.may_create:
            raise ProtocolError("forbidden")
        body = convert(read_object(await self._read_body(request)), NewSession)
        names = tuple(team.name for team in self._app.teams)
        if body.team is not None and body.team not in names:
            raise ProtocolError("unknown_team", detail=body.team[:80], available=names)
        once = f"{principal.token_id}/{body.command_id}" if body.command_id else None
        session = await self._app.session(team=body.team, title=body.title, once=once)
        return await self._describe(request, session.id, 201)

    async def get_session(self, request: Request) -> Response:
        """Return a session as it is now or, with `?at=`, as it was after that event."""
        session_id = readable_session(request)
        if "at" not in request.query_params:
            return await self._describe(request, session_id, 200)
        at = read_number(request, "at", MAX_SEQ, "bad_cursor", MAX_SEQ) or 1
        self._bounds.hold(request.scope)  # it folds the log from its beginning
        return await self._describe(request, session_id, 200, at)

    async def list_takeovers(self, request: Request) -> Response:
        """Return the commands that open members' conversations; only owners are told where on this machine they are."""
        return Json(await self._app.list_takeovers(self._session_to_move(request)))

    async def list_events(self, request: Request) -> Response:
        """Return the same bytes as over WebSocket and SSE, so that a client can check the hash chain."""
        session_id = readable_session(request)
        after = read_number(request, "after", 0, "bad_cursor", MAX_SEQ)
        limit = min(read_number(request, "limit", PAGE_EVENTS, "bad_field", MAX_SEQ), PAGE_EVENTS)
        self._bounds.hold(request.scope)  # a page has up to 4 MiB
        language = wanted_language(request) or await self._language_of(session_id)
        frames: list[bytes] = []
        size = 0
        while len(frames) < limit and size < self._settings.page_bytes:
            events = await self._app.log.read(session_id, after + len(frames), min(READ_EVENTS, limit - len(frames)))
            if not events:
                break
            for event in events:
                frames.append(frame(event, language))
                size += len(frames[-1])
                if size >= self._settings.page_bytes:  # the client asks for the rest
                    break
        return Json(b"[%b]" % b",".join(frames))

    async def export(self, request: Request) -> Response:
        """Return the whole session as one HTML file that needs no server."""
        session_id = readable_session(request)
        await self._app.log.head(session_id)  # raises NotFound before the answer has begun
        self._bounds.hold_export(request.scope)
        return export(self._app.log, session_id, wanted_language(request))

    async def remove_session(self, request: Request) -> Response:
        """Move a session to the trash or delete it for good. Its followers get `not_found`."""
        session_id = self._session_to_move(request)
        if request.query_params.get("forever") == "1":
            await self._app.sessions.delete(session_id)
        else:
            await self._app.log.head(session_id)  # raises NotFound before its engine is stopped
            await self._app.sessions.remove(session_id)
        return Response(status_code=204)

    async def restore_session(self, request: Request) -> Response:
        """Take a session out of the trash; interrupted work continues."""
        session_id = self._session_to_move(request)
        await self._app.log.restore(session_id)
        await self._app.recover()
        return await self._describe(request, session_id, 200)

    async def fork_session(self, request: Request) -> Response:
        """Copy a session up to an event, with its files as they were recorded then. What was going on there goes on."""
        session_id = self._session_to_move(request)
        wanted = convert(read_object(await self._read_body(request)), ForkPlace)
        head = await self._app.log.head(session_id)
        if wanted.at is not None and wanted.at > head.seq:
            raise ProtocolError("bad_field", detail="at")
        at = wanted.at or head.seq
        recorded = await self._app.changes.find_recorded(session_id, at)
        copy = await fork_session(self._app.log, session_id, at, lambda: None)
        await self._app.changes.fork(session_id, copy, recorded)
        if project := self._app.find_project(await self._find_team(session_id) or ""):
            await self._app.log.set_project(copy, project)
        await self._app.recover()
        return await self._describe(request, copy, 201)

    def _session_to_move(self, request: Request) -> str:
        session_id = readable_session(request)
        principal = principal_of(request.scope)
        if not principal.may_create:
            raise ProtocolError("forbidden")
        return session_id

    async def stream(self, request: Request) -> Response:
        session_id = readable_session(request)
        head = await self._app.log.head(session_id)
        after, checksum = read_cursor(request, session_id)
        language = wanted_language(request) or await self._language_of(session_id)
        our_hash = await find_hash(self._app.log, session_id, after, head)
        follow = Follow(session_id=session_id, after=after, checksum=checksum)
        resumption = resume(follow, head, our_hash and our_hash[:HASH_CHARS])
        notice: str | None = None
        if not resumption.metadata["resumed"]:
            metadata = {"session_id": session_id, **resumption.metadata}
            notice = unlogged("system.connected", self._clock.now(), session_id=session_id, metadata=metadata)
            self._metrics.resumed(resumption.metadata["reason"])
        self._bounds.hold(request.scope)
        self._metrics.replays.inc()
        return EventStream(
            self._app.log,
            session_id,
            resumption.after,
            language,
            streams=self._streams,
            principal=principal_of(request.scope),
            metrics=self._metrics,
            send_timeout_s=self._settings.send_timeout_s + BACKSTOP_S,
            notice=notice,
        )

    async def post_command(self, request: Request) -> Response:
        """Submit a command. It is durable once this answers 200; a refusal names the session and the command id."""
        session_id = readable_session(request)
        command_frame = read_frame(await self._read_body(request))
        self._metrics.frames_received.inc()
        await self._app.log.head(session_id)  # raises NotFound before anything else is checked
        session = await self._app.session(session_id)
        state = await session.state()
        command_id: str | None = None
        try:
            command_id = command_frame.command_id
            return await self._obey(request, session, command_frame, command_id)
        except MootError as error:
            self._metrics.refused(as_protocol_error(error).code)
            language = error_language(request, state.language)
            return explain(error, language, session_id=session_id, command_id=command_id)

    async def _obey(
        self, request: Request, session: Session, command_frame: ClientFrame, command_id: str | None
    ) -> Response:
        if command_frame.session_id not in (None, session.id):
            raise ProtocolError("bad_field", detail="session_id (another one stands in the address)")
        if command_frame.event == RequestState.event:
            return await self._export(request, session.id)
        if command_frame.event == Ack.event:
            return self._accept(session.id, command_id, await self._read_ack(session.id, command_frame))
        principal = principal_of(request.scope)
        command = read_command(command_frame, principal)
        receipt = await session.submit(command, identify_command(principal, command_id, command_frame.digest_source()))
        self._metrics.commands_accepted.inc()
        return self._accept(session.id, command_id, receipt.seq)

    async def _export(self, request: Request, session_id: str) -> Response:
        state, head = await load_state(self._app.log, session_id)
        language = wanted_language(request)
        return Json(export_state(self._tokens, session_id, state, head, language, self._clock.now()).encode())

    async def _read_ack(self, session_id: str, ack: ClientFrame) -> int:
        """Check an ack, which has no effect without a connection, and return the seq of the head."""
        cursor = ack.content if type(ack.content) is int else ack.cursor
        head = await self._app.log.head(session_id)
        if cursor is None or not 0 <= cursor <= head.seq:
            self._metrics.ignored_acks.inc()
        return head.seq

    def _accept(self, session_id: str, command_id: str | None, seq: int) -> Response:
        metadata: dict[str, Any] = {"seq": seq} if command_id is None else {"command_id": command_id, "seq": seq}
        return Json(unlogged("system.accepted", self._clock.now(), session_id=session_id, metadata=metadata).encode())

    async def _describe(self, request: Request, session_id: str, status: int, at: int = MAX_SEQ) -> Response:
        """Describe a session from its log alone: opening it would start its agents."""
        state, head = await load_state(self._app.log, session_id, at)
        view = project(state, wanted_language(request))
        document = SessionDocument(session_id=session_id, seq=head.seq, hash=head.hash, state=view)
        return Json(document, status, {"location": f"/api/sessions/{session_id}"})

    async def _language_of(self, session_id: str) -> Language:
        """Return the language of a session. It is remembered until the session goes on: a page must not fold it all."""
        head = await self._app.log.head(session_id)
        seq, language = self._languages.get(session_id, (0, DEFAULT_LANGUAGE))
        if seq != head.seq:
            state, head = await load_state(self._app.log, session_id)
            if len(self._languages) >= REMEMBERED:
                self._languages.clear()
            self._languages[session_id] = head.seq, state.language
            language = state.language
        return language

    async def _read_body(self, request: Request) -> str:
        body = await read_text(request, self._settings.frame_bytes)
        self._bounds.take_bytes(principal_of(request.scope), len(body))
        return body


def readable_session(request: Request) -> str:
    """Return the session id in the path. Raises NotFound if it is malformed or a session of others."""
    session_id: str = request.path_params["session_id"]
    if not SESSION_ID.fullmatch(session_id) or not principal_of(request.scope).may_read(session_id):
        raise NotFound("no such session")
    return session_id
