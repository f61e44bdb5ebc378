"""The settings and bounds of the server (docs/server.md#bounds)."""

from msgspec import Struct


class GatewaySettings(Struct, frozen=True, kw_only=True):
    host: str = "127.0.0.1"
    port: int = 8765
    frame_bytes: int = 256 * 1024  # largest frame from a client
    messages_per_s: float = 20.0
    message_burst: int = 40
    rate_strikes: int = 3  # messages above the rate that are refused before the connection is closed with 4429
    connections_per_user: int = 8
    connections: int = 200
    sessions_per_connection: int = 100
    lag_events: int = 1_000  # a client that is further behind and does not read is closed with 4408
    lag_bytes: int = 1024 * 1024
    send_timeout_s: float = 9.5  # so that a stalled reader is closed within 10 s
    heartbeat_s: float = 30.0
    ping_s: float = 20.0
    ping_timeout_s: float = 20.0
    shutdown_s: float = 8.0  # to close the connections of clients; then the process ends
    window_events: int = 1_000  # of every followed session, kept in memory for fast replay
