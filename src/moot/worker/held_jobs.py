"""What a worker has in hand: its jobs, what they have reported, and which reports no server has confirmed yet."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from moot.core.errors import Refused
from moot.core.flows.turns import TurnInput
from moot.core.session.commands import CompleteTool, CompleteTurn, FailTurn, NackDispatch, WorkerCommand
from moot.core.session.state import Message
from moot.protocol.worker_frames import (
    AnswerJob,
    BringMessage,
    CancelJob,
    DeclineJob,
    FromWorker,
    Held,
    OfferJob,
    Receipt,
    ReportJob,
    ShowPiece,
    write_commands,
)
from moot.runtime.ports import Delta, Dispatch, Handle, Thinking, ToolJob, Worker

logger = logging.getLogger(__name__)

ENDS = (CompleteTurn, FailTurn, NackDispatch, CompleteTool)
Send = Callable[[FromWorker], None]  # drops what cannot be sent now


class HeldJob:
    """One job. Its reports are sent one after the other, each until there is a receipt."""

    def __init__(self, ref: Held, session_id: str, turn_id: str, send: Send, drop: Callable[[Held], None]) -> None:
        self.ref = ref
        self.session_id = session_id
        self.turn_id = turn_id
        self.handle: Handle | None = None
        self._send = send
        self._drop = drop
        self._turn = asyncio.Lock()  # of those who report
        self._number = 0
        self._waiting: tuple[ReportJob, asyncio.Future[Refused | None]] | None = None
        self._is_stopped = False
        self._brought: set[int] = set()

    async def report(self, *commands: WorkerCommand) -> Refused | None:
        """Report until there is a receipt. What a stopped job had cost is sent once, if a server is there."""
        async with self._turn:
            self._number += 1
            frame = ReportJob(
                job=self.ref.job, attempt=self.ref.attempt, number=self._number, commands=write_commands(commands)
            )
            if self._is_stopped:
                self._send(frame)
                return None
            receipt: asyncio.Future[Refused | None] = asyncio.get_running_loop().create_future()
            self._waiting = frame, receipt
            self._send(frame)
            refused = await receipt
        if isinstance(commands[-1], ENDS):
            self._drop(self.ref)
        return refused

    def show(self, turn_id: str, piece: Delta | Thinking) -> None:  # noqa: ARG002 - a job is one turn
        what: Literal["delta", "thinking"] = "delta" if isinstance(piece, Delta) else "thinking"
        self._send(ShowPiece(job=self.ref.job, attempt=self.ref.attempt, what=what, text=piece.text))

    def send_again(self) -> None:
        """Send to a new server again what the last one did not confirm."""
        if self._waiting:
            self._send(self._waiting[0])

    def confirm(self, receipt: Receipt) -> None:
        if self._waiting and self._waiting[0].number == receipt.number:
            refusal = receipt.refused
            self._settle(Refused(refusal.code, **refusal.params) if refusal else None)

    def take(self, frame: AnswerJob | BringMessage) -> None:
        """Deliver an answer or a message, which may come again from another server."""
        if not isinstance(self.handle, Worker):
            return
        if isinstance(frame, AnswerJob):
            self.handle.answer(frame.step_id, frame.choice, frame.answer)
        elif frame.number not in self._brought:
            self._brought.add(frame.number)
            self.handle.bring(frame.number, Message(frame.by, frame.text))

    def stop(self) -> None:
        """Stop a job that has ended or belongs to another worker."""
        self._is_stopped = True
        if self.handle:
            self.handle.cancel()
        self._settle(None)  # who waits for a receipt waits no longer

    def _settle(self, refused: Refused | None) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting and not waiting[1].done():
            waiting[1].set_result(refused)


class HeldJobs:
    """All jobs of a worker, played by the dispatch of this process."""

    def __init__(self, dispatch: Dispatch, send: Send) -> None:
        self._dispatch = dispatch
        self._send = send
        self._jobs: dict[Held, HeldJob] = {}

    def __iter__(self) -> Iterator[Held]:
        return iter(tuple(self._jobs))

    def __len__(self) -> int:
        return len(self._jobs)

    def take(self, frame: OfferJob | AnswerJob | BringMessage | CancelJob | Receipt) -> None:
        match frame:
            case OfferJob():
                self.start(frame)
            case AnswerJob() | BringMessage():
                job = next((job for ref, job in self._jobs.items() if ref.job == frame.job), None)
                if job:
                    job.take(frame)
            case CancelJob():
                self.stop(Held(frame.job, frame.attempt))
            case Receipt():
                confirmed = self._jobs.get(Held(frame.job, frame.attempt))
                if confirmed:
                    confirmed.confirm(frame)

    def start(self, offer: OfferJob) -> None:
        """Play an offered job. One that cannot be decoded, as of a server of another version, is declined."""
        try:
            self._start(offer)
        except msgspec.ValidationError as error:
            reason = f"this worker does not understand the job: {error}"
            logger.warning("job %s is declined: %s", offer.job, reason)
            self._send(DeclineJob(job=offer.job, attempt=offer.attempt, reason=reason))

    def _start(self, offer: OfferJob) -> None:
        ref = Held(offer.job, offer.attempt)
        if ref in self._jobs:
            return
        for lost in [each for each in self._jobs if each.job == ref.job]:
            self.stop(lost)  # an answer names the job alone: it must not go to a claim that is over
        if offer.kind == "tool":
            tool = msgspec.json.decode(offer.input, type=ToolJob)
            job = self._add(ref, tool.session_id, tool.call.call_id)
            job.handle = self._dispatch.call(tool, job.report)
            return
        turn = msgspec.json.decode(offer.input, type=TurnInput)
        job = self._add(ref, turn.session_id, turn.turn_id)
        run = self._dispatch.offer if offer.kind == "task" else self._dispatch.start
        job.handle = run(turn, offer.team, job.report, job.show)

    def _add(self, ref: Held, session_id: str, turn_id: str) -> HeldJob:
        job = self._jobs[ref] = HeldJob(ref, session_id, turn_id, self._send, self._forget)
        return job

    def _forget(self, ref: Held) -> None:
        self._jobs.pop(ref, None)

    def find_of(self, session_id: str) -> HeldJob | None:
        return next((job for job in self._jobs.values() if job.session_id == session_id), None)

    def keep(self, refs: tuple[Held, ...]) -> None:
        """Stop all other jobs, and send again what was not confirmed of these."""
        for ref, job in list(self._jobs.items()):
            if ref in refs:
                job.send_again()
            else:
                self.stop(ref)

    def stop(self, ref: Held) -> None:
        job = self._jobs.pop(ref, None)
        if job:
            logger.info("turn %s of session %s is not ours any more", job.turn_id, job.session_id)
            job.stop()

    def stop_all(self) -> None:
        for ref in self:
            self.stop(ref)
