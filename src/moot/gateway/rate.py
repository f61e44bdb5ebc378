"""How often somebody may do something: a bucket that fills steadily and holds a burst."""

from collections.abc import Callable


class TokenBucket:
    def __init__(self, per_s: float, burst: float, monotonic: Callable[[], float]) -> None:
        self._per_s = per_s
        self._burst = burst
        self._monotonic = monotonic
        self._level = burst
        self._filled_at = monotonic()

    def take(self, amount: float = 1.0) -> bool:
        """Whether there was as much in it; it is taken only then."""
        now = self._monotonic()
        self._level = min(self._burst, self._level + (now - self._filled_at) * self._per_s)
        self._filled_at = now
        if self._level < amount:
            return False
        self._level -= amount
        return True
