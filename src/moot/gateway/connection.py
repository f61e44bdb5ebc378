"""One WebSocket client: carries out the requests in its frames."""

import secrets
from typing import NamedTuple

from moot import __version__
from moot.app import App
from moot.core.bucket import Bucket
from moot.core.errors import MootError, NotFound
from moot.core.session.events import SessionCreated
from moot.core.session.principal import Principal
from moot.core.session.team import DEFAULT_LANGUAGE, Language
from moot.gateway.auth import Tokens
from moot.gateway.bodies import identify_command
from moot.gateway.bounds import ACK_COST, Bounds
from moot.gateway.feeds import Feeds
from moot.gateway.metrics import Metrics
from moot.gateway.outbox import Cursor, Deliver, Outbox, TryWrite
from moot.gateway.settings import GatewaySettings
from moot.gateway.state_export import export_state, find_hash, restore_place
from moot.gateway.watching import SessionsWatch
from moot.protocol.command_table import ChangeLanguage, Create, Watch
from moot.protocol.frames import error_frame, unlogged
from moot.protocol.protocol_errors import ProtocolError, as_protocol_error
from moot.protocol.server import (
    Acknowledge,
    Asked,
    Export,
    Follow,
    Ignore,
    Restore,
    ServerHalf,
    Submit,
    greet,
    resume,
)
from moot.runtime.ports import Clock


class ServerContext:
    """What all connections of a server share."""

    def __init__(
        self,
        app: App,
        feeds: Feeds,
        tokens: Tokens,
        metrics: Metrics,
        settings: GatewaySettings,
        clock: Clock,
        bounds: Bounds,
    ) -> None:
        self.app = app
        self.feeds = feeds
        self.tokens = tokens
        self.metrics = metrics
        self.settings = settings
        self.clock = clock
        self.bounds = bounds
        self.watch = SessionsWatch(app, clock)


class TooManyMessages(Exception):
    """The client kept sending too fast after `rate_strikes` warnings."""


class Done(NamedTuple):
    """The result of a request that was carried out, for `system.accepted`."""

    session_id: str | None = None
    seq: int = 0


