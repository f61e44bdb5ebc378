"""The documents of the protocol are fresh, complete, and true of real frames."""

import json
from typing import Any

import pytest

from docs import draw_telling, draw_types
from docs.draw_protocol import FOLDER, draw
from moot.core.codec import Head
from moot.core.flows.registry import FACTS
from moot.protocol.command_table import COMMANDS
from moot.protocol.frames import UNLOGGED, error_frame, unlogged
from moot.protocol.protocol_errors import ProtocolError
from moot.protocol.schema import asyncapi, frame_schema
from moot.protocol.server import Follow, greet, resume
from tests.protocol.client_cases import CASES, GOLDEN
from tests.protocol.json_schema import problems, refs_of, resolve

AT = "2026-01-01T00:00:00.000Z"
SCHEMA = frame_schema()
FRAMES: list[dict[str, Any]] = [json.loads(line) for line in GOLDEN]
SENT = [frame for case in CASES for step in case["steps"] for frame in step.get("expect", {}).get("sent", ())]


@pytest.mark.parametrize("name", sorted(draw()))
def test_the_documents_are_fresh(name: str) -> None:
    """Schema and AsyncAPI are generated from the types; `make docs` writes them again."""
    assert (FOLDER / name).read_text(encoding="utf-8") == draw()[name]


def test_the_types_of_the_page_are_fresh() -> None:
    """The page's types of commands, frames and answers are made from the structs; `make docs` writes them again."""
    assert draw_types.FILE.read_text(encoding="utf-8") == draw_types.draw()


def test_the_page_tells_events_as_the_flows_do() -> None:
    """The page's table of rows and weights is made from the lines of the flows; `make docs` writes it again."""
    assert draw_telling.FILE.read_text(encoding="utf-8") == draw_telling.draw()


def test_the_lists_are_complete() -> None:
    """Every event that can be logged, said or sent is in the documents, in one of them only once."""
    events = [*(fact.event for fact in FACTS), *UNLOGGED, *COMMANDS]
    assert len(events) == len(set(events))
    assert {name for name in SCHEMA["$defs"] if "." in name} == set(events)
    assert set(asyncapi()["components"]["messages"]) == set(events)


@pytest.mark.parametrize("document", [SCHEMA, asyncapi()], ids=["schema", "asyncapi"])
def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    """A document that others generate code from has no dead ends."""
    for ref in refs_of(document):
        assert resolve(ref, document)


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: f"{frame['seq']}-{frame['event']}")
def test_logged_frames_fit(frame: dict[str, Any]) -> None:
    """What the encoder writes is what the schema says."""
    assert problems(frame, SCHEMA["$defs"][frame["event"]], SCHEMA) == []


def test_what_clients_send_fits() -> None:
    """The frames of the recorded cases are valid client frames."""
    assert len(SENT) > 30
    for frame in SENT:
        assert problems(frame, SCHEMA["$defs"]["client_frame"], SCHEMA) == [], frame


SAID = [
    greet(AT, connection_id="c_1", version="0.1.0", heartbeat_s=30.0, limits={"frame_bytes": 262_144}),
    unlogged(
        "system.connected", AT, metadata={"session_id": "s_1", **resume(Follow(session_id="s_1"), Head(), "").metadata}
    ),
    error_frame(ProtocolError("not_found"), AT, "en", session_id="s_1", command_id="c1"),
    error_frame(ProtocolError("bad_json", detail="x"), AT, "zh", session_id=None, command_id=None),
    unlogged("system.accepted", AT, session_id="s_1", metadata={"command_id": "c1", "seq": 3}),
    unlogged("system.heartbeat", AT),
    unlogged("turn.delta", AT, session_id="s_1", metadata={"turn_id": "t1", "text": "Hel"}),
    unlogged("solver.delta", AT, session_id="s_1", metadata={"turn_id": "d1", "text": "Hel"}),
    unlogged("turn.thinking", AT, session_id="s_1", metadata={"turn_id": "t1", "text": "So "}),
]


@pytest.mark.parametrize("text", SAID, ids=lambda text: json.loads(text)["event"])
def test_what_the_server_says_unlogged_fits(text: str) -> None:
    """Frames without seq are in the schema too."""
    said = json.loads(text)
    assert problems(said, SCHEMA["$defs"][said["event"]], SCHEMA) == []


@pytest.mark.parametrize(
    "change",
    [{"seq": 0}, {"seq": True}, {"hash": "x"}, {"timeline": "lunch"}, {"metadata": {}}, {"event": "message.lost"}],
    ids=str,
)
def test_what_is_wrong_does_not_fit(change: dict[str, Any]) -> None:
    """A schema that allows everything would prove nothing."""
    assert problems({**FRAMES[1], **change}, SCHEMA["$defs"]["server_frame"], SCHEMA) != []
