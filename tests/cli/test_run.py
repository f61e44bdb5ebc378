"""`moot run`: a session for scripts and programs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import CHAT, Moot, Said, check_chain, names, texts

SLEEPER = """
moot: 1
name: sleepers
language: en
members:
  - {id: alice, kind: human}
  - {id: bob, kind: ai, agent: {type: script, replies: [%s, second]}}
  - {id: carol, kind: ai, agent: {type: script, replies: [me too]}}
"""


def test_frames_are_dense_and_chained(moot: Moot) -> None:
    """--json prints one frame a line from seq 1, each hash following from the one before, and nothing else."""
    said = moot("run", CHAT, "--json", "--say", "alice: [NEXT: Bob] hello", "zoe: thanks")
    frames = said.objects
    assert said.code == 0
    assert [frame["seq"] for frame in frames] == list(range(1, len(frames) + 1))
    check_chain(said.lines)
    session_id = frames[0]["session_id"]
    assert re.fullmatch(r"[a-z0-9_-]{8,64}", session_id)
    assert said.err == f"session {session_id}\n"
    for frame in frames:
        assert frame["session_id"] == session_id
        assert frame["event_id"] == f"{session_id}-{frame['seq']}"
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", frame["timestamp"])
        assert {"loop_id", "role"} <= set(frame["source"])


def test_what_a_conversation_looks_like(moot: Moot) -> None:
    """The facts in their order; the last one names the human who has the floor."""
    _, frames = moot.talk("alice: [NEXT: Bob] hello")
    assert names(frames) == [
        "agent.session_created",
        "message.posted",
        "routing.decided",
        "session.activated",
        "turn.started",
        "queue.changed",
        "turn.step",
        "turn.completed",
        "message.posted",
        "routing.decided",
        "notice.posted",
        "turn.started",
        "queue.changed",
        "turn.completed",
        "message.posted",
        "routing.decided",
        "queue.changed",
        "session.paused",
    ]
    created, posted, decided = frames[0]["metadata"], frames[1], frames[2]
    assert {"team", "flow", "members", "language", "title"} <= set(created)
    assert (created["team"], created["flow"], created["language"]) == ("chat-five", "chat", "en")
    assert posted["content"] == posted["metadata"]["text"] == " hello"
    assert posted["source"] == {"loop_id": "moot-orchestrator", "role": "user", "member": "alice"}
    assert (posted["timeline"], decided["timeline"]) == ("user_input_received", "routing_decision_made")
    completed = frames[7]
    assert completed["source"]["member"] == completed["metadata"]["member"] == "bob"
    assert completed["metadata"]["usage"] == {"input_tokens": 5, "output_tokens": 7}
    assert frames[-1]["metadata"] == {"waiting_for": "alice", "reason": "fallback"}


def test_notices_are_shown_in_words(moot: Moot) -> None:
    """show_content stands on inputs, notices and questions, and nowhere else, in the session's language."""
    _, frames = moot.talk("alice: [NEXT: Zoe, Bob] hello", "/queue clear", "/lang zh", "/queue")
    shown = {frame["seq"]: frame["show_content"] for frame in frames if "show_content" in frame}
    told = ("message.posted", "notice.posted", "agent.user_confirm")
    assert set(shown) == {frame["seq"] for frame in frames if frame["event"] in told}
    assert list(shown.values()) == ["Input received", "Clear the queue?", "📋 队列: Bob"]


def test_every_text_runs_until_the_floor_is_back(moot: Moot) -> None:
    """Several texts, in one --say or in many, are said one after the other."""
    said = moot("run", CHAT, "--json", "--say", "alice: [NEXT: Bob] one", "alice: two", "--say", "zoe: [NEXT: Carol] 3")
    frames = said.objects
    assert said.code == 0
    assert texts(frames) == ["one", "A draft.", "Checked.", "two", "3", "Checked."]
    posted = [at for at, frame in enumerate(frames) if texts([frame]) in (["two"], ["3"])]
    assert [frames[at - 1]["event"] for at in [*posted, len(frames)]] == ["session.paused"] * 3


