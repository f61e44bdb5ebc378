"""A client's link to the server."""

from enum import StrEnum

from moot.core.fsm import machine


class State(StrEnum):
    DISCONNECTED = "DISCONNECTED"
    CONNECTING = "CONNECTING"
    CONNECTED = "CONNECTED"
    RECONNECTING = "RECONNECTING"


class Trigger(StrEnum):
    CONNECT = "connect"
    CONNECT_OK = "connect_ok"
    CONNECT_FAILED = "connect_failed"
    LINK_LOST = "link_lost"
    RECONNECT_OK = "reconnect_ok"
    RECONNECT_TIMEOUT = "reconnect_timeout"


S, T = State, Trigger

CONNECTION = machine(
    "connection",
    initial=S.DISCONNECTED,
    rows=[
        (S.DISCONNECTED, T.CONNECT, S.CONNECTING),
        (S.CONNECTING, T.CONNECT_OK, S.CONNECTED),
        (S.CONNECTING, T.CONNECT_FAILED, S.RECONNECTING),
        (S.CONNECTED, T.LINK_LOST, S.RECONNECTING),
        (S.RECONNECTING, T.RECONNECT_OK, S.CONNECTED),
        (S.RECONNECTING, T.RECONNECT_TIMEOUT, S.DISCONNECTED),
    ],
)
