"""The faults of a run: whether one happens now is drawn from the seed, and every one that happens is counted.

A run that is green without its faults means nothing, so `make sim` fails if one of `KINDS` was too rare.
"""

import random
from collections import Counter
from collections.abc import Collection, Mapping

# How likely a fault is whenever it could happen, while faults are on.
KINDS: dict[str, float] = {
    # network
    "frame to server dropped": 0.02,
    "frame to client dropped": 0.01,
    "frame to server doubled": 0.05,
    "frame to client doubled": 0.02,
    "frame delayed": 0.10,
    "frame overtaken": 0.03,
    "frame changed on the way": 0.004,
    "link cut": 0.006,
    "link silent": 0.004,
    "connection refused": 0.10,
    "reader stalled": 0.01,
    # process
    "killed": 1.0,
    "killed while recovering": 1.0,
    "killed during a commit": 1.0,
    "stopped": 1.0,
    "process suspended": 0.02,
    # disk
    "unsynced write lost": 1.0,
    "unsynced write torn": 1.0,
    "unsynced write kept": 1.0,
    "slow sync": 0.03,
    "disk full": 0.01,
    "write failed": 0.01,
    "sync failed after the write": 0.01,
    "snapshot damaged": 0.2,
    "snapshot lost": 0.2,
    "backup restored": 1.0,
    # clock
    "wall clock forward": 0.015,
    "wall clock back": 0.015,
    # members
    "member slow": 0.15,
    "member hangs": 0.03,
    "member fails": 0.08,
    "member fails for good": 0.02,
    "member crashes": 0.02,
    "member says nonsense": 0.05,
    "member says nothing": 0.02,
    "member ignores being stopped": 0.3,
    "member refuses a task": 0.06,
    "member asks for a permission": 0.06,
    "tool fails": 0.9,
    "understander fails": 0.05,
    "understander hangs": 0.03,
    # clients
    "command sent twice": 0.05,
    "command id reused": 0.03,
    "garbage sent": 0.03,
    "ack of the future": 0.03,
    "client restarted empty": 0.03,
    "client restarted with an old copy": 0.03,
}

# Those of a run in which several nodes share the log. Members fail there as they do here.
CLUSTER_KINDS: dict[str, float] = {
    **{kind: likely for kind, likely in KINDS.items() if kind.startswith(("member", "tool", "understander"))},
    "member slow": 0.5,
    "node killed": 1.0,
    "node stopped in order": 1.0,
    "node suspended": 1.0,
    "node suspended while it writes": 0.08,
    "node cut off": 1.0,
    "lease lost": 1.0,
    "session taken over": 1.0,
    "owner fenced": 1.0,
    "decided under the lock": 1.0,
    "wake-up lost": 0.1,
    "wake-up delayed": 0.1,
    "answer of an append lost": 0.01,
    "command tried again": 1.0,
}

_ABSENT_SHARE = 0.25


class Faults:
    """Draws faults. `is_on` is False once the system is to be left in peace.

    Each run leaves out some kinds, so that a fault that hides others does not hide them everywhere, and those in
    `without`.
    """

    def __init__(
        self, chance: random.Random, without: Collection[str] = (), kinds: Mapping[str, float] = KINDS
    ) -> None:
        self.chance = chance
        self._kinds = kinds
        self.counts: Counter[str] = Counter()
        self.is_on = True
        self._absent = {kind for kind in kinds if chance.random() < _ABSENT_SHARE} | set(without)

    def strikes(self, kind: str) -> bool:
        """Whether this fault happens now. One that does is counted."""
        # drawn in any case, so that leaving out one kind changes no other
        if self.chance.random() >= self._kinds[kind] or not self.is_on or kind in self._absent:
            return False
        self.counts[kind] += 1
        return True

    def count(self, kind: str) -> None:
        """Count a fault that was caused elsewhere."""
        if kind not in self._kinds:
            raise KeyError(f"{kind!r} is no kind of these runs")
        self.counts[kind] += 1
