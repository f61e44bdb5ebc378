"""What a worker has in hand."""

from typing import Any, cast

import msgspec

from moot.core.session.events import ToolCall
from moot.core.session.state import Message
from moot.protocol.worker_frames import AnswerJob, DeclineJob, FromWorker, Held, OfferJob
from moot.runtime.ports import ToolJob
from moot.worker.held_jobs import HeldJobs


class _Played:
    """A job that is played, with what it was told."""

    is_alive = True
    is_in_line = False

    def __init__(self) -> None:
        self.told: list[str | None] = []
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True

    def answer(self, step_id: str, choice: str | None, answer: str | None = None) -> None:
        self.told.append(choice)

    def bring(self, number: int, message: Message) -> None: ...


class _Dispatch:
    def __init__(self) -> None:
        self.played: list[_Played] = []

    def call(self, _job: ToolJob, _report: object) -> _Played:
        self.played.append(_Played())
        return self.played[-1]


def test_a_newer_claim_of_a_job_ends_the_older_one() -> None:
    """The job came back before the worker heard that it was lost: the run of the newer claim is told the answer."""
    dispatch = _Dispatch()
    jobs = HeldJobs(cast("Any", dispatch), lambda _: None)
    call = ToolJob(session_id="s", team="pair", member="bob", call=ToolCall(call_id="c1", name="look"))
    for attempt in (1, 2):
        offered = msgspec.Raw(msgspec.json.encode(call))
        jobs.take(OfferJob(job=7, attempt=attempt, kind="tool", team="pair", input=offered))
    jobs.take(AnswerJob(job=7, step_id="q1", choice="allow", answer=None))
    older, newer = dispatch.played
    assert (older.is_cancelled, older.told) == (True, [])
    assert (newer.is_cancelled, newer.told) == (False, ["allow"])
    assert list(jobs) == [Held(7, 2)]


def test_a_job_that_cannot_be_decoded_is_declined() -> None:
    """A server of another version offers it: people hear of it, instead of waiting for somebody who does not play."""
    sent: list[FromWorker] = []
    jobs = HeldJobs(cast("Any", _Dispatch()), sent.append)
    jobs.take(OfferJob(job=7, attempt=1, kind="turn", team="pair", input=msgspec.Raw(b'{"session_id": 1}')))
    [declined] = sent
    assert isinstance(declined, DeclineJob)
    assert (declined.job, declined.attempt, list(jobs)) == (7, 1, [])
