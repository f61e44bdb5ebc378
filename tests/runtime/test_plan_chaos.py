"""Never stuck: whatever members, humans and dying processes do to a plan, it ends once they stop (E01, E09).

MOOT_CHAOS_SEEDS says how many runs are tried, MOOT_CHAOS_FROM where they begin; a failure names its seed.
"""

import asyncio
import os
from collections import Counter

from tests.runtime.plan_chaos import Chaos

SEEDS = int(os.environ.get("MOOT_CHAOS_SEEDS", "30"))
FROM = int(os.environ.get("MOOT_CHAOS_FROM", "0"))
HAPPENS = ("crash", "Pause", "Resume", "Post", "Answer", "Replan", "SolveTasks", "CancelTask", "RestartTask")


def test_plans_come_to_their_end() -> None:
    """Thirty seeded runs: the log is whole, a named human has the floor, nothing is left under way."""
    counts: Counter[str] = Counter()
    for seed in range(FROM, FROM + SEEDS):
        chaos = Chaos(seed)
        try:
            asyncio.run(asyncio.wait_for(chaos.run(), 60))
        except BaseException as error:
            error.add_note(f"MOOT_CHAOS_FROM={seed} MOOT_CHAOS_SEEDS=1")
            raise
        counts += chaos.counts
    for name in HAPPENS:
        assert counts[name] >= min(SEEDS // 10, 100), f"{name} happened too seldom for this to mean anything"
