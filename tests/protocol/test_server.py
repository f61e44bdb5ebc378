"""The server's half of a connection, without sockets: what frames ask for, where replays start, which acks count."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.codec import Head
from moot.core.session.commands import End, Post
from moot.protocol.command_table import ChangeLanguage, Create, Watch
from moot.protocol.protocol_errors import ProtocolError
from moot.protocol.server import (
    Acknowledge,
    Export,
    Follow,
    Ignore,
    Request,
    Restore,
    ServerHalf,
    Submit,
    resume,
)
from tests.protocol.test_frames import ALICE, frames

A, B = "s_aaaaaaaaaaaaaaaa", "s_bbbbbbbbbbbbbbbb"
HASH, OTHER = "a" * 64, "b" * 64


class At:
    def __init__(self, seq: int) -> None:
        self.seq = seq


def half(**followed: int) -> ServerHalf:
    """A connection that follows these sessions, the last one last."""
    made = ServerHalf(ALICE, None)
    for session_id, seq in followed.items():
        made.attach(session_id, At(seq))
    return made


def ask(connection: ServerHalf, event: str, **fields: Any) -> Request:
    return connection.understand(json.dumps({"event": event, **fields})).request


UNDERSTOOD: list[tuple[str, dict[str, Any], Request]] = [
    ("user.create_session", {}, Create(team=None, title="")),
    ("user.create_session", {"content": {"team": "t", "title": "x"}}, Create(team="t", title="x")),
    ("user.set_language", {"content": "zh"}, ChangeLanguage(language="zh")),
    ("user.set_language", {"metadata": {"language": "en"}}, ChangeLanguage(language="en")),
    ("user.watch", {"what": "sessions"}, Watch(what="sessions", on=True)),
    ("user.watch", {"content": {"what": "sessions", "on": False}}, Watch(what="sessions", on=False)),
    ("user.reconnect", {"session_id": B}, Follow(session_id=B)),
    ("user.reconnect", {}, Follow(session_id=A)),
    ("user.reconnect_with_state", {"last_seq": 0}, Follow(session_id=A, after=0)),
    (
        "user.reconnect_with_state",
        {"session_id": B, "last_seq": 4, "state_checksum": HASH},
        Follow(session_id=B, after=4, checksum=HASH),
    ),
    ("user.reconnect_with_state", {"last_seq": 4, "state_checksum": 5}, Follow(session_id=A, after=4, checksum="5")),
    ("user.reconnect_with_state", {"last_event_id": f"{A}-7"}, Follow(session_id=A, after=7)),
    ("user.reconnect_with_state", {"signed_state": "x.y"}, Restore(signed_state="x.y")),
    (
        "user.reconnect_with_state",
        {"signed_state": "x.y", "session_id": B, "last_seq": 3, "state_checksum": HASH},
        Restore(signed_state="x.y", session_id=B, after=3, checksum=HASH),
    ),
    ("user.request_state", {}, Export(session_id=A)),
]
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("user.create_session", {"team": 5}, "bad_field"),
    ("user.set_language", {"language": "fr"}, "bad_field"),
    ("user.set_language", {}, "bad_field"),
    ("user.reconnect", {"session_id": "../x"}, "not_found"),
    ("user.reconnect_with_state", {}, "bad_cursor"),
    ("user.reconnect_with_state", {"state_checksum": HASH}, "bad_cursor"),
    ("user.reconnect_with_state", {"last_event_id": f"{B}-7"}, "bad_cursor"),
    ("user.reconnect_with_state", {"signed_state": "x.y", "last_seq": -1}, "bad_cursor"),
    ("user.reconnect_with_state", {"signed_state": 5}, "bad_field"),
    ("user.response", {}, "missing_step_id"),
    ("user.message", {"protocol": 2, "content": "hi"}, "upgrade_required"),
]


@pytest.mark.parametrize(("event", "fields", "request_"), UNDERSTOOD)
def test_what_frames_ask_for(event: str, fields: dict[str, Any], request_: Request) -> None:
    """Each frame asks for one thing; without a session_id the last followed is meant."""
    assert ask(half(**{A: 9}), event, **fields) == request_


@pytest.mark.parametrize(("event", "fields", "code"), REFUSED)
def test_what_is_refused(event: str, fields: dict[str, Any], code: str) -> None:
    """Errors have stable codes and name the command."""
    with pytest.raises(ProtocolError) as refused:
        ask(half(**{A: 9}), event, command_id="c", **fields)
    assert (refused.value.code, refused.value.command_id) == (code, "c")


@pytest.mark.parametrize("event", ["user.message", "user.reconnect", "user.request_state", "user.end"])
def test_no_session_is_meant(event: str) -> None:
    """Before anything is followed a frame must name its session."""
    with pytest.raises(ProtocolError) as refused:
        ask(half(), event, content="hi")
    assert refused.value.code == "missing_session"


def test_commands_are_the_connections_own() -> None:
    """Who speaks is whom the token stands for, not whom the frame names."""
    request = ask(half(**{A: 1, B: 1}), "user.message", content="hi", by="eve", metadata={"by": "eve"})
    assert isinstance(request, Submit)
    assert (request.session_id, request.command) == (B, Post(text="hi", by="alice", principal=ALICE))
    request = ask(half(**{A: 1, B: 1}), "user.end", session_id=A)
    assert isinstance(request, Submit)
    assert (request.session_id, request.command) == (A, End(by="alice", principal=ALICE))


def test_refusals_know_their_session() -> None:
    """A session's refusal is agent.error with its id; the connection's own is system.error without."""
    cases: list[tuple[str, dict[str, Any], str | None]] = [
        ("user.response", {}, A),
        ("user.reconnect_with_state", {}, A),
        ("user.message", {"protocol": 2}, None),
        ("user.fly", {}, None),
        ("user.reconnect", {"session_id": "?"}, None),
    ]
    for event, fields, session_id in cases:
        with pytest.raises(ProtocolError) as refused:
            ask(half(**{A: 1}), event, **fields)
        assert refused.value.session_id == session_id


def test_acks_are_monotone() -> None:
    """An ack counts once, forwards, and not beyond what was sent."""
    connection = half(**{A: 10})
    asked = [ask(connection, "user.ack", last_seq=seq) for seq in (3, 3, 2, 11, 0, 10, 10)]
    kept = [request.seq for request in asked if isinstance(request, Acknowledge)]
    assert kept == [3, 10]
    assert sum(isinstance(request, Ignore) for request in asked) == 5


@pytest.mark.parametrize(
    ("fields", "acked"),
    [
        ({"last_seq": 1}, (B, 1)),
        ({"last_event_id": f"{A}-2"}, (A, 2)),
        ({"session_id": A, "last_seq": 2}, (A, 2)),
        ({"content": 1}, (B, 1)),
        ({"session_id": A, "content": 2}, (A, 2)),
        ({"content": {"last_event_id": f"{A}-1"}}, (A, 1)),
        ({"session_id": A, "last_event_id": f"{B}-1"}, None),
        ({"last_event_id": "s_cccccccccccccccc-1"}, None),
        ({"session_id": "?", "last_seq": 1}, None),
        ({"last_seq": "1"}, None),
        ({"last_seq": None, "content": {"last_seq": 1}}, None),
        ({}, None),
    ],
)
def test_whose_ack_it_is(fields: dict[str, Any], acked: tuple[str, int] | None) -> None:
    """An ack is for the session it names, else that of its event_id, else the last followed; never an error."""
    request = ask(half(**{A: 2, B: 1}), "user.ack", **fields)
    expected = Acknowledge(session_id=acked[0], seq=acked[1]) if acked else Ignore()
    assert request == expected


@pytest.mark.parametrize(
    ("after", "checksum", "start", "reason"),
    [
        (None, None, 0, "full_history"),
        (0, None, 0, None),
        (0, OTHER, 0, None),
        (4, None, 4, None),
        (4, HASH, 4, None),
        (10, HASH, 10, None),
        (10, None, 10, None),
        (4, OTHER, 0, "diverged"),
        (4, "", 0, "diverged"),
        (10, HASH.upper(), 0, "diverged"),
        (11, HASH, 0, "ahead"),
        (11, None, 0, "ahead"),
    ],
)
def test_where_a_replay_starts(after: int | None, checksum: str | None, start: int, reason: str | None) -> None:
    """Behind the cursor when our histories agree there; else from the start, and it is said."""
    resumption = resume(Follow(session_id=A, after=after, checksum=checksum), Head(10, HASH), HASH)
    assert resumption.after == start
    assert resumption.metadata["from"] == start + 1
    assert resumption.metadata["resumed"] is (reason is None)
    assert resumption.metadata.get("reason") == reason


@given(st.text() | frames.map(json.dumps))
@settings(max_examples=400)
def test_any_text_at_all(text: str) -> None:
    """A request or ProtocolError, never anything else; what is understood is for a session that was named."""
    with suppress(ProtocolError):
        asked = half(**{A: 5}).understand(text)
        assert not isinstance(asked.request, Submit) or asked.session_id == asked.request.session_id
