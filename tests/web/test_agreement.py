"""One truth, two languages: the page's reducer shows what the Python reducer shows, after every event."""

import json
import subprocess
from typing import Any

from hypothesis import Phase, given, settings

from moot.protocol.supervisor_view import SupervisedJob
from moot.protocol.view import View, reduce
from moot.protocol.work_view import Work
from tests.core import test_supervisor_properties as supervised
from tests.core.plan_moves import Move, histories
from tests.core.test_plan_properties import opening, play, teams
from tests.protocol.client_cases import DATA
from tests.protocol.test_plan_view import frames_of
from tests.web.node import NODE, ROOT, needs_node

Frame = dict[str, Any]


def project(view: View) -> Frame:
    """As tests/web/js/project.mjs does."""
    counters, work = view.counters, view.work
    return {
        **{name: getattr(view, name) for name in ("seq", "waiting_for", "pause_reason", "executing", "hops", "title")},
        "status": str(view.status),
        "pending": list(view.pending),
        "counters": [counters.messages, counters.turns, counters.failed_turns, counters.tokens],
        "messages": [[each.seq, each.member, each.text] for each in view.messages],
        "notices": [[each.seq, each.text] for each in view.notices],
        "questions": [
            [each.step_id, each.kind, each.text, [task["id"] for task in each.tasks or ()]] for each in view.questions
        ],
        "running": [[each.turn_id, len(each.steps), each.streamed, each.thinking] for each in view.running],
        "work": None if work is None else project_work(work),
        "supervision": None if view.supervision is None else project_job(view.supervision),
    }


def project_work(work: Work) -> Frame:
    return {
        "status": str(work.status),
        "summary": work.summary,
        "answer": work.answer,
        "is_aggregating": work.is_aggregating,
        "tasks": [
            [
                *(row.id, str(row.state), row.member, row.attempt, row.retries, row.done, row.total, row.result),
                *(row.error_type, row.message, row.feedback, row.is_skipped, bool(row.retry_in_s)),
            ]
            for row in work.tasks.values()
        ],
        "slots": {agent: str(state) for agent, state in work.slots.items()},
    }


def project_job(job: SupervisedJob) -> Frame:
    review = job.review
    return {
        **{name: getattr(job, name) for name in ("goal", "acting", "steps", "outcome", "reason", "state", "writers")},
        "review": None if review is None else [review.approved, review.iteration, review.fallback],
        "choices": [[each.seq, each.next, each.corrected_from, each.fault] for each in job.choices],
        "tools": [[each.call_id, each.agent, each.name, each.round, each.is_done, each.error] for each in job.tools],
    }


def check_agreement(sessions: list[list[Frame]]) -> None:
    lines = "".join(json.dumps(frames) + "\n" for frames in sessions)
    command = [NODE or "", str(ROOT / "tests" / "web" / "js" / "project.mjs")]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=60, check=True)
    for frames, line in zip(sessions, done.stdout.split("\n")[:-1], strict=True):
        view = View()
        for frame, shown in zip(frames, json.loads(line), strict=True):
            view = reduce(view, frame)
            expected = project(view)
            assert shown == expected, frame


def stream(frames: list[Frame]) -> list[Frame]:
    """A session with thoughts and text as they come: what follows a thought is a word, a step, or the turn's end."""
    told: list[Frame] = []
    for frame in frames:
        told.append(frame)
        if frame["event"] == "turn.started":
            for event, text in [("thinking", "So "), ("thinking", "what?"), ("delta", "Well"), ("thinking", "Hm.")]:
                said = {"turn_id": frame["metadata"]["turn_id"], "text": text}
                told.append({"event": f"turn.{event}", "session_id": frame["session_id"], "metadata": said})
    return told


@needs_node
def test_the_golden_sessions_agree() -> None:
    """UX: both interfaces show the same state for the same recorded sessions, of all three flows."""
    logs = sorted((DATA / "golden").glob("*.jsonl"))
    assert len(logs) >= 3
    check_agreement([stream([json.loads(line) for line in log.read_text("utf-8").split("\n")[:-1]]) for log in logs])


@needs_node
def test_made_up_plans_agree() -> None:
    """UX, spec 1: tasks, slots, questions and counters of made-up plan sessions, event by event."""
    sessions: list[list[Frame]] = []

    @settings(max_examples=30, phases=[Phase.generate])
    @given(teams, histories)
    def collect(team: Any, history: list[Move]) -> None:
        facts, _ = play(team, [opening[0], *history])
        sessions.append(frames_of(team, facts))

    collect()
    check_agreement(sessions)


@needs_node
def test_made_up_jobs_agree() -> None:
    """UX, spec 1: decisions, tools, reviews and the shared state of made-up supervisor sessions, event by event."""
    sessions: list[list[Frame]] = []

    @settings(max_examples=30, phases=[Phase.generate])
    @given(supervised.teams, supervised.histories)
    def collect(team: Any, parts: tuple[list[Any], list[Any]]) -> None:
        facts, _ = supervised.play(team, [*supervised.begin, *parts[0], *parts[1]])
        sessions.append(frames_of(team, facts))

    collect()
    check_agreement(sessions)
