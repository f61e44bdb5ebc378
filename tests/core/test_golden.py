"""A log that an earlier version wrote still decodes, verifies and folds to the same state.

`python -m tests.core.test_golden` from the root of the repository writes the files anew. Do that only for a version
that was never released; afterwards a new kind of log is a new file with the next number, and the old ones stay.
"""

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from moot.core import states
from moot.core.codec import Event, Head, chain, decode, frame, stamp
from moot.core.decide import create, decide
from moot.core.flows.plan.plan_events import PLAN_FACTS
from moot.core.flows.registry import FACTS, show
from moot.core.flows.supervisor.supervisor_events import SUPERVISOR_FACTS
from moot.core.session.commands import (
    Answer,
    CancelTurn,
    ChangeQueue,
    Command,
    CompleteTurn,
    CreateSession,
    ExpireTurn,
    FailTurn,
    Pause,
    Post,
    Rename,
    ReportStep,
    Resume,
    Retry,
)
from moot.core.session.events import InputDeferred, NoticePosted, UnderstandingCompleted, UnderstandingStarted
from moot.core.session.settings import Budget, ChatSettings
from moot.core.session.team import Language, Team, member
from moot.core.session.usage import Usage
from tests.core.teams import fold, only

GOLDEN = Path(__file__).parents[1] / "data" / "golden"
LOG, FINAL = GOLDEN / "chat-v1.jsonl", GOLDEN / "chat-v1.state.json"
SESSION_ID = "golden-chat-v1"

TEAM = Team(
    name="golden",
    language="zh",
    members=(
        member("alice", "human", name="Alice", display_name="爱丽丝", order=1),
        member("adam", "human", name="Adam", order=0),
        member("bob", "ai", name="Bob", role="reviewer", position=2),
        member("carol", "ai", name="Carol", position=3),
        member("dave", "ai", name="Dave", position=4),
    ),
    chat=ChatSettings(max_hops=3, history=4, turn_timeout_s=90.0),
    budget=Budget(max_turns=11),
)

STORY: list[Command] = [
    Post(text="你好 [NEXT: bob, 某人, carol!P3, dave!P1] [TEAM_TASK: 一起写完]", by="alice"),
    ReportStep(turn_id="running", thought="想一想", action="read", observation="ok"),
    Post(text="[NEXT: adam] 另外", by="alice"),
    CompleteTurn(
        turn_id="running", text="```\n[NEXT: x]\n```\n好的", usage=Usage(input_tokens=5, output_tokens=7, cost_usd=0.25)
    ),
    FailTurn(turn_id="running", error_type="network", message="连接断开"),
    Retry(by="alice"),
    Post(text="/lang en", by="alice"),
    ExpireTurn(turn_id="running"),
    Post(text="/queue clear", by="alice"),
    Post(text="/queue clear", by="adam"),
    Answer(step_id="confirm_queue_clear_2", by="adam", choice="keep", answer="not yet"),
    Post(text="/status", by="adam"),
    Post(text="/help", by="adam"),
    Post(text="/queue", by="adam"),
    Post(text="[NEXT: nobody] who?", by="adam"),
    Post(text="[DROP: carol, ghost] [NEXT: bob, dave, bob] go on", by="adam"),
    Post(text="carry on", by="adam"),
    Pause(by="alice"),
    CompleteTurn(turn_id="running", text='[NEXT: carol] "quoted" \\ back\u2028slash'),
    ChangeQueue(action="move", member="carol", to=0, by="alice"),
    ChangeQueue(action="skip", by="alice"),
    Resume(by="alice"),
    CompleteTurn(turn_id="running", text="[NEXT: carol] ping"),
    CompleteTurn(turn_id="running", text="[NEXT: dave] pong"),
    CompleteTurn(turn_id="running", text=""),
    Post(text="more [NEXT: bob, carol]", by="alice"),
    CancelTurn(by="adam"),
    Post(text="/retry", by="adam"),
    CompleteTurn(turn_id="running", text="ok"),
    CompleteTurn(turn_id="running", text="[NEXT: dave, bob] ok"),
    CompleteTurn(turn_id="running", text="ok"),
    Post(text="[NEXT: bob] again", by="alice"),
    Resume(by="alice"),
    Post(text="/queue", by="alice"),
    Post(text="thanks [DONE]", by="alice"),
    Rename(title="金色的结局", by="adam"),
]


