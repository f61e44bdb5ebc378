"""The pure client half on a link that loses, repeats and changes frames."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.codec import Head, Placed, place, stored_bytes
from moot.core.errors import MootError, Refused
from moot.core.flows.plan.plan_commands import CancelPlan, CancelTask, Replan, RestartTask, SolveTasks
from moot.core.machines.connection import State
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
)
from moot.protocol.client import RECONNECT, ClientHalf
from moot.protocol.command_table import read_command, read_frame, sign, write_command
from moot.protocol.happenings import Denied, Done, Ended, Happening, Logged, Reset
from moot.protocol.server import Follow, resume
from moot.protocol.unanswered import COMMANDS, SENDS
from tests.protocol.client_cases import GOLDEN

SESSION = "golden-chat-v1"
HASHES = ["", *(json.loads(line)["hash"] for line in GOLDEN)]
explored = settings(max_examples=200, derandomize=True, deadline=None, database=None)


class ModelServer:
    """The golden log, growing; every command is done once, however often it is sent."""

    def __init__(self) -> None:
        self.head = 1
        self.sent_seq: int | None = None
        self.done: dict[str, int] = {}
        self.times: list[str] = []
        self.answers: list[str] = []

    def take(self, text: str) -> None:
        asked = json.loads(text)
        match asked["event"]:
            case "user.reconnect" | "user.reconnect_with_state":
                follow = Follow(session_id=SESSION, after=asked.get("last_seq"), checksum=asked.get("state_checksum"))
                resumption = resume(follow, Head(self.head, HASHES[self.head]), HASHES[asked.get("last_seq", 0)])
                self.answers.append(say("system.connected", session_id=SESSION, **resumption.metadata))
                self.sent_seq = resumption.after
                self.flush()
            case "user.message":
                command_id = asked["command_id"]
                if command_id not in self.done:
                    self.head = min(self.head + 1, len(GOLDEN))
                    self.times.append(command_id)
                    self.done[command_id] = self.head
                self.flush()
                self.answers.append(say("system.accepted", command_id=command_id, seq=self.done[command_id]))

    def flush(self) -> None:
        if self.sent_seq is not None:
            self.answers += GOLDEN[self.sent_seq : self.head]
            self.sent_seq = self.head

    def grow(self) -> None:
        self.head = min(self.head + 1, len(GOLDEN))
        self.flush()


def say(event: str, session_id: str | None = None, **metadata: Any) -> str:
    place = {"session_id": session_id} if session_id else {}
    return json.dumps({"event": event, **place, "metadata": {**place, **metadata}})


class Run:
    """A client on a bad link to the model: what it takes for true is collected."""

    def __init__(self) -> None:
        self.server = ModelServer()
        self.half = ClientHalf()
        self.now = 0.0
        self.log: list[int] = []
        self.done: list[str] = []
        self.count = 0
        self.half.follow(SESSION, 0.0)
        self.half.connect(0.0)
        self.reconnect()

    def reconnect(self) -> None:
        self.now = max(self.now, self.half.retry_at)
        self.server.sent_seq, self.server.answers = None, []
        self.half.opened(self.now)
        self.note(self.half.receive(say("system.connected", connection_id="c"), self.now))

    def note(self, happened: list[Happening]) -> None:
        for each in happened:
            match each:
                case Logged(seq=seq):
                    self.log.append(seq)
                case Reset():
                    self.log.clear()
                case Ended():  # it broke too often at one place; somebody opens the session again
                    self.log.clear()
                    self.half.follow(SESSION, self.now)
                case Done(command_id=command_id):
                    self.done.append(command_id)
                case _:
                    pass

    def deliver(self, fault: str) -> None:
        """What the client has sent reaches the server, and the answers the client, but for the fault."""
        for text in self.half.to_send(self.now):
            self.server.take(text)
        for text in self.server.answers:
            if fault == "drop":
                fault = ""
                continue
            if fault == "change" and '"seq"' in text:
                fault, text = "", text.replace("moot-", "mood-")
            self.note(self.half.receive(text, self.now))
            if fault == "double":
                self.note(self.half.receive(text, self.now))
        self.server.answers = []

    def play(self, action: str) -> None:
        self.now += 0.5
        match action:
            case "grow":
                self.server.grow()
            case "lose":
                self.half.lost(self.now, 0.5)
                self.reconnect()
            case "command":
                self.count += 1
                self.half.send(f"c{self.count}", "user.message", {"content": "hi"}, self.now, session_id=SESSION)
            case "tick":
                self.now += 10.0
                self.note(self.half.tick(self.now))
            case fault:
                self.deliver(fault)


@explored
@given(
    st.lists(st.sampled_from(["grow", "lose", "command", "tick", "deliver", "drop", "double", "change"]), max_size=60)
)
def test_the_client_has_the_servers_log_whatever_the_link_does(actions: list[str]) -> None:
    """Dense order, resume is complete, exactly-once; after the faults everything is there, once."""
    run = Run()
    for action in actions:
        run.play(action)
        assert run.log == list(range(1, len(run.log) + 1))
    for _ in range(8):  # the faults are over: a new link, answers, a little time
        run.play("lose")
        run.play("deliver")
        run.play("tick")
        run.play("deliver")
    commands = [f"c{number}" for number in range(1, run.count + 1)]
    assert run.log == list(range(1, run.server.head + 1))
    assert sorted(run.done) == sorted(commands)
    assert sorted(run.server.times) == sorted(commands)


def test_stored_bytes_come_back_from_every_frame() -> None:
    """The frame is the stored JSON with show_content and hash added; that can be undone."""
    for line in GOLDEN:
        frame = json.loads(line)
        stored = stored_bytes(line.encode(), place(line.encode()))
        assert stored is not None
        assert json.loads(stored) == {key: frame[key] for key in frame if key not in ("hash", "show_content")}


@pytest.mark.parametrize("frame", [b"", b"{}", b'{"seq":1,"hash":"x"}', GOLDEN[5].encode()[:-1] + b" }"])
def test_a_frame_that_does_not_end_in_its_hash_has_no_stored_bytes(frame: bytes) -> None:
    """What cannot be verified is not taken."""
    assert stored_bytes(frame, Placed(event="x", hash="x" * 64)) is None


@pytest.mark.parametrize("attempt", [1, 2, 5, 7, 100])
def test_backoff_stays_within_its_bounds(attempt: int) -> None:
    """Jittered backoff 0.5-30 s, and spread over all of it."""
    ceiling = min(30.0, 0.5 * 2**attempt)
    assert (RECONNECT.delay(attempt, 0.0), RECONNECT.delay(attempt, 1.0)) == (0.5, ceiling)


def test_a_command_larger_than_a_frame_is_refused_here() -> None:
    """Sent, it would close the link with 1009, again and again."""
    half = ClientHalf()
    with pytest.raises(Refused, match="message_too_long"):
        half.send("c1", "user.message", {"content": "x" * 300_000}, 0.0)
    half.send("c1", "user.message", {"content": "short"}, 0.0)  # the id is free again


def test_commands_that_wait_are_bounded() -> None:
    """The memory of the client is bounded; the sentence says what to do."""
    half = ClientHalf()
    for number in range(COMMANDS):
        half.send(f"c{number}", "user.pause", {}, 0.0)
    with pytest.raises(MootError, match="wait for an answer"):
        half.send("more", "user.pause", {}, 0.0)


def test_a_command_id_in_use_is_not_taken_twice() -> None:
    """Repeating it is the same command; reusing it with another body is refused, here before it is sent."""
    half = ClientHalf()
    half.send("c1", "user.pause", {}, 0.0)
    half.send("c1", "user.pause", {}, 0.0)
    with pytest.raises(MootError, match="in use"):
        half.send("c1", "user.resume", {}, 0.0)


def test_a_command_that_is_never_answered_is_given_up_in_the_end() -> None:
    """A bound on retries; it says that the outcome is not known."""
    half = ClientHalf()
    half.connect(0.0)
    half.opened(0.0)
    half.receive(say("system.connected", connection_id="c"), 0.0)
    half.send("c1", "user.pause", {}, 0.0, session_id=SESSION)
    sent, now = 0, 0.0
    denied: list[Happening] = []
    while not denied:
        sent += len(half.to_send(now))
        now += 30.0
        half.receive(say("system.heartbeat"), now)
        denied = half.tick(now)
    assert (sent, half.state) == (SENDS, State.CONNECTED)
    assert isinstance(denied[0], Denied)
    assert "may or may not" in denied[0].sentence


@pytest.mark.parametrize(
    "command",
    [
        Post(text="hello"),
        Post(text=""),
        Answer(step_id="s1", confirmed=False),
        Answer(step_id="s1", choice="keep", answer="no"),
        End(),
        Pause(),
        Resume(),
        Retry(),
        CancelTurn(),
        ChangeQueue(action="skip"),
        ChangeQueue(action="move", member="bob", to=2),
        Answer(step_id="s1", confirmed=True, tasks=({"id": "a", "title": "A"},)),
        SolveTasks(tasks=({"id": "a", "title": "A"},), question="why"),
        CancelTask(task_id="a"),
        RestartTask(task_id="a"),
        RestartTask(task_id="a", member="xi"),
        CancelPlan(),
        Replan(feedback="bigger"),
        Rename(title="Poster"),
    ],
    ids=repr,
)
def test_a_command_crosses_the_wire_unchanged(command: HumanCommand) -> None:
    """The same over the wire; what the client writes is what the server reads."""
    assert read_command(read_frame(json.dumps(write_command(command))), None) == command


def test_the_sessions_language_is_changed_by_what_a_person_would_type() -> None:
    """/lang; user.set_language is about the connection's texts."""
    assert write_command(SetLanguage(language="zh")) == {"event": "user.message", "content": "/lang zh"}


@pytest.mark.parametrize(
    ("text", "by", "signed"),
    [
        ("hello", None, "hello"),
        ("hello", "eve", "[FROM: eve] hello"),
        ("[FROM: adam] hello", "eve", "[FROM: adam] hello"),
        ("/status", "eve", "/status"),
    ],
)
def test_who_speaks_is_said_with_from(text: str, by: str | None, signed: str) -> None:
    """[FROM:] first; a text that is signed stays as it is, and a slash command needs no signature."""
    assert sign(text, by) == signed