PREFIXES = [
    ("alice: hi", "alice", "hi"),
    ("zoe:hi", "zoe", "hi"),
    ("zoe:  two spaces", "zoe", " two spaces"),
    ("alice: zoe: hi", "alice", "zoe: hi"),
    ("bob: hi", "alice", "bob: hi"),
    ("Alice: hi", "alice", "Alice: hi"),
    ("alice : hi", "alice", "alice : hi"),
    ("note: hi", "alice", "note: hi"),
]


@pytest.mark.parametrize(("text", "member", "said"), PREFIXES)
def test_who_speaks(text: str, member: str, said: str, moot: Moot) -> None:
    """The prefix counts only if it equals a human's id; otherwise the human waited for speaks, whatever is written."""
    _, frames = moot.talk("alice: first", text)
    (_, posted) = [frame["metadata"] for frame in frames if frame["event"] == "message.posted"]
    assert (posted["member"], posted["text"]) == (member, said)


def test_a_sender_that_cannot_be_told_is_refused(moot: Moot) -> None:
    """Two humans and nobody waited for: exit 1 with the hint; the session is there all the same."""
    said = moot("run", CHAT, "--json", "--say", "hi")
    assert said.code == 1
    assert "[FROM: name]" in said.err
    assert names(said.objects) == ["agent.session_created"]


REFUSED = {
    " ": "Message content cannot be empty",
    "/nonsense": "Unknown command /nonsense",
    "/retry": "no failed turn",
    "/queue clear": "The queue is empty",
    "[FROM: bob] hi": "is an AI",
    "[FROM: dora] hi": "not found",
}


def test_a_session_in_which_nothing_was_said_is_not_kept(moot: Moot) -> None:
    """Its id was printed already, so that its end is told too."""
    said = moot("run", CHAT, "--say", "alice: /nonsense")
    first, *_, last = said.err.splitlines()
    assert last == f"{first} was not kept: nothing was said in it"
    assert not moot("sessions", "list").out


@pytest.mark.parametrize("refused", REFUSED)
def test_a_refused_text_does_not_stop_the_others(refused: str, moot: Moot) -> None:
    """It is explained on stderr, the rest is said, and the exit code is 1."""
    said = moot("run", CHAT, "--json", "--say", "alice: one", refused, "alice: two")
    assert said.code == 1
    assert REFUSED[refused] in said.err
    assert texts(said.objects) == ["one", "two"]
    assert said.objects[-1]["event"] == "session.paused"


def test_what_agents_do_is_no_failure_of_the_run(tmp_path: Path, moot: Moot) -> None:
    """A failed turn pauses the session; every text was accepted, so the exit code is 0."""
    file = tmp_path / "team.yaml"
    file.write_text(SLEEPER % "{error: {type: network, message: gone}}")
    said = moot("run", str(file), "--json", "--say", "[NEXT: bob, carol] hello", "/retry")
    assert said.code == 0
    assert names(said.objects).count("turn.failed") == 1
    assert texts(said.objects) == ["hello", "second", "me too"]


def test_a_failed_agent_can_fail_the_run(tmp_path: Path, moot: Moot) -> None:
    """With `--fail-on agent` a failed turn of this run is exit 8; turns that failed earlier do not count."""
    file = tmp_path / "team.yaml"
    file.write_text(SLEEPER % "{error: {type: network, message: gone}}")
    said = moot("run", str(file), "--fail-on", "agent", "--json", "--say", "[NEXT: bob] hello")
    assert said.code == 8
    session_id = said.objects[0]["session_id"]
    again = moot("run", str(file), "--fail-on", "agent", "--session", session_id, "--say", "/retry")
    assert again.code == 0, again.err
    refused = moot("run", CHAT, "--fail-on", "agent", "--say", "alice: /nonsense")
    assert refused.code == 1


