"""Budgets that count all sessions of a team, on a log."""

from moot.agents.script import ScriptEntry
from moot.core.session.events import BudgetCounted
from moot.core.session.settings import Budget
from moot.core.session.usage import Usage
from moot.runtime.stores.memory import MemoryLog
from moot.testing import VirtualClock, human, make_team, scripted
from tests.runtime.apps import facts, open_on, run, say, settle

REPLY = ScriptEntry(text="ok", usage=Usage(input_tokens=50, output_tokens=50))


@run
async def test_what_other_sessions_spent_counts_until_the_day_is_over() -> None:
    """The second session pauses because of the first one, also after a restart; on the next day it does not."""
    budget = Budget(max_tokens=100, per="day", scope="team")
    team = make_team(human("alice"), scripted("bob", REPLY), budget=budget)
    others = make_team(human("alice"), scripted("bob", REPLY), name="others", budget=budget)
    log, clock = MemoryLog(), VirtualClock()
    async with open_on(log, team, others, clock=clock) as app:
        await say(await app.session(team="test-team"), "[NEXT: bob] hello")
    async with open_on(log, team, others, clock=clock) as app:
        second = await app.session(team="test-team")
        await say(second, "[NEXT: bob] hello")
        assert (await second.state()).pause_reason == "budget"
        assert [fact.elsewhere.tokens for fact in await facts(app, second, BudgetCounted)] == [100]
        other = await app.session(team="others")
        await say(other, "[NEXT: bob] hello")
        assert (await other.state()).spent.tokens == 100
        await clock.advance(86_400)
        third = await app.session(team="test-team")
        await say(third, "[NEXT: bob] hello")
        assert (await settle(third)).spent.tokens == 100
