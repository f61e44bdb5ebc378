"""REST: the sessions for programs that do not hold a connection (spec/6: REST)."""

import hashlib
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from moot.app import App, Session
from moot.core.codec import frame
from moot.core.errors import MootError, NotFound
from moot.core.machines.catalogue import MACHINES, describe
from moot.core.state import State
from moot.core.team import Language
from moot.gateway.auth import Tokens
from moot.gateway.bodies import read_number, read_text
from moot.gateway.documents import NewSession, SessionDocument, describe_listing, describe_team
from moot.gateway.guard import principal_of
from moot.gateway.metrics import Metrics
from moot.gateway.principal import Principal
from moot.gateway.rate import TokenBucket
from moot.gateway.replies import Json, error_language, explain, wanted_language
from moot.gateway.settings import GatewaySettings
from moot.gateway.speaking import check_speaker
from moot.gateway.sse import EventStream, Streams, check_cursor, read_cursor
from moot.gateway.state_export import export_state
from moot.protocol.errors import ProtocolError, as_protocol_error
from moot.protocol.frames import MAX_SEQ, SESSION_ID, ClientFrame, read_frame, to_command, unlogged
from moot.protocol.one_file import to_html
from moot.protocol.strict_json import read_object
from moot.runtime.clock import SystemClock
from moot.runtime.ports import Clock, CommandKey
from moot.runtime.snapshots import load_state

PAGE_EVENTS = 1_000
BACKSTOP_S = 1.0  # the server's own timeout for slow readers comes first


