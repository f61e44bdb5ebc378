"""The questions that the plan flow asks, and closing those that nobody needs to answer any more."""

from collections.abc import Callable
from typing import Any

from moot.core.draft import Draft
from moot.core.events import Input, Option, StepAsked, StepClosed
from moot.core.notices import CATALOGUE
from moot.core.plan.workflow import concerns_work

FAILURE_OPTIONS = ("retry", "skip", "reassign", "replan", "abort")


def ask(
    draft: Draft,
    code: str,
    options: tuple[str, ...],
    *,
    step_id: str | None = None,
    kind: str = "decision",
    expires_at: str | None = None,
    default: str | None = None,
    **about: Any,
) -> None:
    """Ask people to decide. `about` are further fields of the question: the task, the input, parameters of its text."""
    state = draft.state
    draft.add(
        StepAsked(
            step_id=step_id or f"{code}_{state.step_count + 1}",
            kind=kind,
            options=tuple(Option(id=each, label=CATALOGUE[f"option_{each}"][state.language]) for each in options),
            expires_at=expires_at,
            default=default,
            code=code,
            **about,
        )
    )


def ask_about_input(draft: Draft, code: str, options: tuple[str, ...], said: Input) -> None:
    ask(draft, code, options, input=said, asked_by=said.member, detail=said.text[:200])


def supersede(draft: Draft, matches: Callable[[StepAsked], bool]) -> None:
    for step in draft.state.open_steps.values():
        if matches(step):
            draft.add(StepClosed(step_id=step.step_id, outcome="superseded"))


def supersede_work(draft: Draft) -> None:
    """The work is over or begins anew: what was asked about its tasks is settled by that."""
    supersede(draft, lambda step: concerns_work(step.code))


def supersede_task(draft: Draft, task_id: str) -> None:
    supersede(draft, lambda step: step.task_id == task_id)
