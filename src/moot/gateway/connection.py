"""One WebSocket client: does what its frames ask for."""

import hashlib
import secrets

from moot import __version__
from moot.app import App
from moot.core.codec import Head
from moot.core.errors import MootError, NotFound
from moot.core.events import SessionCreated
from moot.core.team import Language
from moot.gateway.auth import Tokens
from moot.gateway.feeds import Feeds
from moot.gateway.metrics import Metrics
from moot.gateway.outbox import Cursor, Deliver, Outbox
from moot.gateway.principal import Principal
from moot.gateway.rate import TokenBucket
from moot.gateway.settings import GatewaySettings
from moot.gateway.speaking import check_speaker
from moot.gateway.state_export import export_state, restore_place
from moot.protocol.errors import ProtocolError, as_protocol_error
from moot.protocol.frames import error_frame, unlogged
from moot.protocol.server import (
    Acknowledge,
    Asked,
    ChangeLanguage,
    Create,
    Export,
    Follow,
    Ignore,
    Restore,
    ServerHalf,
    Submit,
    greet,
    resume,
)
from moot.runtime.ports import Clock, CommandKey

ACK_COST = 0.1  # of a message


class Surroundings:
    """What all connections of a server share."""

    def __init__(
        self, app: App, feeds: Feeds, tokens: Tokens, metrics: Metrics, settings: GatewaySettings, clock: Clock
    ) -> None:
        self.app = app
        self.feeds = feeds
        self.tokens = tokens
        self.metrics = metrics
        self.settings = settings
        self.clock = clock


class TooManyMessages(Exception):
    """The client was told to slow down and did not."""