class Rest:
    def __init__(
        self,
        app: App,
        tokens: Tokens,
        settings: GatewaySettings,
        metrics: Metrics,
        streams: Streams,
        clock: Clock | None = None,
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._settings = settings
        self._metrics = metrics
        self._streams = streams
        self._clock = clock or SystemClock()
        self._buckets: dict[str, TokenBucket] = {}  # by token id: as many as there are tokens

    async def list_teams(self, request: Request) -> Response:  # noqa: ARG002 - one signature for all
        return Json([describe_team(team) for team in self._app.teams])

    async def list_machines(self, request: Request) -> Response:  # noqa: ARG002
        return Json([describe(machine) for machine in MACHINES])

    async def list_sessions(self, request: Request) -> Response:
        principal = principal_of(request.scope)
        if request.query_params.get("removed") == "1":
            if not principal.may_create:
                raise ProtocolError("forbidden")
            return Json([describe_listing(each) for each in await self._app.log.sessions(removed=True)])
        listings = await self._app.sessions.listings()
        return Json([describe_listing(each) for each in listings if principal.may_read(each.session_id)])

    async def create_session(self, request: Request) -> Response:
        principal = principal_of(request.scope)
        if not principal.may_create:
            raise ProtocolError("forbidden")
        self._check_rate(principal)
        wanted = _convert(read_object(await read_text(request, self._settings.frame_bytes)))
        names = tuple(team.name for team in self._app.teams)
        if wanted.team is not None and wanted.team not in names:
            raise ProtocolError("unknown_team", detail=wanted.team[:80], available=names)
        once = f"{principal.token_id}/{wanted.command_id}" if wanted.command_id else None
        session = await self._app.session(team=wanted.team, title=wanted.title, once=once)
        return await self._describe(session.id, 201)

    async def get_session(self, request: Request) -> Response:
        """As it is, or as it was after an event."""
        session_id = _readable_session(request)
        return await self._describe(session_id, 200, read_number(request, "at", MAX_SEQ, "bad_cursor", MAX_SEQ) or 1)

    async def list_events(self, request: Request) -> Response:
        """The frames as they are sent everywhere, byte for byte: a client can check the hash chain."""
        session_id = _readable_session(request)
        after = read_number(request, "after", 0, "bad_cursor", MAX_SEQ)
        limit = min(read_number(request, "limit", PAGE_EVENTS, "bad_field", MAX_SEQ), PAGE_EVENTS)
        events = await self._app.log.read(session_id, after, limit) if limit else []
        language = wanted_language(request) or await self._language_of(session_id)
        return Json(b"[%b]" % b",".join([frame(event, language) for event in events]))

    async def export(self, request: Request) -> Response:
        """The whole session as a file that needs no server."""
        session_id = _readable_session(request)
        language = wanted_language(request) or await self._language_of(session_id)
        frames: list[dict[str, Any]] = []
        while events := await self._app.log.read(session_id, len(frames), PAGE_EVENTS):
            frames += [msgspec.json.decode(frame(event, language)) for event in events]
        name = f'attachment; filename="moot-{session_id}.html"'
        return Response(to_html(frames, language), media_type="text/html", headers={"content-disposition": name})

    async def remove_session(self, request: Request) -> Response:
        """To the trash, or for good; whoever follows it is told that it is gone."""
        session_id = self._session_to_move(request)
        if request.query_params.get("forever") == "1":
            await self._app.sessions.delete(session_id)
        else:
            await self._app.log.head(session_id)  # NotFound, before anything is parked
            await self._app.sessions.remove(session_id)
        return Response(status_code=204)

    async def restore_session(self, request: Request) -> Response:
        """As it was; what was under way goes on."""
        session_id = self._session_to_move(request)
        await self._app.log.restore(session_id)
        await self._app.recover()
        return await self._describe(session_id, 200)

    def _session_to_move(self, request: Request) -> str:
        session_id = _readable_session(request)
        principal = principal_of(request.scope)
        if not principal.may_create:
            raise ProtocolError("forbidden")
        self._check_rate(principal)
        return session_id

    async def stream(self, request: Request) -> Response:
        session_id = _readable_session(request)
        head = await self._app.log.head(session_id)
        after = read_cursor(request, session_id)
        check_cursor(after, head.seq)
        language = wanted_language(request) or await self._language_of(session_id)
        self._metrics.replays.inc()
        return EventStream(
            self._app.log,
            session_id,
            after,
            language,
            streams=self._streams,
            token_id=principal_of(request.scope).token_id,
            metrics=self._metrics,
            send_timeout_s=self._settings.send_timeout_s + BACKSTOP_S,
        )

    async def post_command(self, request: Request) -> Response:
        """Durable when it is answered with 200; what is refused names the session and the command id."""
        session_id = _readable_session(request)
        self._check_rate(principal_of(request.scope))
        asked = read_frame(await read_text(request, self._settings.frame_bytes))
        self._metrics.frames_received.inc()
        await self._app.log.head(session_id)  # NotFound before anything else is looked at
        session = await self._app.session(session_id)
        state = await session.state()
        command_id: str | None = None
        try:
            command_id = asked.command_id
            return await self._obey(request, session, state, asked, command_id)
        except MootError as error:
            self._metrics.refused(as_protocol_error(error).code)
            language = error_language(request, state.language)
            return explain(error, language, session_id=session_id, command_id=command_id)

    async def _obey(
        self, request: Request, session: Session, state: State, asked: ClientFrame, command_id: str | None
    ) -> Response:
        if asked.session_id not in (None, session.id):
            raise ProtocolError("bad_field", detail="session_id (another one stands in the address)")
        if asked.event == "user.request_state":
            return await self._export(session.id)
        if asked.event == "user.ack":
            return self._accept(session.id, command_id, await self._read_ack(session.id, asked))
        principal = principal_of(request.scope)
        command = to_command(asked, principal.member)
        check_speaker(principal, session.id, command, state.team)
        key = CommandKey(command_id, hashlib.sha256(asked.digest_source()).hexdigest()) if command_id else None
        receipt = await session.submit(command, key)
        self._metrics.commands_accepted.inc()
        return self._accept(session.id, command_id, receipt.seq)

    async def _export(self, session_id: str) -> Response:
        state, head = await load_state(self._app.log, session_id)
        return Json(export_state(self._tokens, session_id, state, head, self._clock.now()).encode())

    async def _read_ack(self, session_id: str, asked: ClientFrame) -> int:
        """Without a connection there is nothing that an ack could move; it is checked and answered all the same."""
        cursor = asked.content if type(asked.content) is int else asked.cursor
        head = await self._app.log.head(session_id)
        if cursor is None or not 0 <= cursor <= head.seq:
            self._metrics.ignored_acks.inc()
        return head.seq

    def _accept(self, session_id: str, command_id: str | None, seq: int) -> Response:
        metadata: dict[str, Any] = {"seq": seq} if command_id is None else {"command_id": command_id, "seq": seq}
        return Json(unlogged("system.accepted", self._clock.now(), session_id=session_id, metadata=metadata).encode())

    async def _describe(self, session_id: str, status: int, at: int = MAX_SEQ) -> Response:
        """Read from the log: looking at a session must not set its agents to work."""
        state, head = await load_state(self._app.log, session_id, at)
        document = SessionDocument(session_id=session_id, seq=head.seq, hash=head.hash, state=state)
        return Json(document, status, {"location": f"/api/sessions/{session_id}"})

    async def _language_of(self, session_id: str) -> Language:
        state, _ = await load_state(self._app.log, session_id)
        return state.language

    def _check_rate(self, principal: Principal) -> None:
        settings = self._settings
        bucket = self._buckets.get(principal.token_id)
        if bucket is None:
            bucket = TokenBucket(settings.messages_per_s, settings.message_burst, self._clock.monotonic)
            self._buckets[principal.token_id] = bucket
        if not bucket.take():
            raise ProtocolError("rate_limited", retryable=True, limit=int(settings.messages_per_s))


def _readable_session(request: Request) -> str:
    """The id in the path. Malformed, unknown and foreign are one and the same answer."""
    session_id: str = request.path_params["session_id"]
    if not SESSION_ID.fullmatch(session_id) or not principal_of(request.scope).may_read(session_id):
        raise NotFound("no such session")
    return session_id


def _convert(body: dict[str, Any]) -> NewSession:
    try:
        return msgspec.convert(body, NewSession)
    except msgspec.ValidationError as error:
        raise ProtocolError("bad_field", detail=str(error)) from None