class Connection:
    """Handles the incoming frames of one client; everything for the client goes through `outbox`."""

    def __init__(
        self,
        context: ServerContext,
        principal: Principal,
        try_write: TryWrite,
        deliver: Deliver,
        *,
        language: Language | None,
        takes_batches: bool,
        wants_views: bool,
    ) -> None:
        self.id = f"c_{secrets.token_hex(6)}"
        self.principal = principal
        self.outbox = Outbox(
            context.app.log, try_write, deliver, takes_batches=takes_batches, ended=self._session_ended
        )
        self._context = context
        self._wants_views = wants_views
        self._half = ServerHalf(principal, language)
        settings = context.settings
        self._bucket = Bucket(settings.messages_per_s, settings.message_burst, context.clock.monotonic())
        self._strikes = 0

    def greet(self) -> None:
        """Send the first frame: `system.connected` with the connection id, the version and the limits."""
        settings = self._context.settings
        limits = {
            "frame_bytes": settings.frame_bytes,
            "messages_per_s": settings.messages_per_s,
            "message_burst": settings.message_burst,
            "lag_events": settings.lag_events,
        }
        self.outbox.answer(
            greet(
                self._context.clock.now(),
                connection_id=self.id,
                version=__version__,
                heartbeat_s=settings.heartbeat_s,
                limits=limits,
            )
        )

    def leave(self) -> None:
        """Stop following and watching, because the connection is over."""
        self._context.watch.stop(self.outbox)
        for cursor in self.outbox.cursors.values():
            self._context.feeds.leave(cursor.feed, self.outbox)

    async def receive(self, text: str) -> None:
        """Carry out the request in one message of the client; a refusal is answered with an error frame.

        Raises TooManyMessages when the connection is to be closed.
        """
        self._context.metrics.frames_received.inc()
        await self.outbox.has_room()
        asked = Asked(request=Ignore())
        try:
            asked = self._understand(text)
            done = await self._obey(asked)
        except MootError as error:
            refusal = as_protocol_error(error)
            self._explain(refusal, refusal.session_id or asked.session_id, refusal.command_id or asked.command_id)
        else:
            if asked.command_id is not None:
                self._accept(asked.command_id, done)

    def _understand(self, text: str) -> Asked:
        """Read a message and count it, also one that cannot be read."""
        try:
            asked = self._half.understand(text)
        except ProtocolError:
            self._check_rate(None, len(text))
            raise
        try:
            self._check_rate(asked, len(text))
        except ProtocolError as error:
            error.session_id, error.command_id = asked.session_id, asked.command_id
            raise
        return asked

    def _check_rate(self, asked: Asked | None, size: int) -> None:
        """Count a message, `None` if it could not be understood. Only what is an ack is cheap, not what looks like one.

        A connection that is too fast by itself is closed in the end; one whose principal is, over all connections, is
        only refused.
        """
        cost = ACK_COST if asked and isinstance(asked.request, Acknowledge | Ignore) else 1.0
        context, settings = self._context, self._context.settings
        if not self._bucket.take(context.clock.monotonic(), cost):
            self._strikes += 1
            if self._strikes > settings.rate_strikes:
                raise TooManyMessages
            raise ProtocolError("rate_limited", retryable=True, limit=int(settings.messages_per_s))
        context.bounds.take_message(self.principal, cost)
        context.bounds.take_bytes(self.principal, size)

    def _explain(self, error: ProtocolError, session_id: str | None, command_id: str | None) -> None:
        self._context.metrics.refused(error.code)
        now, language = self._context.clock.now(), self._half.language or DEFAULT_LANGUAGE
        self.outbox.answer(error_frame(error, now, language, session_id=session_id, command_id=command_id))

    def _accept(self, command_id: str, done: Done) -> None:
        metadata = {"command_id": command_id, "seq": done.seq}
        now = self._context.clock.now()
        self.outbox.answer(unlogged("system.accepted", now, session_id=done.session_id, metadata=metadata))

    async def _obey(self, asked: Asked) -> Done:
        match asked.request:
            case Submit() as request:
                return await self._submit(request, asked.command_id)
            case Acknowledge(session_id=session_id, seq=seq):
                return Done(session_id, seq)  # the protocol half has recorded it; an ack deletes nothing
            case Ignore():
                self._context.metrics.ignored_acks.inc()
                return Done()
            case Create() as request:
                return await self._create(request, asked.command_id)
            case Follow() as request:
                return await self._follow(request)
            case Restore() as request:
                return await self._restore(request)
            case Export(session_id=session_id):
                return await self._export(session_id)
            case ChangeLanguage(language=language):
                self._change_language(language)
                return Done()
            case Watch(on=is_on):
                await self._watch(is_on=is_on)
                return Done()

    async def _submit(self, request: Submit, command_id: str | None) -> Done:
        session_id = request.session_id
        self._check_readable(session_id)
        engine = await self._context.app.sessions.open(session_id)
        receipt = await engine.submit(request.command, identify_command(self.principal, command_id, request.body))
        self._context.metrics.commands_accepted.inc()
        return Done(session_id, receipt.seq)

    async def _create(self, request: Create, command_id: str | None) -> Done:
        if not self.principal.may_create:
            raise ProtocolError("forbidden")
        app = self._context.app
        if request.team is not None and all(team.name != request.team for team in app.teams):
            known = tuple(team.name for team in app.teams)
            raise ProtocolError("unknown_team", detail=request.team[:80], available=known)
        self._check_room()
        once = f"{self.principal.token_id}/{command_id}" if command_id else None
        session = await app.session(team=request.team, title=request.title, once=once)
        await self._attach(session.id, 0)
        return Done(session.id, 1)

    async def _follow(self, request: Follow, *first_frames: str) -> Done:
        """Follow a session; `first_frames` are sent before `system.connected`."""
        session_id = request.session_id
        self._check_readable(session_id)
        head = await self._context.app.log.head(session_id)
        resumption = resume(request, head, await find_hash(self._context.app.log, session_id, request.after, head))
        metadata = {"session_id": session_id, **resumption.metadata}
        now = self._context.clock.now()
        connected = unlogged("system.connected", now, session_id=session_id, metadata=metadata)
        await self._attach(session_id, resumption.after, *first_frames, connected)
        self._context.metrics.resumed(resumption.metadata.get("reason", "resumed"))
        return Done(session_id, head.seq)

    async def _restore(self, request: Restore) -> Done:
        place = restore_place(self._context.tokens, request.signed_state)
        if request.session_id not in (None, place.session_id):
            raise ProtocolError("bad_signed_state")
        metadata = {"session_id": place.session_id, "seq": place.seq, "hash": place.hash}
        now = self._context.clock.now()
        restored = unlogged("agent.state_restored", now, session_id=place.session_id, metadata=metadata)
        follow = Follow(session_id=place.session_id, after=place.seq, checksum=place.hash)
        if request.after is not None:
            follow = Follow(session_id=place.session_id, after=request.after, checksum=request.checksum)
        return await self._follow(follow, restored)

    async def _export(self, session_id: str) -> Done:
        self._check_readable(session_id)
        engine = await self._context.app.sessions.open(session_id)
        state, head = await engine.current()
        now = self._context.clock.now()
        self.outbox.answer(export_state(self._context.tokens, session_id, state, head, self._half.language, now))
        return Done(session_id, head.seq)

    async def _attach(self, session_id: str, after: int, *first_frames: str) -> None:
        """Follow a session from `after`; a cursor that this connection has in the session already is replaced."""
        if session_id not in self.outbox.cursors:
            self._check_room()
        language = self._half.language or await self._session_language(session_id)
        feed = await self._context.feeds.join(session_id, self.outbox)
        cursor = Cursor(feed, after, language, wants_views=self._wants_views)
        self._half.attach(session_id, cursor)
        self.outbox.follow(cursor, *first_frames)

    def _check_room(self) -> None:
        limit = self._context.settings.sessions_per_connection
        if len(self.outbox.cursors) >= limit:
            raise ProtocolError("too_many_sessions", limit=limit)

    async def _session_language(self, session_id: str) -> Language:
        [created] = await self._context.app.log.read(session_id, 0, 1)
        return created.fact.language if isinstance(created.fact, SessionCreated) else DEFAULT_LANGUAGE

    def _change_language(self, language: Language) -> None:
        self._half.language = language
        for cursor in self.outbox.cursors.values():
            cursor.language = language

    async def _watch(self, *, is_on: bool) -> None:
        if is_on:
            await self._context.watch.start(self.principal, self.outbox)
        else:
            self._context.watch.stop(self.outbox)

    def _check_readable(self, session_id: str) -> None:
        """Raise NotFound also for a session of others: a client must not learn that it exists."""
        if not self.principal.may_read(session_id):
            raise NotFound(session_id)

    def _session_ended(self, cursor: Cursor, error: MootError) -> None:
        """Tell the client that a session it follows was removed or cannot be read."""
        self._context.feeds.leave(cursor.feed, self.outbox)
        self._explain(as_protocol_error(error), cursor.feed.session_id, None)
