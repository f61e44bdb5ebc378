"""Turns as agents get them, for tests."""

from typing import Any

from moot.core.flows.plan.assignment import Assignment, TaskReport
from moot.core.flows.plan.tasks import Task
from moot.core.flows.turns import Job, TurnInput
from moot.core.session.state import Message
from moot.core.session.team import Language, member

MEMBERS = (
    member("alice", "human", name="Alice"),
    member("bob", "ai", name="Bob", role="reviewer"),
    member("carol", "ai", name="Carol"),
)


def chat_turn(*said: tuple[str, str], language: Language = "en", team_task: str = "", **fields: Any) -> TurnInput:
    """Bob's turn after these messages (who, what)."""
    history = tuple(Message(who, what) for who, what in said)
    return TurnInput(
        session_id="s_test",
        turn_id="t1",
        member=MEMBERS[1],
        index=0,
        message=history[-1] if history else None,
        history=history,
        team_task=team_task,
        addressable=MEMBERS,
        language=language,
        **fields,
    )


def job_turn(job: Job, language: Language = "en", **assignment: Any) -> TurnInput:
    """Bob's turn with a job of a plan."""
    asked = Assignment(**{"question": "Write a poster", **assignment})
    return chat_turn(("alice", "Write a poster"), language=language, job=job, assignment=asked)


def task(task_id: str, title: str, **fields: Any) -> Task:
    document = {"id": task_id, "title": title, "depends_on": [], **fields}
    return Task(id=task_id, title=title, document=document)


def report(task_id: str, result: str = "", state: str = "DONE") -> TaskReport:
    return TaskReport(task=task(task_id, f"Title of {task_id}"), state=state, result=result)
