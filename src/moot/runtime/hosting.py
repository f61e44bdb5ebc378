"""The jobs of one session whose workers are connected to this node, and what follows for them from the log.

Whether a job goes on, the answers to its questions and what people write to its member all follow from the state. So a
worker hears of them through any node that it is connected to, and the node that acts for the session sends nothing.
"""

from typing import Protocol

from moot.core.effects import DeliverAnswer, DeliverMessage, RunTask, RunTool, RunTurn
from moot.core.outstanding import outstanding
from moot.core.session.state import Message, State
from moot.runtime.ports import Detachable, Worker
from moot.runtime.worker_jobs import Job, JobRef

_RUNS = (RunTurn, RunTask, RunTool)


class HostedWorker(Worker, Detachable, Protocol):
    """A worker that is connected here. Cancelled, its job is over; detached, others may go on with it."""


class _Hosted:
    def __init__(self, job: Job, key: str, worker: HostedWorker) -> None:
        self.job = job
        self.key = key  # of the effect that it is for
        self.worker = worker
        self.delivered: set[str] = set()


class HostedJobs:
    """Workers by the claims that they have."""

    def __init__(self) -> None:
        self._hosted: dict[JobRef, _Hosted] = {}

    def __len__(self) -> int:
        return len(self._hosted)

    def add(self, state: State, job: Job, worker: HostedWorker) -> bool:
        """Attend to a worker from now on. False if its job is over already."""
        key = job.turn_id if job.kind == "tool" else state.run_key(job.turn_id)
        if not any(isinstance(effect, _RUNS) and effect.key == key for effect in outstanding(state)):
            return False
        self._hosted[job.ref] = _Hosted(job, key, worker)
        return True

    def remove(self, ref: JobRef) -> None:
        self._hosted.pop(ref, None)

    def attend(self, state: State) -> None:
        """Stop the workers whose jobs are over, and deliver what is new to the others."""
        if not self._hosted:
            return
        effects = outstanding(state)
        keys = {effect.key for effect in effects if isinstance(effect, _RUNS)}
        for ref, hosted in list(self._hosted.items()):
            if hosted.key not in keys:
                del self._hosted[ref]
                hosted.worker.cancel()
                continue
            for effect in effects:
                if isinstance(effect, DeliverAnswer | DeliverMessage) and effect.worker == hosted.key:
                    self._deliver(hosted, effect)

    def _deliver(self, hosted: _Hosted, effect: DeliverAnswer | DeliverMessage) -> None:
        if effect.key in hosted.delivered:
            return
        hosted.delivered.add(effect.key)
        if isinstance(effect, DeliverAnswer):
            hosted.worker.answer(effect.step_id, effect.choice, effect.answer)
        else:
            hosted.worker.bring(effect.number, Message(effect.by, effect.text))

    def stop(self) -> None:
        """Detach all workers, because the session is closed here; their jobs may go on elsewhere."""
        for hosted in list(self._hosted.values()):
            hosted.worker.detach()
        self._hosted.clear()
