"""How what is shown of a piece of work changes: one function a fact."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from moot.core.machines.agent import AGENT, Trigger
from moot.core.machines.agent import State as Slot
from moot.protocol import task_fold
from moot.protocol.work_view import RESULT_CHARS, STEP_CHARS, Snapshot, Trouble, Unavailable, Work

Said = dict[str, Any]
_REPLANS = ("major_failure", "major_change", "user_choose_replan")


def begin(work: Work | None, said: Said) -> Work:
    """A workflow begins with `from` unset."""
    if said.get("from") is None or work is None:
        return Work(
            question=said.get("question", ""),
            asked_by=said.get("asked_by", ""),
            status=said["to"],
            trigger=said["trigger"],
            snapshot=work.snapshot if work else None,
        )
    reason = said.get("reason") if said["trigger"] in _REPLANS else None
    return replace(work, status=said["to"], trigger=said["trigger"], replan_reason=reason or work.replan_reason)


def _start_plan(work: Work, said: Said, at: str) -> Work:  # noqa: ARG001 - one signature for all
    fresh = replace(work, plan_id=said.get("plan_id", ""), plan_steps=0, plan_step="", problems=(), change="")
    rows = task_fold.stop_waiting(work.tasks)
    return replace(fresh, tasks=rows, proposed=(), kept=(), troubles={}, is_aggregating=False)


def _step_plan(work: Work, said: Said, at: str) -> Work:  # noqa: ARG001
    return replace(work, plan_steps=said["n"], plan_step=said["step"][:STEP_CHARS])


def _refuse_plan(work: Work, said: Said, at: str) -> Work:  # noqa: ARG001
    return replace(work, problems=tuple(said["problems"]))


def _complete_plan(work: Work, said: Said, at: str) -> Work:  # noqa: ARG001
    return replace(
        work,
        proposed=tuple(said["tasks"]),
        kept=tuple(said.get("kept", ())),
        summary=said["plan_summary"],
        problems=(),
    )


def _approve_plan(work: Work, said: Said, at: str) -> Work:  # noqa: ARG001
    tasks = task_fold.approve(work.tasks, said["tasks"], said.get("kept", []))
    return replace(work, tasks=tasks, proposed=(), kept=(), troubles={}, is_aggregating=False)


def _patch_plan(work: Work, said: Said, at: str) -> Work:  # noqa: ARG001
    tasks = task_fold.patch(work.tasks, said["tasks"])
    left = _forget(work, *(task_id for task_id in work.tasks if task_id not in tasks))
    return replace(work, tasks=tasks, problems=(), change="", troubles=left)


def _request_change(work: Work, said: Said, at: str) -> Work:  # noqa: ARG001
    return replace(work, change=said["text"][:STEP_CHARS], problems=(), troubles=_forget(work))


def _forget(work: Work, *task_ids: str) -> dict[str, Trouble]:
    """Without those of turns that nobody waits for any more: an answer made before, reviews of these tasks."""
    gone = {"aggregate", *(f"review:{task_id}" for task_id in task_ids)}
    return {job: each for job, each in work.troubles.items() if job not in gone}


def _end(work: Work, said: Said, at: str) -> Work:  # noqa: ARG001
    return replace(work, outcome=said["reason"], proposed=(), kept=(), change="", is_aggregating=False)


def _save_snapshot(work: Work, said: Said, at: str) -> Work:  # noqa: ARG001
    return replace(work, snapshot=msgspec.convert(said, Snapshot))


def _aggregate(work: Work, said: Said, at: str) -> Work:  # noqa: ARG001
    return replace(work, is_aggregating=True)


def _answer(work: Work, said: Said, at: str) -> Work:  # noqa: ARG001
    return replace(work, answer=said["text"][:RESULT_CHARS], is_aggregating=False)


def _complete(work: Work, said: Said, at: str) -> Work:  # noqa: ARG001
    return replace(work, outcome=said["status"])


def _open_breaker(work: Work, said: Said, at: str) -> Work:
    member = said["member"]
    slots = {
        agent_id: AGENT.follow(Slot(state), Trigger.DISPATCH_FAILURES_EXCEEDED)
        if agent_id.rpartition("#")[0] == member
        else state
        for agent_id, state in work.slots.items()
    }
    opened = Unavailable(failures=said["failures"], retry_in_s=said["retry_in_s"], since=at)
    return replace(work, slots=slots, unavailable={**work.unavailable, member: opened})


def _probe(work: Work, said: Said, at: str) -> Work:  # noqa: ARG001 - the next offer is the probe; an ack closes it
    return work


def _note_failure(work: Work, said: Said, at: str) -> Work:  # noqa: ARG001
    """Of a task its row says it; here of the turns that are no task's."""
    job = said.get("job")
    if not job:
        return work
    trouble = Trouble(error_type=said["error_type"], message=said.get("message", "")[:STEP_CHARS])
    return replace(work, troubles={**work.troubles, job: trouble})


