"""The rows of the timeline: words that people read, never a name out of the code; start and end in one row."""

import json
import re
from collections.abc import Iterator

import pytest

from moot.core.codec import decode
from moot.core.flows.plan.plan_commands import CancelTask, EndGrace, RestartTask
from moot.core.session.commands import Command, Pause
from moot.core.session.events import TurnCompleted, TurnStarted
from moot.core.session.team import LANGUAGES, Language
from moot.core.texts import find_text
from moot.core.view import project
from moot.telling.teller import Teller
from moot.telling.timeline import MOST_ROWS, Row, Timeline, describe
from moot.testing import task
from moot.testing.scenario import given
from tests.core.plan_teams import TEAM, solving
from tests.core.teams import make_chat_team
from tests.protocol.client_cases import DATA

CODE = re.compile(r"\b[a-z]+(_[a-z]+)+\b|\b[A-Z]+(_[A-Z]+)+\b|\b\w+#\d")
FLOWS = ("chat", "plan", "supervisor")


def read(flow: str) -> tuple[Timeline, Teller]:
    """A golden session, with a time of its own for each event."""
    timeline, teller = Timeline(), Teller()
    for line in (DATA / "golden" / f"{flow}-v1.jsonl").read_bytes().splitlines():
        fact = decode(line, "").fact
        frame = json.loads(line)
        timeline.push({**frame, "timestamp": f"{frame['seq']}"}, fact, teller.tell(fact).state)
    return timeline, teller


def tell(flow: str, language: Language) -> list[str]:
    """Every row of a golden session, with its name; but for what people wrote themselves."""
    timeline, teller = read(flow)
    assert teller.state
    return [
        f"{find_text(f'ui.event.{row.name}', language)}: {describe(row, teller.state, language)}"
        for row in timeline.rows
        if row.category != "input"
    ]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("flow", FLOWS)
def test_no_row_shows_a_name_of_the_code(flow: str, language: Language) -> None:
    """Readable labels in every language; raw values stand in the details."""
    rows = tell(flow, language)
    assert rows
    assert [row for row in rows if CODE.search(row) or row.startswith("None")] == []


def test_rows_say_who_and_what() -> None:
    """Members by their names, tasks by their titles, phases and relations in words."""
    assert "Routed: → Bob → Carol → Dave" in tell("chat", "en")
    plan = tell("plan", "en")
    assert any(row.startswith("Understanding: a new task · ") for row in plan), plan
    assert any("waiting for a decision → under way" in row for row in plan), plan


def ended(flow: str) -> Iterator[Row]:
    return (row for row in read(flow)[0].rows if row.ended_at)


def test_start_and_end_stand_in_one_row() -> None:
    """A turn, a run, a dispatch, an understanding and a question each last from one event to another."""
    assert {row.name for flow in FLOWS for row in ended(flow)} == {
        "semantic_understanding_started",
        "task_dispatch_requested",
        "task_execution_started",
        "turn.started",
        "user_confirmation_required",
    }
    assert all(int(row.ended_at) > int(row.at) for flow in FLOWS for row in ended(flow))
    failed = [row for flow in FLOWS for row in ended(flow) if row.outcome == "failed"]
    assert {row.name for row in failed} == {"turn.started", "task_execution_started"}
    assert {row.category for row in failed} == {"errors"}
    assert {row.outcome for row in ended("chat")} == {"ok", "failed", "cancelled", "superseded"}


@pytest.mark.parametrize(
    "stopping",
    [(Pause(by="alice"), EndGrace()), (RestartTask(task_id="a", by="alice"),), (CancelTask(task_id="a", by="alice"),)],
)
def test_what_is_stopped_runs_no_longer(stopping: tuple[Command, ...]) -> None:
    """A task that is put off, begun again or cancelled while it runs has a row with an end."""
    timeline, scenario = Timeline(), solving(TEAM, task("a")).starts("a").when(*stopping)
    for seq, fact in enumerate(scenario.facts, 1):
        timeline.push({"event": fact.event, "seq": seq, "timestamp": f"{seq}"}, fact, scenario.state)
    (run,) = [row for row in timeline.rows if row.fact.event == "solver.start"]
    assert (run.outcome, int(run.ended_at) > run.seq) == ("cancelled", True)


def test_the_timeline_is_bounded() -> None:
    """Everything that grows has a bound; what began before the bound may end after it."""
    timeline, state = Timeline(), given(make_chat_team()).state
    for number in range(MOST_ROWS * 2):
        start = TurnStarted(turn_id=f"t{number}", member="bob", index=0, hop=1)
        end = TurnCompleted(turn_id=f"t{number}", member="bob")
        for at, fact in enumerate((start, end), 2 * number + 1):
            timeline.push({"event": fact.event, "seq": at, "timestamp": "2026-01-01T00:00:00.000Z"}, fact, state)
    assert len(timeline.rows) <= MOST_ROWS
    assert all(row.outcome == "ok" for row in timeline.rows)


def test_rows_keep_the_titles_of_an_earlier_plan() -> None:
    """A row names its task as it was called then, also after another plan took the place of the one that had it."""
    timeline, teller = read("plan")
    state = teller.state
    assert state
    work = project(state).work
    assert work
    assert "c" not in work.tasks
    told = [describe(row, state, "en") for row in timeline.rows if getattr(row.fact, "task_id", "") == "c"]
    assert told
    assert all("Task c" in row for row in told)
