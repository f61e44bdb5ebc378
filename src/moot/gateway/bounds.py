"""What a principal, and all of them together, may use at a time. Every transport asks here.

WebSocket connections, server-sent events, exports, uploads and long answers count together as streams. Messages, reads
and bytes are limited by a rate, over all of a principal's connections and requests. An owner's token is often shared by
several programs and browsers of one person, so it may use more.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

from starlette.types import Scope

from moot.core.bucket import Bucket
from moot.core.session.principal import Principal, Role
from moot.gateway.guard import principal_of
from moot.gateway.settings import GatewaySettings
from moot.protocol.protocol_errors import ProtocolError
from moot.runtime.ports import Clock

OWNER_FACTOR = 4  # how many times the rates of others an owner may use
ACK_COST = 0.1  # an ack counts as a tenth of a message
PLACES = "moot.places"  # in the scope of a request: what it holds until its answer is sent
HOLDS = "moot.holds"  # in the scope of a request that counts as a stream: it does so once


class Allowance:
    """The rates of one principal."""

    def __init__(self, settings: GatewaySettings, factor: int, now: float) -> None:
        self.messages = Bucket(settings.messages_per_s * factor, settings.message_burst * factor, now)
        self.reads = Bucket(settings.reads_per_s * factor, settings.read_burst * factor, now)
        self.bytes = Bucket(settings.bytes_per_s * factor, settings.byte_burst * factor, now)


class Bounds:
    """The bounds of one server."""

    def __init__(self, settings: GatewaySettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._allowances: dict[str, Allowance] = {}  # by token id, so bounded by the number of tokens
        self._streams: Counter[str] = Counter()  # by token id
        self._exporting: set[str] = set()  # token ids

    @contextmanager
    def stream(self, principal: Principal) -> Iterator[None]:
        """Count a stream for as long as the block runs.

        Raises ProtocolError `server_full` if there are too many in all, `too_many_streams` if the principal has.
        """
        token_id, limit = principal.token_id, self._settings.connections_per_user
        if principal.role is Role.OWNER:
            limit = max(limit, self._settings.connections_of_owner)
        if self._streams.total() >= self._settings.connections:
            raise ProtocolError("server_full", retryable=True, limit=self._settings.connections)
        if self._streams[token_id] >= limit:
            raise ProtocolError("too_many_streams", retryable=True, limit=limit)
        self._streams[token_id] += 1
        try:
            yield
        finally:
            self._streams[token_id] -= 1
            if not self._streams[token_id]:
                del self._streams[token_id]

    @contextmanager
    def export(self, principal: Principal) -> Iterator[None]:
        """Count an export: one at a time for each principal. Raises ProtocolError `export_running`."""
        token_id = principal.token_id
        if token_id in self._exporting:
            raise ProtocolError("export_running", retryable=True)
        with self.stream(principal):
            self._exporting.add(token_id)
            try:
                yield
            finally:
                self._exporting.discard(token_id)

    @contextmanager
    def request(self, scope: Scope) -> Iterator[None]:
        """Keep what the request holds (`hold`, `hold_export`) until the block ends: until its answer is sent."""
        with ExitStack() as places:
            scope[PLACES] = places
            yield

    def hold(self, scope: Scope) -> None:
        """Count a request as a stream until its answer is sent: the answer takes its time or is in memory so long."""
        self._hold(scope, self.stream(principal_of(scope)))

    def hold_export(self, scope: Scope) -> None:
        """Count a request as an export until its answer is sent."""
        self._hold(scope, self.export(principal_of(scope)))

    def _hold(self, scope: Scope, place: AbstractContextManager[None]) -> None:
        if HOLDS not in scope:
            scope[PLACES].enter_context(place)
            scope[HOLDS] = True

    def take_message(self, principal: Principal, cost: float = 1.0) -> None:
        """Count a message. Raises ProtocolError `rate_limited`."""
        if not self._of(principal).messages.take(self._clock.monotonic(), cost):
            raise ProtocolError("rate_limited", retryable=True, limit=int(self._settings.messages_per_s))

    def take_read(self, principal: Principal) -> None:
        """Count a request that changes nothing. Raises ProtocolError `rate_limited`."""
        if not self._of(principal).reads.take(self._clock.monotonic()):
            raise ProtocolError("rate_limited", retryable=True, limit=int(self._settings.reads_per_s))

    def take_bytes(self, principal: Principal, size: int) -> None:
        """Count bytes that the principal has sent. Raises ProtocolError `too_many_bytes`."""
        if not self._of(principal).bytes.take(self._clock.monotonic(), size):
            raise ProtocolError("too_many_bytes", retryable=True, limit=int(self._settings.bytes_per_s))

    def _of(self, principal: Principal) -> Allowance:
        allowance = self._allowances.get(principal.token_id)
        if allowance is None:
            factor = OWNER_FACTOR if principal.role is Role.OWNER else 1
            allowance = Allowance(self._settings, factor, self._clock.monotonic())
            self._allowances[principal.token_id] = allowance
        return allowance
