"""How long to wait before trying again: a delay that doubles with each attempt, optionally spread by chance."""

from math import inf

from msgspec import Struct

_MOST_DOUBLINGS = 60  # keeps the power finite however often something is retried


class Backoff(Struct, frozen=True):
    """The delays before a series of attempts.

    The ceiling is `base_s` before attempt 1 and doubles with each further attempt up to `cap_s`. `delay` picks a point
    between `floor_s` and the ceiling, so that clients that failed together do not all come back together.
    """

    base_s: float
    cap_s: float = inf
    floor_s: float = 0.0

    def delay(self, attempt: int, chance: float = 1.0) -> float:
        """Return the delay in seconds before `attempt` (counted from 1); `chance` 0 is the floor, 1 the ceiling."""
        ceiling = min(self.cap_s, self.base_s * 2.0 ** min(attempt - 1, _MOST_DOUBLINGS))
        return self.floor_s + chance * (ceiling - self.floor_s)
