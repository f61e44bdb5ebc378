"""A log of the supervisor flow that an earlier version wrote still decodes, verifies and folds to the same state.

`python -m tests.core.test_golden_supervisor` from the root of the repository writes the files anew. Do that only for a
version that was never released; afterwards a new kind of log is a new file with the next number, and the old ones stay.
"""

from typing import Any

import msgspec

from moot.core import states
from moot.core.codec import Event, Head, chain, decode, frame, stamp
from moot.core.flows.supervisor.supervisor_events import SUPERVISOR_FACTS
from moot.core.session.commands import Pause, Resume
from moot.testing.supervisor_scenario import SupervisorScenario
from tests.core.studio import APPROVED, BODY, GOOD, REJECTED, scores
from tests.core.teams import fold
from tests.core.test_golden import GOLDEN
from tests.core.test_supervisor_flow import BRIEF, STUDIO, started

LOG, FINAL = GOLDEN / "supervisor-v1.jsonl", GOLDEN / "supervisor-v1.state.json"
SESSION_ID = "golden-supervisor-v1"
AT = "2026-01-01T00:00:00.000Z"
ASK: dict[str, Any] = {
    "question": "谁来读？",
    "key": "layoutPreference",
    "options": ["初学者", "厨师"],
    "selection": "single",
}


def play() -> SupervisorScenario:
    """Everything that can be logged, once at least."""
    session = started(pause_after=("layout_planner_agent",))
    session.mutters("嗯……").decides("review_agent", guidance="先写", focus_areas=["开头", "长度"])
    session.acts(state={**BODY, "iterationCount": 7}).decides("brief_compiler_agent").acts("问一下", ask=ASK)
    session.answers(selected_ids=("厨师",), by="you").acts(state=BRIEF)
    session.decides("research_evidence_agent").acts(
        tool_calls=({"name": "search", "args": {"q": "香草"}, "id": "c1"}, {"name": "count", "result": [1, 2.5, None]})
    )
    session.tool_gives(error="no line").acts(state={"evidencePack": ["\u2028", {"a": True}]})
    session.decides("layout_planner_agent").acts(state={"layoutSpec": {"columns": 1}})
    session.answers(choice="reject", answer="两栏").acts(state={"layoutSpec": {"columns": 2}})
    session.answers(state={"layoutSpec": {"columns": 3}}, by="you")
    session.says("加一点罗勒").understands("same_task_minor_change")
    session.decides("review_agent").acts(state={**REJECTED, **scores(infoDensity=0.3)})
    session.mutters("?").mutters("??").acts(state={"evidencePack": []}).mutters("???")
    session.answers(choice="writer_agent", answer="短一点").fails("network", "连接断开")
    session.says("/retry").when(Pause(by="you")).acts(state=BODY).when(Resume(by="you"))
    session.says("另一个任务").understands("different_task").answers(choice="finish_first")
    session.decides("review_agent").acts(state={**APPROVED, **GOOD})
    session.says("thanks [DONE]")
    assert session.refusal is None
    return session


def write() -> None:
    session = play()
    events = stamp(session.state.team, SESSION_ID, Head(), session.facts, AT)
    LOG.write_bytes(b"".join(frame(event, "zh") + b"\n" for event in events))
    FINAL.write_bytes(msgspec.json.format(states.encode(session.state)) + b"\n")


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


def test_the_golden_log_verifies_and_folds_to_the_golden_state() -> None:
    """The same log gives the same state, version after version."""
    events, previous = read(), ""
    for event in events:
        previous = chain(previous, event.data)
        assert event.hash == previous
    folded = fold(event.fact for event in events)
    assert folded == states.decode(FINAL.read_bytes())
    assert states.decode(states.encode(folded)) == folded


def test_the_golden_facts_are_still_written_the_same_way() -> None:
    """One encoding; only the first event may gain settings that did not exist then."""
    first, *rest = read()
    head = first.head
    for event in rest:
        (again,) = stamp(STUDIO, SESSION_ID, head, [event.fact], event.timestamp)
        assert again == event
        head = again.head


def test_the_golden_log_has_every_event_of_the_flow() -> None:
    """A kind of event that is not in it would not be protected."""
    assert {kind.event for kind in SUPERVISOR_FACTS} <= {event.name for event in read()}


if __name__ == "__main__":
    write()
