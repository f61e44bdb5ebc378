"""The workflow of a piece of work: each move along its machine is an event."""

from moot.core.draft import Draft
from moot.core.flows.plan import questions
from moot.core.flows.plan.jobs import work_of
from moot.core.flows.plan.plan_events import BROUGHT_BACK, SnapshotSaved, WorkflowChanged
from moot.core.flows.plan.plan_state import Work
from moot.core.machines.workflow import WORKFLOW, Trigger, WorkflowState


def begin(
    draft: Draft,
    question: str,
    asked_by: str,
    *,
    is_deferred: bool = False,
    follows: bool = False,
    asks_back: bool = False,
) -> None:
    draft.add(
        WorkflowChanged(
            state=WORKFLOW.initial,
            trigger="new_task",
            question=question,
            asked_by=asked_by,
            is_deferred=is_deferred,
            follows=follows,
            asks_back=asks_back,
        )
    )


def bring_back(draft: Draft) -> None:
    """Begin the work again whose plan nobody confirmed in time, as it was."""
    work = work_of(draft)
    draft.add(
        WorkflowChanged(state=WORKFLOW.initial, trigger=BROUGHT_BACK, question=work.question, asked_by=work.asked_by)
    )


def move(draft: Draft, trigger: Trigger, reason: str | None = None) -> None:
    was = work_of(draft).status
    draft.add(WorkflowChanged(was=was, state=WORKFLOW.advance(was, trigger), trigger=trigger, reason=reason))


def carry_on(draft: Draft) -> None:
    """Return to execution if no question about the work is open any more."""
    work = work_of(draft)
    waits = work.status is WorkflowState.WAIT_USER_DECISION and not work.proposed
    codes = [step.code for step in draft.state.open_steps.values()]
    if waits and not any(questions.is_about_work(code) or code == questions.REPLAN for code in codes):
        move(draft, Trigger.USER_CHOOSE_CONTINUE)


def save_snapshot(draft: Draft, reason: str) -> str:
    """Log the progress of the work, and return the id of the snapshot."""
    work = work_of(draft)
    snapshot_id = f"x{work.counts.snapshots + 1}"
    draft.add(
        SnapshotSaved(
            snapshot_id=snapshot_id,
            done=tuple(task_id for task_id, run in work.tasks.items() if run.is_finished),
            failed=tuple(task_id for task_id, run in work.tasks.items() if run.error_type and not run.is_over),
            running=tuple(work.dispatches.values()),
            waiting=_waiting(work),
            reason=reason,
        )
    )
    return snapshot_id


def _waiting(work: Work) -> tuple[str, ...]:
    return tuple(
        task_id
        for task_id, run in work.tasks.items()
        if not run.is_over and not run.is_under_way and not run.error_type
    )
