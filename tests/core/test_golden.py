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
from moot.core.flows.chat.chat_settings import ChatSettings
from moot.core.flows.plan.plan_events import PLAN_FACTS
from moot.core.flows.registry import FACTS, show
from moot.core.flows.supervisor.supervisor_events import SUPERVISOR_FACTS
from moot.core.session.attachments import Attachment
from moot.core.session.commands import (
    Answer,
    AskHuman,
    AskMember,
    AskPeople,
    AwaitAnswer,
    CancelTurn,
    ChangeQueue,
    Command,
    CompleteTurn,
    CreateSession,
    ExpireTurn,
    FailTurn,
    HandOver,
    Pause,
    Post,
    Rename,
    ReportBlocked,
    ReportDelivery,
    ReportStep,
    Resume,
    Retry,
    ShowFile,
)
from moot.core.session.events import (
    BudgetCounted,
    InputDeferred,
    NoticePosted,
    Option,
    TurnSpent,
    UnderstandingCompleted,
    UnderstandingStarted,
)
from moot.core.session.grants import OPTIONS, Grant
from moot.core.session.permissions import name_step
from moot.core.session.settings import Budget
from moot.core.session.state import State
from moot.core.session.team import Language, Team, member
from moot.core.session.tool_use import ToolUse
from moot.core.session.usage import Usage
from moot.core.session.workspace_events import WORKSPACE_FACTS
from tests.core.teams import fold, only

GOLDEN = Path(__file__).parents[1] / "data" / "golden"
LOG, FINAL = GOLDEN / "chat-v1.jsonl", GOLDEN / "chat-v1.state.json"
SESSION_ID = "golden-chat-v1"
ASKED = "asked"  # stands for the question to people that is open

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
    AskHuman(
        turn_id="running",
        key="Bash: make",
        question="Bash: make",
        options=tuple(Option(id=name, label=name) for name in OPTIONS),
        default="reject_once",
        tool=ToolUse(id="call_1", kind="execute", title="make"),
        grant=Grant(tool="Bash", pattern="make"),
    ),
    Answer(step_id=name_step("t1", "Bash: make"), by="alice", choice="allow_session"),
    Post(text="/permissions", by="alice"),
    Post(text="/permissions revoke 1", by="alice"),
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
    Answer(step_id="confirm_queue_clear_3", by="adam", choice="keep", answer="not yet"),
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
    Post(text="[NEXT: dave] 帮忙 and show it", by="alice"),
    AskMember(turn_id="running", key="k1", to="Carol", question="哪个版本？"),
    CompleteTurn(turn_id="aside", text="3.11 [NEXT: bob]", usage=Usage(input_tokens=2, output_tokens=3)),
    AskPeople(turn_id="running", key="k2", question="Ship it?", options=(Option(id="yes", label="Yes"),), to="Adam"),
    AwaitAnswer(turn_id="running", question_id=ASKED),
    HandOver(turn_id="running", to="bob", reason="测试"),
    Post(text="@dave 顺便看看日志", by="alice"),
    ReportDelivery(turn_id="running", number=1, how="boundary"),
    ShowFile(
        turn_id="running",
        path="out/报告.md",
        file=Attachment(sha256="ab" * 32, name="报告.md", media_type="text/plain", size=12),
        caption="草稿",
    ),
    FailTurn(turn_id="running", error_type="rate_limit", message="limit", retry_after_s=10_800.0),
    Resume(by="adam"),
    Answer(step_id=ASKED, choice="yes", answer="but slowly", by="adam"),
    ReportBlocked(turn_id="running", reason="没有权限"),
    CompleteTurn(turn_id="running", text="cannot"),
    Post(text="thanks [DONE]", by="alice"),
    Rename(title="金色的结局", by="adam"),
]


def write() -> None:
    """Play the story and write one frame a line, in the language of the moment, and the final state."""
    decided = create(CreateSession(team=TEAM, title="金色 golden"))
    now, head, lines = decided.state, Head(), []
    for number, command in enumerate([None, *STORY]):
        if command:
            command = _aim(command, now)
            decided = decide(now, command, "2026-01-01T00:00:00.000Z")
            now = decided.state
        events = stamp(TEAM, SESSION_ID, head, decided.facts, f"2026-01-01T00:00:{number:02}.000Z")
        head = events[-1].head
        lines += [frame(event, now.language) for event in events]
    GOLDEN.mkdir(parents=True, exist_ok=True)
    LOG.write_bytes(b"".join(line + b"\n" for line in lines))
    FINAL.write_bytes(msgspec.json.format(states.encode(now)) + b"\n")


def _aim(command: Command, now: State) -> Command:
    """Point a command of the story at the turn or the aside that runs, and at the question that was asked in it."""
    if getattr(command, "turn_id", None) == "running":
        command = replace(command, turn_id=now.running[0].turn_id)
    elif getattr(command, "turn_id", None) == "aside":
        command = replace(command, turn_id=now.asides[0].turn_id)
    asked = next((step_id for step_id in now.open_steps if step_id.startswith("ask_")), "")
    for name in ("question_id", "step_id"):
        if getattr(command, name, None) == ASKED:
            command = replace(command, **{name: asked})
    return command


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
    elsewhere = {
        *PLAN_FACTS,
        *SUPERVISOR_FACTS,
        *WORKSPACE_FACTS,
        BudgetCounted,  # only teams with a budget of a period or of several sessions
        InputDeferred,
        TurnSpent,  # after a turn that was stopped (test_budgets.py)
        UnderstandingStarted,
        UnderstandingCompleted,
    }
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