def test_a_misspelt_name_is_suggested(moot: Moot) -> None:
    """`[NEXT: bobb]` prints the name that was probably meant."""
    said = moot("run", CHAT, "--say", "alice: [NEXT: bobb] hello")
    assert "◦ Nobody here is called bobb. Did you mean [NEXT: Bob]?" in said.lines


def test_nothing_follows_the_end(moot: Moot) -> None:
    """A completed session accepts nothing more."""
    said = moot("run", CHAT, "--json", "--say", "alice: bye [DONE]", "alice: one more thing")
    assert said.code == 1
    assert "start a new one" in said.err
    assert said.objects[-1]["event"] == "session.completed"


ANSWERS = [
    ("approve", [], 0, {"confirmed": True}),
    ("reject", ["bob"], 0, {"confirmed": False}),
    ("clear", [], 0, {"choice": "clear"}),
    ("keep", ["bob"], 0, {"choice": "keep"}),
    ("maybe", ["bob"], 1, None),
]


def show(moot: Moot, session_id: str) -> dict[str, object]:
    (shown,) = moot("sessions", "show", session_id, "--json").objects
    state: dict[str, object] = shown["state"]
    return state


@pytest.mark.parametrize(("answer", "queue", "code", "recorded"), ANSWERS)
def test_answers(answer: str, queue: list[str], code: int, recorded: dict[str, object] | None, moot: Moot) -> None:
    """approve and reject confirm or not, an option's id chooses it, anything else is text: refused where none fits."""
    said = moot("run", CHAT, "--json", "--say", "alice: [NEXT: Zoe, Bob] hello", "/queue clear", "--answer", answer)
    assert said.code == code
    closed = [frame for frame in said.objects if frame["event"] == "agent.user_confirm_closed"]
    if recorded is None:
        assert closed == []
        assert "choose one of clear, keep" in said.err
    else:
        (frame,) = closed
        (asked,) = [frame for frame in said.objects if frame["event"] == "agent.user_confirm"]
        assert frame["step_id"] == asked["step_id"] == frame["metadata"]["step_id"]
        assert recorded.items() <= frame["metadata"].items()
        assert {"kind", "options", "expires_at", "default"} <= set(asked["metadata"])
    state = show(moot, said.objects[0]["session_id"])
    assert state["pending"] == queue
    assert said.objects[-1]["event"] == "session.paused"


def test_a_question_may_stay_open(moot: Moot) -> None:
    """With no answer left the run says the rest and ends with the step open; a later run answers it."""
    session_id, frames = moot.talk("alice: [NEXT: Zoe, Bob] hello", "/queue clear", "/status")
    assert names(frames)[-2:] == ["notice.posted", "session.paused"]
    assert len(show(moot, session_id)["questions"]) == 1  # type: ignore[arg-type]
    said = moot("run", CHAT, "--json", "--session", session_id, "--answer", "approve")
    assert said.code == 0
    assert "agent.user_confirm_closed" in names(said.objects)
    state = show(moot, session_id)
    assert (state["pending"], state["questions"]) == ([], [])


def test_answers_wait_for_questions(moot: Moot) -> None:
    """Answers are used up in the order of the questions; those that nobody asked for harm nobody."""
    say = ["alice: [NEXT: Zoe, Bob] hello", "/queue clear", "/queue clear"]
    said = moot("run", CHAT, "--json", "--say", *say, "--answer", "keep", "approve", "approve")
    assert said.code == 0
    closed = [frame["metadata"] for frame in said.objects if frame["event"] == "agent.user_confirm_closed"]
    assert [(each.get("choice"), each.get("confirmed")) for each in closed] == [("keep", None), (None, True)]


