"""Client frames: lenient as to where a field stands, strict as to what it is."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from moot.core.flows.plan.plan_commands import CancelPlan, CancelTask, Replan, RestartTask, SolveTasks
from moot.core.session.commands import (
    Answer,
    CancelTurn,
    ChangeQueue,
    End,
    HumanCommand,
    Pause,
    Post,
    Rename,
    Resume,
    Retry,
    SetLanguage,
    Stop,
)
from moot.core.session.principal import Principal, Role
from moot.core.session.workspace_commands import Comment, Take, Undo
from moot.protocol.command_table import (
    COMMANDS as TABLE,
)
from moot.protocol.command_table import (
    FOR_SESSION,
    MAX_SEQ,
    ClientFrame,
    read_command,
    read_frame,
)
from moot.protocol.frames import unlogged
from moot.protocol.protocol_errors import ProtocolError

SESSION = "s_0123456789abcdef"
ALICE = Principal(token_id="t_1", role=Role.MEMBER, member="alice")
COMMANDS: list[tuple[dict[str, Any], HumanCommand]] = [
    ({"event": "user.message", "content": "hi"}, Post(text="hi", by="alice")),
    ({"event": "user.message", "text": "hi"}, Post(text="hi", by="alice")),
    ({"event": "user.message", "content": {"text": "hi"}}, Post(text="hi", by="alice")),
    ({"event": "user.message", "metadata": {"text": "hi"}, "content": {"text": "ho"}}, Post(text="hi", by="alice")),
    ({"event": "user.message"}, Post(text="", by="alice")),
    ({"event": "user.message", "content": 5}, Post(text="", by="alice")),
    ({"event": "user.cancel"}, CancelTurn(by="alice")),
    ({"event": "user.pause"}, Pause(by="alice")),
    ({"event": "user.take", "how": "keep"}, Take(how="keep", by="alice")),
    ({"event": "user.undo", "task_id": "a"}, Undo(task_id="a", by="alice")),
    (
        {"event": "user.comment", "commit": "c0", "path": "a.py", "lines": [1, 2], "text": "why?"},
        Comment(commit="c0", path="a.py", lines=(1, 2), text="why?", by="alice"),
    ),
    ({"event": "user.stop"}, Stop(by="alice")),
    ({"event": "user.resume"}, Resume(by="alice")),
    ({"event": "user.retry"}, Retry(by="alice")),
    ({"event": "user.end", "by": "eve", "metadata": {"by": "eve"}}, End(by="alice")),
    ({"event": "user.rename", "title": "Poster"}, Rename(title="Poster", by="alice")),
    ({"event": "user.rename", "content": "Poster"}, Rename(title="Poster", by="alice")),
    ({"event": "user.rename"}, Rename(title="", by="alice")),
    ({"event": "user.queue", "content": "clear"}, ChangeQueue(action="clear", by="alice")),
    ({"event": "user.queue", "action": "skip", "member": "bob"}, ChangeQueue(action="skip", by="alice", member="bob")),
    (
        {"event": "user.queue", "content": {"action": "move", "member": "bob", "to": 2}},
        ChangeQueue(action="move", by="alice", member="bob", to=2),
    ),
    ({"event": "user.response", "step_id": "x", "confirmed": False}, Answer(step_id="x", by="alice", confirmed=False)),
    (
        {"event": "user.response", "content": {"step_id": "x", "approved": True}},
        Answer(step_id="x", by="alice", confirmed=True),
    ),
    (
        {"event": "user.response", "metadata": {"step_id": "x", "choice": "a", "answer": "b"}},
        Answer(step_id="x", by="alice", choice="a", answer="b"),
    ),
    (
        {"event": "user.response", "step_id": "x", "confirmed": False, "approved": True},
        Answer(step_id="x", by="alice", confirmed=False),
    ),
    *(
        (
            {"event": "user.response", "step_id": "x", "confirmed": True, **tasks},
            Answer(step_id="x", by="alice", confirmed=True, tasks=({"id": "a"},)),
        )
        for tasks in (
            {"tasks": [{"id": "a"}]},
            {"metadata": {"tasks": [{"id": "a"}]}},
            {"content": {"tasks": [{"id": "a"}]}},
            {"content": [{"id": "a"}]},
            {"tasks": [{"id": "a"}], "content": [{"id": "b"}]},
        )
    ),
    (
        {"event": "user.solve_tasks", "tasks": [{"id": 1}], "content": "why"},
        SolveTasks(tasks=({"id": 1},), question="why", by="alice"),
    ),
    ({"event": "user.solve_tasks"}, SolveTasks(tasks=(), by="alice")),
    ({"event": "user.cancel_task", "metadata": {"task_id": 7}}, CancelTask(task_id="7", by="alice")),
    ({"event": "user.restart_task", "content": "a"}, RestartTask(task_id="a", by="alice")),
    (
        {"event": "user.restart_task", "task_id": "a", "member": "xi"},
        RestartTask(task_id="a", member="xi", by="alice"),
    ),
    ({"event": "user.cancel_plan"}, CancelPlan(by="alice")),
    ({"event": "user.replan", "content": {"feedback": "bigger"}}, Replan(feedback="bigger", by="alice")),
    ({"event": "user.replan", "content": "bigger"}, Replan(feedback="bigger", by="alice")),
    ({"event": "user.replan"}, Replan(by="alice")),
]
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"event": "user.response"}, "missing_step_id"),
    ({"event": "user.response", "step_id": ""}, "missing_step_id"),
    ({"event": "user.response", "step_id": 5}, "bad_field"),
    ({"event": "user.response", "step_id": "x", "confirmed": "yes"}, "bad_field"),
    ({"event": "user.response", "step_id": "x", "confirmed": 1}, "bad_field"),
    ({"event": "user.response", "step_id": "x", "choice": ["a"]}, "bad_field"),
    ({"event": "user.message", "text": 5}, "bad_field"),
    ({"event": "user.queue"}, "bad_field"),
    ({"event": "user.queue", "content": "drop"}, "bad_field"),
    ({"event": "user.queue", "content": "move", "to": True}, "bad_field"),
    ({"event": "user.queue", "content": "move", "to": "1"}, "bad_field"),
    ({"event": "user.queue", "content": "move", "member": 1}, "bad_field"),
    ({"event": "user.solve_tasks", "tasks": "a"}, "bad_field"),
    ({"event": "user.cancel_task"}, "bad_field"),
    ({"event": "user.cancel_task", "task_id": 1.5}, "bad_field"),
    ({"event": "user.restart_task", "task_id": ""}, "bad_field"),
    ({"event": "user.restart_task", "task_id": "a", "member": 3}, "bad_field"),
    ({"event": "user.replan", "feedback": 1}, "bad_field"),
]
CURSORS: list[tuple[dict[str, Any], int | None]] = [
    ({}, None),
    ({"last_seq": 0}, 0),
    ({"last_seq": MAX_SEQ}, MAX_SEQ),
    ({"metadata": {"last_seq": 3}}, 3),
    ({"content": {"last_seq": 3}}, 3),
    ({"last_seq": 1, "metadata": {"last_seq": 2}}, 1),
    ({"last_seq": 1, "last_event_id": f"{SESSION}-2"}, 1),
    ({"last_event_id": f"{SESSION}-2"}, 2),
    ({"content": {"last_event_id": f"{SESSION}-2"}}, 2),
]
NO_SEQS: list[Any] = [-1, 4.0, True, "4", 2**53, 2**63, None, [], {}, 1e300]
BAD_CURSORS: list[dict[str, Any]] = [
    *[{"last_seq": value} for value in NO_SEQS],
    *[
        {"last_event_id": value}
        for value in (
            "",
            "5",
            "-5",
            SESSION,
            f"{SESSION}-",
            f"{SESSION}-x",
            f"{SESSION}-1.0",
            f"x-{'9' * 30}",
            5,
            True,
        )
    ],
]


@pytest.mark.parametrize(("frame", "command"), COMMANDS)
def test_frames_become_commands(frame: dict[str, Any], command: HumanCommand) -> None:
    """A field counts at top level, in metadata or in content; who speaks is never read from the frame."""
    assert read_command(ClientFrame(frame), ALICE) == replace(command, principal=ALICE)


@pytest.mark.parametrize(("frame", "code"), REFUSED)
def test_frames_that_are_no_commands(frame: dict[str, Any], code: str) -> None:
    """Fields of the wrong type are refused by a stable code."""
    with pytest.raises(ProtocolError) as refused:
        read_command(ClientFrame(frame), ALICE)
    assert refused.value.code == code


def test_every_command_event_is_read() -> None:
    """Each event of the list is a command or one of the connection; none is forgotten."""
    assert {frame["event"] for frame, _ in COMMANDS} == set(FOR_SESSION)
    assert {row.kind for row in FOR_SESSION.values()} == set(HumanCommand.__subclasses__()) - {SetLanguage}


@pytest.mark.parametrize(("fields", "cursor"), CURSORS)
def test_cursors(fields: dict[str, Any], cursor: int | None) -> None:
    """`last_seq`, else the seq of `last_event_id`."""
    assert ClientFrame({"event": "user.ack", **fields}).cursor == cursor


@pytest.mark.parametrize("fields", BAD_CURSORS)
def test_bad_cursors(fields: dict[str, Any]) -> None:
    """Whatever is no seq is refused, never taken as 0."""
    with pytest.raises(ProtocolError) as refused:
        _ = ClientFrame({"event": "user.reconnect_with_state", **fields}).cursor
    assert refused.value.code == "bad_cursor"


def test_a_bare_number_is_a_cursor_in_an_ack_alone() -> None:
    """A bare integer as content of user.ack is `last_seq`; fields that stand before it count more."""
    assert ClientFrame({"event": "user.ack", "content": 4}).cursor == 4
    assert ClientFrame({"event": "user.ack", "content": 4, "metadata": {"last_seq": 5}}).cursor == 5
    assert ClientFrame({"event": "user.reconnect_with_state", "content": 4}).cursor is None


@pytest.mark.parametrize(("one", "other", "are_equal"), [
    ({"content": "a", "command_id": "c"}, {"command_id": "c", "content": "a"}, True),
    ({"content": "a"}, {"content": "a", "timestamp": "2026-01-01T00:00:00.000Z"}, True),
    ({"content": "a", "seq": 1, "event_id": "x", "hash": "y", "show_content": "z"}, {"content": "a"}, True),
    ({"content": "a"}, {"content": "b"}, False),
    ({"content": "a"}, {"content": "a", "session_id": SESSION}, False),
    ({"metadata": {"timestamp": 1}}, {"metadata": {"timestamp": 2}}, False),
])  # fmt: skip
def test_what_a_command_id_stands_for(one: dict[str, Any], other: dict[str, Any], are_equal: bool) -> None:
    """The same command sent again has the same body, whatever the order of keys and the time of sending."""
    sources = [ClientFrame({"event": "user.message", **fields}).digest_source() for fields in (one, other)]
    assert (sources[0] == sources[1]) is are_equal


@pytest.mark.parametrize(("text", "command_id"), [
    ('{"event": "user.end", "command_id": "c"}', "c"),
    ('{"event": "user.end", "content": {"command_id": "c"}}', "c"),
    ('{"event": "user.fly", "metadata": {"command_id": "c"}}', "c"),
    ('{"event": "user.end"}', None),
    ('{"event": "user.end", "command_id": 5}', None),
    ('{"event": "user.fly", "command_id": 5}', None),
    ("{", None),
])  # fmt: skip
def test_whose_frame_it_was(text: str, command_id: str | None) -> None:
    """An error names the command id wherever it could be read."""
    try:
        found = read_frame(text).command_id
    except ProtocolError as error:
        found = error.command_id
    assert found == command_id


def test_unlogged_frames() -> None:
    """Frames of the connection have no seq, event_id or hash."""
    frame = json.loads(unlogged("system.heartbeat", "2026-01-01T00:00:00.000Z"))
    assert frame == {"event": "system.heartbeat", "timestamp": "2026-01-01T00:00:00.000Z", "metadata": {}}


names = st.sampled_from(["session_id", "command_id", "last_seq", "last_event_id", "text", "content", "metadata"]) | (
    st.sampled_from(["step_id", "confirmed", "choice", "action", "to", "member", "signed_state", "protocol", "team"])
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=4),
    max_leaves=8,
)
frames = st.builds(
    lambda event, fields: {**fields, "event": event},
    st.sampled_from(sorted(TABLE)) | st.text(max_size=5),
    st.dictionaries(names, values, max_size=6),
)


@given(frames)
@settings(max_examples=400)
def test_any_frame_at_all(frame: dict[str, Any]) -> None:
    """Whatever a frame says, reading it gives values or ProtocolError, never anything else."""
    looks: list[Callable[[ClientFrame], object]] = [
        lambda read: read.cursor,
        lambda read: read.session_id,
        lambda read: read.command_id,
        lambda read: read.digest_source(),
        lambda read: read_command(read, ALICE),
    ]
    text = json.dumps(frame)
    for look in looks:
        error: ProtocolError | None = None
        try:
            look(read_frame(text))
        except ProtocolError as raised:
            error = raised
        assert error is None or (error.explain("zh") and error.explain("en"))
