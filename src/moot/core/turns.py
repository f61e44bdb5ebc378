"""What a member is given when its turn comes: in chat the newest message, in a plan its job, else a brief."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from moot.core.notices import render
from moot.core.plan.state import Episode, TaskRun, Work
from moot.core.plan.tasks import Task
from moot.core.state import Message, State, Turn
from moot.core.supervisor.agent_brief import AgentBrief, brief
from moot.core.supervisor_settings import SUPERVISOR
from moot.core.team import Language, Member
from moot.core.text import is_blank

Job = Literal["chat", "plan", "patch", "solve", "review", "aggregate", "supervise", "act"]


class TaskReport(Struct, frozen=True, kw_only=True, gc=False):
    """How far a task of the plan is."""

    task: Task
    state: str
    result: str = ""


class Assignment(Struct, frozen=True, kw_only=True, gc=False):
    """A job in a plan. What is filled in depends on the job: the task, what it builds on, what was wrong before."""

    question: str
    task: Task | None = None
    tasks: tuple[TaskReport, ...] = ()
    feedback: str = ""
    problems: tuple[str, ...] = ()
    attempt: int = 1


class TurnInput(Struct, frozen=True, kw_only=True, gc=False):
    """`message` is the newest that says something, not the human's original one (seed 001 §10.3, Bug#7)."""

    session_id: str
    turn_id: str
    member: Member
    index: int
    message: Message | None
    history: tuple[Message, ...]
    team_task: str
    addressable: tuple[Member, ...]
    language: Language
    job: Job = "chat"
    assignment: Assignment | None = None
    task_index: int = 0  # how many turns the member had before for this task
    task_turns: dict[str, int] = {}  # task id → how many it had before
    brief: AgentBrief | None = None  # supervisor flow: what the supervisor and its agents are given

    @property
    def task_id(self) -> str:
        task = self.assignment.task if self.assignment else None
        return task.id if task else ""


def turn_input(session_id: str, state: State, turn: Turn) -> TurnInput:
    given = _turn_input(session_id, state, turn.turn_id, turn.member, turn.index)
    if turn.job and state.supervision is not None:
        job: Job = "supervise" if turn.job == SUPERVISOR else "act"
        return replace(given, job=job, brief=brief(state.supervision, state.team.supervisor, turn.job, state.language))
    if not turn.job or state.work is None:
        return given
    return replace(
        given,
        job=turn.job,
        assignment=_assignment(state.work, turn, state.language),
        task_index=turn.task_index,
        task_turns=turn.earlier,
    )


def task_input(session_id: str, state: State, run: TaskRun, dispatch_id: str) -> TurnInput:
    """What an executor is given: its task and the results that it builds on."""
    assert state.work is not None  # noqa: S101 - a task belongs to work
    runs = state.work.tasks
    given = _turn_input(session_id, state, dispatch_id, run.member, run.index)
    assignment = Assignment(
        question=state.work.question,
        task=run.task,
        tasks=tuple([_report(runs[needed]) for needed in run.task.depends_on]),
        feedback=run.feedback,
        attempt=run.attempt,
    )
    return replace(given, job="solve", assignment=assignment, task_index=run.task_index, task_turns=run.earlier)


def _turn_input(session_id: str, state: State, turn_id: str, member: str, index: int) -> TurnInput:
    return TurnInput(
        session_id=session_id,
        turn_id=turn_id,
        member=state.team.member(member),
        index=index,
        message=_newest(state.history),
        history=state.history if state.team.chat.history else (),
        team_task=state.team_task,
        addressable=state.team.members,
        language=state.language,
    )


def _last_failure(turn: Turn, episode: Episode | None, language: Language) -> tuple[str, ...]:
    """What went wrong with this turn the last time; a reviewer without a verdict is told what one is."""
    if episode is None:
        return ()
    is_silent = turn.job == "review" and episode.error_type == "validation" and not episode.message
    return (render("no_verdict", language),) if is_silent else (episode.message,)


def _assignment(work: Work, turn: Turn, language: Language) -> Assignment:
    run = work.tasks.get(turn.task_id)
    episode = work.episodes.get(turn.episode)
    proposed = [TaskReport(task=task, state="PROPOSED") for task in work.discussed if turn.job == "plan"]
    return Assignment(
        question=work.question,
        task=run.task if run else None,
        tasks=(_report(run),) if run else (*(_report(each) for each in work.tasks.values()), *proposed),
        feedback=work.feedback,
        problems=work.problems or _last_failure(turn, episode, language),
        attempt=run.attempt if run else 1,
    )


def _report(run: TaskRun) -> TaskReport:
    return TaskReport(task=run.task, state="SKIPPED" if run.is_skipped else run.state, result=run.result)


def _newest(history: tuple[Message, ...]) -> Message | None:
    """A message of markers only has nothing to say to the next one."""
    for message in reversed(history):
        if not is_blank(message.text):
            return message
    return None
