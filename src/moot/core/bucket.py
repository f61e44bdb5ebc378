"""A token bucket: limits how often something may happen while allowing short bursts."""


class Bucket:
    """Holds at most `burst` tokens, starts full at time `now`, and gains `per_s` tokens a second.

    The server uses one to refuse frames; the client uses a slightly smaller one so that it is never refused.
    """

    def __init__(self, per_s: float, burst: float, now: float) -> None:
        self._per_s = per_s
        self._burst = burst
        self._level = burst
        self._filled_at = now

    def take(self, now: float, amount: float = 1.0) -> bool:
        """Take `amount` tokens. Returns False, and takes nothing, if there are fewer."""
        self._level = min(self._burst, self._level + (now - self._filled_at) * self._per_s)
        self._filled_at = now
        if self._level < amount:
            return False
        self._level -= amount
        return True

    def give_back(self, amount: float) -> None:
        """Return tokens that were taken and not needed."""
        self._level = min(self._burst, self._level + amount)
