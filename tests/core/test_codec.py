"""Facts to frames and back."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from moot.core.codec import Event, Head, UnknownEvent, chain, decode, frame, stamp
from moot.core.evolve import evolve
from moot.core.facts import Fact
from moot.core.flows.chat.chat_events import QueueChanged
from moot.core.flows.registry import FACTS
from moot.core.intake.intent import Addressing, AddressingType
from moot.core.session.events import (
    LanguageChanged,
    MessagePosted,
    NoticePosted,
    PauseRequested,
    RoutingDecided,
    SessionActivated,
    SessionCreated,
    SessionPaused,
    StepAsked,
    StepClosed,
    TeamTaskSet,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
    TurnStepped,
)
from moot.core.session.state import State
from moot.core.session.team import Team, member
from moot.core.session.usage import Usage
from tests.core.teams import make_chat_team
from tests.core.test_golden import GOLDEN

AT = "2026-01-01T00:00:00.123Z"
TEAM = make_chat_team()
HUMAN = {"loop_id": "moot-orchestrator", "role": "user", "member": "alice"}
AI = {"loop_id": "moot-executor", "role": "executor", "member": "bob"}
ENGINE = {"loop_id": "moot-orchestrator", "role": "orchestrator"}
QUESTION = StepAsked(step_id="s1", kind="decision", options=(), expires_at=None, default=None)


def one(fact: Fact, team: Team = TEAM) -> Event:
    return stamp(team, "abc", Head(), [fact], AT)[0]


def stored(fact: Fact, team: Team = TEAM) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(one(fact, team).data)
    return decoded


def test_the_envelope_of_an_event() -> None:
    """Event, session_id, seq, event_id, timestamp, source, content, metadata; in this order."""
    assert stored(MessagePosted(member="alice", text="hi", raw="hi [NEXT: bob]")) == {
        "event": "message.posted",
        "session_id": "abc",
        "seq": 1,
        "event_id": "abc-1",
        "timestamp": AT,
        "source": HUMAN,
        "timeline": "user_input_received",
        "content": "hi",
        "metadata": {"member": "alice", "text": "hi", "raw": "hi [NEXT: bob]"},
    }
    assert list(stored(MessagePosted(member="alice", text="hi"))) == [
        "event",
        "session_id",
        "seq",
        "event_id",
        "timestamp",
        "source",
        "timeline",
        "content",
        "metadata",
    ]


def test_a_frame_is_the_stored_json_with_two_keys_added() -> None:
    """`show_content` where the catalogue has a text, and `hash`, at the end of the stored bytes."""
    event = one(NoticePosted(code="names_skipped", names=("x",)))
    for language, text in [
        ("zh", "⚠️ 'x' 不在当前团队中，已跳过"),
        ("en", "⚠️ 'x' is not in this team, skipped"),
    ]:
        sent = frame(event, language)  # type: ignore[arg-type]
        assert sent.startswith(event.data[:-1])
        assert list(json.loads(sent))[-2:] == ["show_content", "hash"]
        assert json.loads(sent) == {**json.loads(event.data), "show_content": text, "hash": event.hash}


def test_a_frame_without_words_for_people_has_no_show_content() -> None:
    """`show_content` is optional and never stored."""
    event = one(SessionPaused(waiting_for="alice", reason="fallback"))
    assert json.loads(frame(event, "en")) == {**json.loads(event.data), "hash": event.hash}
    assert b"show_content" not in one(NoticePosted(code="help")).data


def test_a_frame_stays_json_whatever_was_said() -> None:
    """Quotes, braces and backslashes in a text or name break nothing."""
    nasty = '"}\\{"hash":"0"}\n\u2028'
    event = one(NoticePosted(code="names_skipped", names=(nasty,)))
    assert json.loads(frame(event, "en"))["show_content"] == f"⚠️ '{nasty}' is not in this team, skipped"


@pytest.mark.parametrize(
    ("fact", "source"),
    [
        (MessagePosted(member="alice", text="x"), HUMAN),
        (MessagePosted(member="bob", text="x", turn_id="t1"), AI),
        (TeamTaskSet(member="alice", team_task="x"), HUMAN),
        (TurnStarted(turn_id="t1", member="bob", index=0, hop=1), AI),
        (TurnStepped(turn_id="t1", member="bob", thought="x"), AI),
        (TurnCompleted(turn_id="t1", member="bob"), AI),
        (TurnFailed(turn_id="t1", member="bob", error_type="agent", message="x"), AI),
        (PauseRequested(member="alice"), HUMAN),
        (PauseRequested(member=None), ENGINE),
        (StepClosed(step_id="s1", outcome="answered", by="alice"), HUMAN),
        (StepClosed(step_id="s1", outcome="expired"), ENGINE),
        (QueueChanged(executing=None, pending=()), ENGINE),
        (SessionActivated(), ENGINE),
        (QUESTION, ENGINE),
    ],
)
def test_every_event_names_its_source(fact: Fact, source: dict[str, str]) -> None:
    """loop_id and role on every event, the member where there is one; the front end never guesses."""
    assert stored(fact)["source"] == source


def test_the_source_of_an_ai_carries_its_role() -> None:
    """`{loop_id}.{role}`."""
    team = Team(name="t", members=(member("alice", "human"), member("bob", "ai", role="reviewer")))
    assert stored(TurnCompleted(turn_id="t1", member="bob"), team)["source"]["role"] == "reviewer"


@pytest.mark.parametrize(
    ("fact", "timeline"),
    [
        (MessagePosted(member="alice", text="x"), "user_input_received"),
        (MessagePosted(member="bob", text="x", turn_id="t1"), None),
        (RoutingDecided(confidence=1.0), "routing_decision_made"),
        (QUESTION, "user_confirmation_required"),
        (StepClosed(step_id="s1", outcome="expired"), None),
        (TurnStarted(turn_id="t1", member="bob", index=0, hop=1), None),
        (SessionActivated(), None),
    ],
)
def test_the_timeline_stands_on_the_right_events(fact: Fact, timeline: str | None) -> None:
    """The names of the timeline where clients look for them."""
    assert stored(fact).get("timeline") == timeline


TIMELINE = {
    "message.posted": "user_input_received",  # by a human
    "understanding.started": "semantic_understanding_started",
    "understanding.completed": "semantic_understanding_completed",
    "routing.decided": "routing_decision_made",
    "workflow.changed": "phase_transition",
    "agent.user_confirm": "user_confirmation_required",
    "task.dispatch_requested": "task_dispatch_requested",
    "task.dispatch_acked": "task_dispatch_ack",
    "task.dispatch_nacked": "task_dispatch_nack",
    "solver.start": "task_execution_started",
    "solver.progress": "agent_step_completed",
    "solver.completed": "task_execution_result",
    "task.failed": "task_execution_result",
    "task.reviewed": "task_review_result",
}


@pytest.mark.parametrize("log", sorted(GOLDEN.glob("*.jsonl")), ids=lambda path: path.stem)
def test_the_timeline_stands_on_no_other_event(log: Path) -> None:
    """A closed list, whatever else is logged in a session of any flow."""
    state: State | None = None
    for line in log.read_bytes().splitlines():
        fact = decode(line, "").fact
        state = evolve(state, fact)
        is_said_by_ai = isinstance(fact, MessagePosted) and fact.turn_id is not None
        expected = None if is_said_by_ai else TIMELINE.get(fact.event)
        assert stored(fact, state.team).get("timeline") == expected, fact.event


def test_only_messages_have_content_and_only_steps_a_step_id() -> None:
    """Content = the text shown; step_id at top level pairs questions and answers."""
    assert stored(QUESTION)["step_id"] == "s1"
    assert stored(StepClosed(step_id="s1", outcome="expired"))["step_id"] == "s1"
    for fact in (QUESTION, SessionActivated(), TeamTaskSet(member="alice", team_task="x")):
        assert "content" not in stored(fact)
    assert "step_id" not in stored(SessionActivated())


@pytest.mark.parametrize(
    ("fact", "metadata"),
    [
        (SessionActivated(), {}),
        (SessionPaused(waiting_for="alice", reason="fallback"), {"waiting_for": "alice", "reason": "fallback"}),
        (QueueChanged(executing=None, pending=()), {"executing": None, "pending": []}),
        (
            QueueChanged(executing="bob", pending=("carol",), priorities=("P3",)),
            {"executing": "bob", "pending": ["carol"], "priorities": ["P3"]},
        ),
        (
            RoutingDecided(
                confidence=1.0, action=Addressing(type=AddressingType.SEND_TO_AI, member="bob"), queue_updates=("bob",)
            ),
            {"confidence": 1.0, "action": {"type": "send_to_ai", "member": "bob"}, "queue_updates": ["bob"]},
        ),
        (
            TurnCompleted(turn_id="t1", member="bob", usage=Usage(input_tokens=2)),
            {"turn_id": "t1", "member": "bob", "usage": {"input_tokens": 2}},
        ),
        (QUESTION, {"step_id": "s1", "kind": "decision", "options": [], "expires_at": None, "default": None}),
    ],
)
def test_contract_fields_are_always_written(fact: Fact, metadata: dict[str, Any]) -> None:
    """Null and empty where the contract names the field; the rest only when said."""
    assert stored(fact)["metadata"] == metadata


def test_the_first_event_tells_the_session() -> None:
    """`agent.session_created {team, flow, members, language, title}`."""
    created = SessionCreated(team="trio", flow=TEAM.flow, members=TEAM.members, language="en", title="")
    metadata = stored(created)["metadata"]
    assert list(metadata) == ["team", "flow", "members", "language", "title"]
    assert metadata["members"][0] == {
        "id": "alice",
        "kind": "human",
        "name": "Alice",
        "display_name": "Alice",
        "order": 0,
    }


def test_the_hash_chains() -> None:
    """lower-case hex SHA-256 of (previous hash ‖ stored bytes); nothing stands before seq 1."""
    first, second = stamp(TEAM, "abc", Head(), [SessionActivated(), LanguageChanged(language="zh")], AT)
    assert first.hash == hashlib.sha256(first.data).hexdigest()
    assert second.hash == hashlib.sha256(first.hash.encode() + second.data).hexdigest()
    assert chain(first.hash, second.data) == second.hash


def test_stamping_goes_on_behind_the_head() -> None:
    """Dense order; two appends give the same log as one."""
    facts: list[Fact] = [SessionActivated(), LanguageChanged(language="zh"), LanguageChanged(language="en")]
    at_once = stamp(TEAM, "abc", Head(), facts, AT)
    head = at_once[0].head
    assert head == Head(1, at_once[0].hash)
    assert stamp(TEAM, "abc", head, facts[1:], AT) == at_once[1:]


def test_names_of_events_are_unique() -> None:
    """One fact, one name, in a namespace of the protocol."""
    names = [kind.event for kind in FACTS]
    assert len(set(names)) == len(names)
    spaces = {"agent", "message", "session", "routing", "queue", "turn", "notice", "understanding", "workflow"}
    spaces |= {
        "plan",
        "solver",
        "aggregate",
        "pipeline",
        "error",
        "task",
        "member",
        "supervisor",
        "workspace",
        "permission",
    }
    assert {name.split(".")[0] for name in names} == spaces


def test_an_unknown_event_is_refused() -> None:
    """A log of a newer version is not half understood."""
    data = one(SessionActivated()).data.replace(b"session.activated", b"session.levitated")
    with pytest.raises(UnknownEvent, match=r"unknown event 'session\.levitated'"):
        decode(data, "")


def test_a_session_of_an_unknown_flow_is_refused() -> None:
    """A log of a newer version, or of a flow that is gone, is reported like an unknown event; others stay readable."""
    created = SessionCreated(team="trio", flow=TEAM.flow, members=TEAM.members, language="en", title="")
    data = one(created).data.replace(b'"flow":"chat"', b'"flow":"levitation"')
    with pytest.raises(ValueError, match=r"unknown flow 'levitation': was it written by a newer version"):
        decode(data, "")


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"{", b'{"event":"session.activated"}', b"\xff"])
def test_bytes_that_are_no_event_are_refused(data: bytes) -> None:
    """Damage is an error with a reason, never a guess."""
    with pytest.raises(ValueError, match=r"."):
        decode(data, "")


def test_old_events_without_new_fields_decode() -> None:
    """New fields have defaults, so that old logs still decode."""
    old = b'{"event":"message.posted","session_id":"s","seq":4,"event_id":"s-4","timestamp":"x","metadata":%b}'
    event = decode(old % b'{"member":"bob","text":"hi"}', "h")
    assert event.fact == MessagePosted(member="bob", text="hi")
    assert (event.session_id, event.seq, event.timestamp, event.hash) == ("s", 4, "x", "h")


def test_fields_of_a_newer_version_are_ignored() -> None:
    """Unknown fields are ignored, in the envelope and in the fact."""
    new = b'{"event":"session.activated","session_id":"s","seq":4,"timestamp":"x","metadata":{"mood":1},"mood":2}'
    assert decode(new, "h").fact == SessionActivated()
