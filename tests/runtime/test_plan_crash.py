"""A plan goes on after a crash at any event: same answer, every task completed exactly once, nothing stuck."""

import pytest

from moot.core.evolve import evolve
from moot.core.session.state import State
from moot.testing import VirtualClock
from tests.runtime.apps import run
from tests.runtime.plan_run import DyingLog, check, live

NEVER = 10**9


async def play(*crashes: int, at_once: bool = False) -> list[int]:
    """The whole run on one log, with a process that dies at each of these events, and one that comes to the end.

    Returns where the appends ended.
    """
    log, clock = DyingLog(), VirtualClock()
    session_id: str | None = None
    for crash in (*crashes, NEVER):
        log.revive(crash, at_once=at_once)
        session_id = await live(log, session_id, clock)
        if crash != NEVER and not log.dying.is_set():
            break  # it came to its end before
    assert session_id
    events = await log.read(session_id, limit=10_000)
    state: State | None = None
    for event in events:
        state = evolve(state, event.fact)
    assert state is not None
    check(events, state)
    return log.boundaries


@run
async def test_the_run_without_a_crash() -> None:
    """Plan, edit, approve, retry, rework, change, pause and answer."""
    assert len(await play()) > 20


@pytest.mark.parametrize("at_once", [True, False])
@run
async def test_a_crash_after_every_append(at_once: bool) -> None:
    """Wherever the log ends, whether the dead process knew or not, another one brings the run to the same end.

    The log is all that outlives a process, so that dying at any await is dying between two appends.
    """
    for last_seq in (await play())[:-1]:
        await play(last_seq, at_once=at_once)


@run
async def test_a_second_crash_soon_after_every_first_one() -> None:
    """A process that dies while it recovers, or soon after, leaves a log like any other."""
    for last_seq in (await play())[:-1]:
        for more in (1, 2, 6):
            await play(last_seq, last_seq + more, at_once=True)


@run
async def test_five_crashes_in_a_row() -> None:
    """Five processes that die with their first append, one after the other, do no harm at any place of the run."""
    for last_seq in (await play())[:-1:3]:
        await play(*range(last_seq, last_seq + 5), at_once=True)