def test_a_session_goes_on(moot: Moot) -> None:
    """--session takes an id or its beginning, prints only what is new, and its chain fits behind what was."""
    session_id, frames = moot.talk("alice: one")
    said = moot("run", CHAT, "--json", "--session", session_id[:8], "--say", "zoe: two")
    assert said.code == 0
    assert said.objects[0]["seq"] == len(frames) + 1
    check_chain(said.lines, previous=frames[-1]["hash"])
    assert texts(moot.frames(session_id)) == ["one", "two"]
    assert moot("run", CHAT, "--session", session_id).out == ""


def test_a_session_that_is_not_there(moot: Moot) -> None:
    """Unknown and ambiguous ids exit with 4 and say what to do."""
    for _ in range(2):
        moot.talk("alice: hello")
    for wanted, hint in (("s_nobody", "sessions list"), ("s_", "give more of the id")):
        said = moot("run", CHAT, "--session", wanted, "--say", "alice: hi")
        assert (said.code, said.out) == (4, "")
        assert hint in said.err


def test_a_timeout_ends_the_run_and_not_the_session(tmp_path: Path, moot: Moot) -> None:
    """Exit 7 says so; the turn stays outstanding and the next run goes on with it, then with its own texts."""
    file = tmp_path / "team.yaml"
    file.write_text(SLEEPER % "{hang: true}")
    said = moot("run", str(file), "--json", "--timeout", "2", "--say", "[NEXT: bob, carol] hello", "never said")
    assert said.code == 7
    session_id = said.objects[0]["session_id"]
    assert said.err.splitlines()[1:] == [f"moot: --timeout 2 is over; `--session {session_id}` goes on"]
    assert names(said.objects)[-2:] == ["turn.started", "queue.changed"]
    file.write_text(SLEEPER % "at last")
    again = moot("run", str(file), "--json", "--session", session_id, "--say", "thanks")
    assert again.code == 0
    assert texts(moot.frames(session_id)) == ["hello", "at last", "me too", "thanks"]
    assert again.objects[0]["event"] == "turn.completed"
    assert again.objects[0]["metadata"]["turn_id"] == "t1"
    check_chain([*said.lines, *again.lines])


def test_text_for_people(moot: Moot) -> None:
    """Without --json the conversation is printed, with the queue, the notices and whose turn it is."""
    said = moot("run", CHAT, "--title", "Poster", "--say", "alice: [NEXT: Bob] hello")
    expected = [
        "— Poster · Alice, Zoe, Bob, Carol, sleepy",
        "Alice → Bob: hello",
        "📋 Queue: [Bob ⏳]",
        "  · Bob: short",
        "Bob → Carol: A draft.",
        "⚠️ 'Dora' is not in this team, skipped",
        "📋 Queue: [Carol ⏳]",
        "Carol: Checked.",
    ]
    assert [line for line in said.lines if line in expected] == expected
    assert said.lines[-1].startswith("⏸")
    assert "Alice" in said.lines[-1]


HOLD = """
import asyncio, sys, moot

async def hold(team, data):
    async with moot.open(team, data=data) as app:
        session = await app.session()
        print(session.id, flush=True)
        await anext(aiter(session.say("[NEXT: sleepy] hello", "alice")))
        await asyncio.sleep(60)

asyncio.run(hold(*sys.argv[1:]))
"""


def test_a_second_process_is_told_who_has_the_data(moot: Moot) -> None:
    """Beside a program that takes no windows exit 5 names its pid; reading works there, removing does not."""
    command = [sys.executable, "-c", HOLD, CHAT, str(moot.data)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout
            process.stdout.readline()
            refused: list[Said] = [moot("run", CHAT, "--say", "alice: hi")]
            (listed,) = moot("sessions", "list", "--json").objects
            refused.append(moot("sessions", "rm", listed["session_id"]))
        finally:
            process.kill()
    for said in refused:
        assert (said.code, said.out) == (5, "")
        assert f"process {process.pid}" in said.err
    assert (listed["status"], listed["busy"]) == ("active", True)
    assert moot("run", CHAT, "--say", "alice: now it is free").code == 0
