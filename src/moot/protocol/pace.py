"""How fast a client goes: when it tries to connect again, and how much it sends at once."""

from moot.protocol.answers import Limits

SHORTEST_S, LONGEST_S = 0.5, 30.0  # between two attempts to connect
HEADROOM = 0.75  # of what the server allows: its clock is not ours


def backoff_s(attempt: int, random: float) -> float:
    """How long to wait before the attempt; `random` from 0 to 1 spreads clients that were cut off together."""
    ceiling = min(LONGEST_S, SHORTEST_S * 2.0 ** min(attempt, 10))
    return SHORTEST_S + random * (ceiling - SHORTEST_S)


class Pace:
    """Frames that may be sent now: a bucket like the server's, a little smaller."""

    def __init__(self, limits: Limits, now: float) -> None:
        self._per_s = limits.messages_per_s * HEADROOM
        self._burst = max(1.0, limits.message_burst * HEADROOM)
        self._level = self._burst
        self._filled_at = now

    def take(self, now: float) -> bool:
        self._level = min(self._burst, self._level + (now - self._filled_at) * self._per_s)
        self._filled_at = now
        if self._level < 1.0:
            return False
        self._level -= 1.0
        return True
