"""The settings and bounds of the server (docs/server.md#bounds)."""

from msgspec import Struct


class GatewaySettings(Struct, frozen=True, kw_only=True):
    host: str = "127.0.0.1"
    port: int = 8765
    frame_bytes: int = 256 * 1024  # largest frame from a client
    messages_per_s: float = 20.0  # of a connection, and of all that a principal sends; see bounds.py for owners
    message_burst: int = 40
    reads_per_s: float = 50.0  # requests of a principal that change nothing
    read_burst: int = 200
    bytes_per_s: float = 2 * 1024 * 1024.0  # that a principal sends
    byte_burst: int = 16 * 1024 * 1024
    page_bytes: int = 4 * 1024 * 1024  # a page of the log ends with the event that reaches this size
    rate_strikes: int = 3  # messages above the rate that are refused before the connection is closed with 4429
    connections_per_user: int = 8  # WebSockets, event streams, exports and uploads of a principal together
    connections_of_owner: int = 32
    connections: int = 200  # of all principals
    sessions_per_connection: int = 100
    lag_events: int = 1_000  # a client that is further behind and does not read is closed with 4408
    lag_bytes: int = 1024 * 1024
    send_timeout_s: float = 9.5  # so that a stalled reader is closed within 10 s
    heartbeat_s: float = 30.0
    ping_s: float = 20.0
    ping_timeout_s: float = 20.0
    shutdown_s: float = 8.0  # to close the connections of clients; then the process ends
    window_events: int = 1_000  # of every followed session, kept in memory for fast replay
