"""What a screen shows of a supervisor's job: who was chosen and why, the shared state, tools, reviews."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from moot.core.supervisor_settings import SUPERVISOR

CHOICES = 100  # the newest; the log keeps the rest
TEXT_CHARS = 2_000

Said = dict[str, Any]


class Choice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A decision, or a turn of the supervisor without one (`fault`)."""

    seq: int
    at: str
    next: str = ""
    member: str | None = None
    guidance: str = ""
    focus_areas: tuple[str, ...] = ()
    corrected_from: str | None = None
    correction: str | None = None
    fault: str = ""
    given: str = ""


class ToolRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool that was called, newest round only; without `is_done` it runs."""

    call_id: str
    agent: str
    name: str
    args: dict[str, Any] = {}
    round: int = 1
    is_done: bool = False
    result: Any = None
    error: str = ""


class Review(Struct, frozen=True, kw_only=True, omit_defaults=True):
    approved: bool
    iteration: int
    fallback: str | None = None


class SupervisedJob(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One job from its goal to its end. `state` is what the agents share; `writers` says who wrote a key last."""

    goal: str = ""
    asked_by: str = ""
    acting: str = SUPERVISOR  # the supervisor or an agent, the last one whose turn began
    steps: int = 0
    choices: tuple[Choice, ...] = ()
    unusable_in_a_row: int = 0
    state: dict[str, Any] = {}
    writers: dict[str, str] = {}
    tools: tuple[ToolRow, ...] = ()
    review: Review | None = None
    outcome: str = ""
    reason: str = ""

    @property
    def is_active(self) -> bool:
        return not self.outcome


def begin(said: Said) -> SupervisedJob:
    return SupervisedJob(goal=said["goal"][:TEXT_CHARS], asked_by=said["asked_by"])


def start_turn(job: SupervisedJob, node: str) -> SupervisedJob:
    return replace(job, acting=node, steps=job.steps + 1)


def _decide(job: SupervisedJob, said: Said, seq: int, at: str) -> SupervisedJob:
    decision = said["decision"]
    choice = Choice(
        seq=seq,
        at=at,
        next=said["next"],
        member=said.get("member"),
        guidance=decision["guidance"],
        focus_areas=tuple(decision["focus_areas"]),
        corrected_from=said.get("corrected_from"),
        correction=said.get("correction"),
    )
    silent = job.unusable_in_a_row if choice.correction == "quality_fallback" else 0
    return replace(job, choices=(*job.choices, choice)[-CHOICES:], unusable_in_a_row=silent)


def _fail_to_decide(job: SupervisedJob, said: Said, seq: int, at: str) -> SupervisedJob:
    choice = Choice(seq=seq, at=at, member=said["member"], fault=said["fault"], given=said["given"])
    return replace(job, choices=(*job.choices, choice)[-CHOICES:], unusable_in_a_row=said["count"])


def _update(job: SupervisedJob, said: Said, seq: int, at: str) -> SupervisedJob:  # noqa: ARG001 - one signature for all
    who = said.get("member") or ""
    return replace(
        job,
        state={**job.state, **said["changes"]},
        writers={**job.writers, **dict.fromkeys(said["changes"], who)},
    )


def _call_tools(job: SupervisedJob, said: Said, seq: int, at: str) -> SupervisedJob:  # noqa: ARG001
    rows = tuple(
        ToolRow(
            call_id=call["call_id"],
            agent=said["agent"],
            name=call["name"],
            args=call.get("args", {}),
            round=said["round"],
        )
        for call in said["calls"]
    )
    return replace(job, tools=rows)


def _complete_tool(job: SupervisedJob, said: Said, seq: int, at: str) -> SupervisedJob:  # noqa: ARG001
    def end(row: ToolRow) -> ToolRow:
        return replace(row, is_done=True, result=said.get("result"), error=said.get("error", ""))

    return replace(job, tools=tuple(end(row) if row.call_id == said["call_id"] else row for row in job.tools))


def _review(job: SupervisedJob, said: Said, seq: int, at: str) -> SupervisedJob:  # noqa: ARG001
    review = Review(approved=said["approved"], iteration=said["iteration"], fallback=said.get("fallback"))
    return replace(job, review=review, state={**job.state, "iterationCount": said["iteration"]})


def _note(job: SupervisedJob, said: Said, seq: int, at: str) -> SupervisedJob:  # noqa: ARG001 - its message is shown
    return job


def _end(job: SupervisedJob, said: Said, seq: int, at: str) -> SupervisedJob:  # noqa: ARG001
    return replace(job, outcome=said["outcome"], reason=said["reason"])


FOLD: dict[str, Callable[[SupervisedJob, Said, int, str], SupervisedJob]] = {
    "supervisor.decided": _decide,
    "supervisor.undecided": _fail_to_decide,
    "supervisor.state_updated": _update,
    "supervisor.tools_called": _call_tools,
    "supervisor.tool_completed": _complete_tool,
    "supervisor.reviewed": _review,
    "supervisor.input_noted": _note,
    "supervisor.ended": _end,
}