def _retry(work: Work, said: Said, at: str) -> Work:
    job = said.get("job")
    if not job:
        return change_task(work, "error.recovery_started", said, at)
    known = work.troubles.get(job) or Trouble(error_type="")
    again = replace(
        known,
        retries=said["attempt"],
        max_attempts=said["max_attempts"],
        retry_in_s=said.get("delay_s", 0.0),
        retry_from=at,
    )
    return replace(work, troubles={**work.troubles, job: again})


def _end_trouble(work: Work, said: Said, at: str) -> Work:  # noqa: ARG001
    return replace(work, troubles={job: each for job, each in work.troubles.items() if job != said.get("job")})


# where a fact about a task leaves the slot that has it; None: the slot died or was stopped and is free again
_SLOTS: dict[str, Trigger | None] = {
    "task.dispatch_requested": Trigger.RECOVER_OR_RESET,
    "task.dispatch_acked": Trigger.DISPATCH_ACK,
    "task.dispatch_nacked": Trigger.RELEASED,
    "solver.start": Trigger.TASK_EXECUTION_STARTED,
    "solver.completed": Trigger.TASK_EXECUTION_SUCCESS,
    "task.failed": Trigger.TASK_EXECUTION_FAILURE,
    "task.lease_expired": None,
    "solver.cancelled": None,
    "solver.restarted": None,
}
_HELD = ("DISPATCHING", "DISPATCHED", "RUNNING")


def change_task(work: Work, event: str, said: Said, at: str) -> Work:
    """A fact about one task, and about the slot that has it."""
    moved = replace(work, tasks=task_fold.change(work.tasks, event, said, at))
    row = work.tasks.get(said.get("task_id") or said.get("task", {}).get("id") or "")
    if row is None or event not in _SLOTS:
        return moved
    agent_id, trigger = said.get("agent_id") or row.agent_id, _SLOTS[event]
    if trigger is None:
        moved = replace(moved, troubles=_forget(work, row.id))
        return replace(moved, slots={**work.slots, agent_id: Slot.IDLE}) if row.state in _HELD else moved
    slots = {**work.slots, agent_id: AGENT.follow(Slot(work.slots.get(agent_id, AGENT.initial)), trigger)}
    if event == "task.dispatch_acked":
        left = {member: each for member, each in work.unavailable.items() if member != said["member"]}
        return replace(moved, slots=slots, unavailable=left)
    return replace(moved, slots=slots)


FOLD: dict[str, Callable[[Work, Said, str], Work]] = {
    "plan.start": _start_plan,
    "plan.step_completed": _step_plan,
    "workflow.plan_refused": _refuse_plan,
    "plan.completed": _complete_plan,
    "workflow.plan_approved": _approve_plan,
    "workflow.patched": _patch_plan,
    "workflow.change_requested": _request_change,
    "plan.cancelled": _end,
    "agent.interrupted": _end,
    "workflow.snapshot_saved": _save_snapshot,
    "aggregate.start": _aggregate,
    "aggregate.completed": _answer,
    "pipeline.completed": _complete,
    "error.execution": _note_failure,
    "error.recovery_started": _retry,
    "error.recovery_success": _end_trouble,
    "error.recovery_failed": _end_trouble,
    "member.unavailable": _open_breaker,
    "member.probed": _probe,
}