class Connection:
    """Reads for one client; its outbox writes."""

    def __init__(
        self,
        around: Surroundings,
        principal: Principal,
        deliver: Deliver,
        *,
        language: Language | None,
        takes_batches: bool,
    ) -> None:
        self.id = f"c_{secrets.token_hex(6)}"
        self.principal = principal
        self.outbox = Outbox(around.app.log, deliver, takes_batches=takes_batches, ended=self._session_ended)
        self._around = around
        self._half = ServerHalf(principal.member, language)
        settings = around.settings
        self._bucket = TokenBucket(settings.messages_per_s, settings.message_burst, around.clock.monotonic)
        self._strikes = 0

    def greet(self) -> None:
        settings = self._around.settings
        limits = {
            "frame_bytes": settings.frame_bytes,
            "messages_per_s": settings.messages_per_s,
            "message_burst": settings.message_burst,
            "lag_events": settings.lag_events,
        }
        self.outbox.answer(
            greet(
                self._around.clock.now(),
                connection_id=self.id,
                version=__version__,
                heartbeat_s=settings.heartbeat_s,
                limits=limits,
            )
        )

    def beat(self) -> None:
        self.outbox.answer(unlogged("system.heartbeat", self._around.clock.now()))

    def leave(self) -> None:
        for cursor in self.outbox.cursors.values():
            self._around.feeds.leave(cursor.feed, self.outbox)

    async def receive(self, text: str) -> None:
        """Do what a text asks for; whatever is wrong with it becomes an error frame. Raises TooManyMessages."""
        self._around.metrics.frames_received.inc()
        asked = Asked(request=Ignore())
        try:
            self._check_rate(text)
            asked = self._half.understand(text)
            await self._obey(asked)
        except MootError as error:
            self._explain(as_protocol_error(error), asked)

    def _check_rate(self, text: str) -> None:
        if self._bucket.take(ACK_COST if '"user.ack"' in text[:100] else 1.0):
            return
        self._strikes += 1
        settings = self._around.settings
        if self._strikes > settings.rate_strikes:
            raise TooManyMessages
        raise ProtocolError("rate_limited", retryable=True, limit=int(settings.messages_per_s))

    def _explain(self, error: ProtocolError, asked: Asked) -> None:
        self._around.metrics.commands_refused.labels(error.code).inc()
        self.outbox.answer(
            error_frame(
                error,
                self._around.clock.now(),
                self._half.language or "en",
                session_id=asked.session_id,
                command_id=asked.command_id,
            )
        )

    async def _obey(self, asked: Asked) -> None:
        match asked.request:
            case Submit() as request:
                await self._submit(request, asked.command_id)
            case Acknowledge():
                pass  # the pure half has noted it; acks delete nothing
            case Ignore():
                self._around.metrics.ignored_acks.inc()
            case Create() as request:
                await self._create(request, asked.command_id)
            case Follow() as request:
                await self._follow(request)
            case Restore(signed_state=signed_state):
                await self._restore(signed_state)
            case Export(session_id=session_id):
                await self._export(session_id)
            case ChangeLanguage(language=language):
                self._change_language(language)
                self._accept(asked.command_id, None, 0)

    async def _submit(self, request: Submit, command_id: str | None) -> None:
        session_id = request.session_id
        self._check_readable(session_id)
        session = await self._around.app.session(session_id)
        check_speaker(self.principal, session_id, request.command, (await session.state()).team)
        key = CommandKey(command_id, hashlib.sha256(request.body).hexdigest()) if command_id else None
        receipt = await session.submit(request.command, key)
        self._around.metrics.commands_accepted.inc()
        self._accept(command_id, session_id, receipt.seq)

    async def _create(self, request: Create, command_id: str | None) -> None:
        if not self.principal.may_create:
            raise ProtocolError("forbidden")
        app = self._around.app
        if request.team is not None and all(team.name != request.team for team in app.teams):
            known = tuple(team.name for team in app.teams)
            raise ProtocolError("unknown_team", detail=request.team[:80], available=known)
        once = f"{self.principal.token_id}/{command_id}" if command_id else None
        session = await app.session(team=request.team, title=request.title, once=once)
        await self._attach(session.id, 0)
        self._accept(command_id, session.id, 1)

    async def _follow(self, request: Follow) -> None:
        session_id = request.session_id
        self._check_readable(session_id)
        head = await self._around.app.log.head(session_id)
        resumption = resume(request, head, await self._hash_at(session_id, request.after, head))
        self._around.metrics.resumes.labels(resumption.told.get("reason", "resumed")).inc()
        told = {"session_id": session_id, **resumption.told}
        self.outbox.answer(unlogged("system.connected", self._around.clock.now(), session_id=session_id, metadata=told))
        await self._attach(session_id, resumption.after)

    async def _restore(self, signed_state: str) -> None:
        place = restore_place(self._around.tokens, signed_state)
        self._check_readable(place.session_id)
        await self._around.app.log.head(place.session_id)  # NotFound before anything is said
        metadata = {"session_id": place.session_id, "seq": place.seq, "hash": place.hash}
        now = self._around.clock.now()
        self.outbox.answer(unlogged("agent.state_restored", now, session_id=place.session_id, metadata=metadata))
        await self._follow(Follow(session_id=place.session_id, after=place.seq, checksum=place.hash))

    async def _export(self, session_id: str) -> None:
        self._check_readable(session_id)
        engine = await self._around.app.sessions.open(session_id)
        state, head = await engine.current()
        now = self._around.clock.now()
        self.outbox.answer(export_state(self._around.tokens, session_id, state, head, now))

    async def _attach(self, session_id: str, after: int) -> None:
        """Follow a session from `after`, instead of wherever this connection followed it from."""
        cursors, limit = self.outbox.cursors, self._around.settings.sessions_per_connection
        old = cursors.pop(session_id, None)
        if old:
            self._around.feeds.leave(old.feed, self.outbox)
        elif len(cursors) >= limit:
            raise ProtocolError("too_many_sessions", limit=limit)
        language = self._half.language or await self._session_language(session_id)
        feed = await self._around.feeds.join(session_id, self.outbox)
        cursor = Cursor(feed, after, language)
        self._half.attach(session_id, cursor)
        self.outbox.follow(cursor)

    async def _session_language(self, session_id: str) -> Language:
        [created] = await self._around.app.log.read(session_id, 0, 1)
        return created.fact.language if isinstance(created.fact, SessionCreated) else "en"

    async def _hash_at(self, session_id: str, seq: int | None, head: Head) -> str | None:
        if seq is None or not 0 < seq <= head.seq:
            return None
        if seq == head.seq:
            return head.hash
        return (await self._around.app.log.read(session_id, seq - 1, 1))[0].hash

    def _change_language(self, language: Language) -> None:
        self._half.language = language
        for cursor in self.outbox.cursors.values():
            cursor.language = language

    def _check_readable(self, session_id: str) -> None:
        """A session that may not be read is as good as none."""
        if not self.principal.may_read(session_id):
            raise NotFound(session_id)

    def _accept(self, command_id: str | None, session_id: str | None, seq: int) -> None:
        if command_id is None:
            return
        metadata = {"command_id": command_id, "seq": seq}
        now = self._around.clock.now()
        self.outbox.answer(unlogged("system.accepted", now, session_id=session_id, metadata=metadata))

    def _session_ended(self, cursor: Cursor) -> None:
        """Removed, or damaged: there is nothing more to follow."""
        self._around.feeds.leave(cursor.feed, self.outbox)
        gone = Asked(request=Ignore(), session_id=cursor.feed.session_id)
        self._explain(ProtocolError("not_found"), gone)
