"""Many deadlines, one timer of the clock. Most deadlines are cancelled long before they are due, so that making and
cancelling one must cost next to nothing: both are an entry in a dict."""

from collections.abc import Callable

from moot.runtime.ports import Clock, Handle


class Timers:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pending: dict[int, tuple[float, Callable[[], object]]] = {}
        self._count = 0
        self._armed_for = float("inf")
        self._handle: Handle | None = None

    def start(self, delay_s: float, callback: Callable[[], object]) -> Handle:
        """Call back once, after `delay_s` of the clock's monotonic time, unless cancelled."""
        due = self._clock.monotonic() + delay_s
        self._count += 1
        self._pending[self._count] = (due, callback)
        if due < self._armed_for:
            self._arm(due)
        return _Deadline(self._pending, self._count)

    def close(self) -> None:
        self._pending.clear()
        if self._handle:
            self._handle.cancel()

    def _arm(self, due: float) -> None:
        if self._handle:
            self._handle.cancel()
        self._armed_for = due
        self._handle = self._clock.call_later(max(0.0, due - self._clock.monotonic()), self._wake)

    def _wake(self) -> None:
        """Fire what is due. The deadline that this was armed for may be gone: then there is only the next one."""
        now = self._armed_for
        self._handle, self._armed_for = None, float("inf")
        for number, (due, callback) in list(self._pending.items()):
            if due <= now and number in self._pending:  # it may have been cancelled by the one before
                del self._pending[number]
                callback()
        if self._pending:
            self._arm(min(due for due, _ in self._pending.values()))


class _Deadline:
    __slots__ = ("_number", "_pending")

    def __init__(self, pending: dict[int, tuple[float, Callable[[], object]]], number: int) -> None:
        self._pending = pending
        self._number = number

    def cancel(self) -> None:
        self._pending.pop(self._number, None)