def write() -> None:
    """Play the story and write one frame a line, in the language of the moment, and the final state."""
    decided = create(CreateSession(team=TEAM, title="金色 golden"))
    now, head, lines = decided.state, Head(), []
    for number, command in enumerate([None, *STORY]):
        if command:
            if getattr(command, "turn_id", None) == "running":
                command = replace(command, turn_id=now.running[0].turn_id)
            decided = decide(now, command, "2026-01-01T00:00:00.000Z")
            now = decided.state
        events = stamp(TEAM, SESSION_ID, head, decided.facts, f"2026-01-01T00:00:{number:02}.000Z")
        head = events[-1].head
        lines += [frame(event, now.language) for event in events]
    GOLDEN.mkdir(parents=True, exist_ok=True)
    LOG.write_bytes(b"".join(line + b"\n" for line in lines))
    FINAL.write_bytes(msgspec.json.format(states.encode(now)) + b"\n")


def read() -> list[Event]:
    """The frames of the file, back to stored bytes: what the encoder added at their end is taken off."""
    events = []
    for line in LOG.read_bytes().splitlines():
        sent = msgspec.json.decode(line)
        added = {key: sent[key] for key in ("show_content", "hash") if key in sent}
        tail = b"," + msgspec.json.encode(added)[1:]
        assert line.endswith(tail)
        events.append(decode(line.removesuffix(tail) + b"}", sent["hash"]))
    return events


def test_the_golden_log_decodes_and_its_chain_verifies() -> None:
    """Dense seq, and every hash follows from the one before."""
    events, previous = read(), ""
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    for event in events:
        previous = chain(previous, event.data)
        assert event.hash == previous
        assert event.session_id == SESSION_ID


def test_the_golden_facts_are_still_written_the_same_way() -> None:
    """One encoding; only the first event may gain settings that did not exist then."""
    first, *rest = read()
    head = first.head
    for event in rest:
        (again,) = stamp(TEAM, SESSION_ID, head, [event.fact], event.timestamp)
        assert again == event
        head = again.head


def test_the_golden_log_folds_to_the_golden_state() -> None:
    """The same log gives the same state, version after version."""
    folded = fold(event.fact for event in read())
    assert folded == states.decode(FINAL.read_bytes())
    assert states.decode(states.encode(folded)) == folded


def test_the_golden_log_has_every_event() -> None:
    """A kind of event that is not in it would not be protected."""
    seen = {event.name for event in read()}
    elsewhere = {*PLAN_FACTS, *SUPERVISOR_FACTS, InputDeferred, UnderstandingStarted, UnderstandingCompleted}
    assert seen == {kind.event for kind in FACTS if kind not in elsewhere}


def test_the_golden_log_speaks_both_languages_and_knows_priorities() -> None:
    """What is easily forgotten is in the file."""
    lines = LOG.read_text(encoding="utf-8")
    assert '"show_content":"⚠️ \'某人\' 不在当前团队中，已跳过"' in lines
    assert '"show_content":"⚠️ \'ghost\' is not in this team, skipped"' in lines
    assert '"priorities":["P1","P2","P3"]' in lines
    assert '"retry_of":"t2"' in lines


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_notice_of_the_golden_log_can_still_be_shown(language: Language) -> None:
    """Codes are stable; what was logged once is rendered for ever."""
    notices = only((event.fact for event in read()), NoticePosted)
    assert {"names_skipped", "unresolved", "agent_error", "agent_timeout", "hop_limit", "budget"} <= {
        notice.code for notice in notices
    }
    assert all(show(notice, language) for notice in notices)


if __name__ == "__main__":
    write()
