"""Which tasks are in the hands of workers."""

from moot.core.machines.task import State as TaskState
from moot.core.state import State


def are_tasks_held(state: State) -> bool:
    """Whether workers have taken tasks, not only been offered them. After a restart those workers are gone."""
    work = state.work
    return work is not None and any(
        work.tasks[task_id].state is not TaskState.DISPATCHING for task_id in work.dispatches.values()
    )
