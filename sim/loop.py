"""An event loop on virtual time whose order is drawn from a seed, and which can be abandoned at any step.

One loop is one life of the server process. A step is one callback: it runs a task from one await to the next. `crash`
ends the life between two steps, as kill -9 ends a process: nothing that was scheduled happens any more.
"""

import asyncio
import heapq
import random
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import Context, copy_context
from itertools import count
from math import inf
from typing import Any

Callback = Callable[..., Any]
_CLOSES = 10  # a coroutine may await in several nested `finally` clauses


class Timeline:
    """Virtual time, shared by the lives of the server and by everything around it. `wall_offset_s`: clock jumps."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.wall_offset_s = 0.0


class SimLoop(asyncio.AbstractEventLoop):
    """Implements what asyncio's tasks, futures and locks need.

    Args:
        chance: draws the next step from those that are ready; None keeps asyncio's order, first come, first served.
    """

    def __init__(self, timeline: Timeline, chance: random.Random | None) -> None:
        self.timeline = timeline
        self.steps = 0
        self.errors: list[str] = []
        self._chance = chance
        self._ready: list[tuple[asyncio.Handle, Callback, tuple[Any, ...], Context]] = []
        self._timers: list[tuple[float, int, asyncio.TimerHandle, Callback, tuple[Any, ...], Context]] = []
        self._order = count()
        self._tasks: list[asyncio.Task[Any]] = []
        self._is_over = False

    # the driver's side

    @property
    def has_ready(self) -> bool:
        return bool(self._ready)

    @property
    def next_timer_s(self) -> float:
        while self._timers and self._timers[0][2].cancelled():
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else inf

    def wake_timers(self) -> None:
        """Make the timers ready that are due."""
        while self._timers and self._timers[0][0] <= self.timeline.now_s:
            _, _, handle, callback, args, context = heapq.heappop(self._timers)
            if not handle.cancelled():
                self._ready.append((handle, callback, args, context))

    def step(self) -> None:
        """Run one callback that is ready."""
        index = self._chance.randrange(len(self._ready)) if self._chance and len(self._ready) > 1 else 0
        handle, callback, args, context = self._ready.pop(index)
        if handle.cancelled():
            return
        self.steps += 1
        asyncio._set_running_loop(self)
        try:
            context.run(callback, *args)
        finally:
            asyncio._set_running_loop(None)

    def call(self, function: Callback, *args: Any) -> Any:
        """Call a function as if from a callback of this loop."""
        asyncio._set_running_loop(self)
        try:
            return function(*args)
        finally:
            asyncio._set_running_loop(None)

    def crash(self) -> None:
        """End this life. Coroutines are closed at once, so that the garbage collector finds nothing to run later."""
        self._is_over = True
        self._ready.clear()
        self._timers.clear()
        asyncio._set_running_loop(self)
        try:
            for task in self._tasks:
                for _ in range(_CLOSES):
                    with suppress(BaseException):  # cleaning up awaits: a dead process does not
                        task.get_coro().close()
                        break
        finally:
            asyncio._set_running_loop(None)
        self._ready.clear()

    # asyncio's side

    def time(self) -> float:
        return self.timeline.now_s

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return not self._is_over

    def is_closed(self) -> bool:
        return self._is_over

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(  # type: ignore[override]
        self, coro: Coroutine[Any, Any, Any], *, name: str | None = None, context: Context | None = None
    ) -> asyncio.Task[Any]:
        if self._is_over:
            coro.close()
            raise RuntimeError("the process is dead")
        task = asyncio.Task(coro, loop=self, name=name, context=context)
        self._tasks.append(task)
        if len(self._tasks) > 1_000:
            self._tasks = [each for each in self._tasks if not each.done()]
        return task

    def call_soon(  # type: ignore[override]
        self, callback: Callback, *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        if not self._is_over:
            self._ready.append((handle, callback, args, context or copy_context()))
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callback, *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self.time() + max(0.0, delay), callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callback, *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        if not self._is_over:
            entry = (when, next(self._order), handle, callback, args, context or copy_context())
            heapq.heappush(self._timers, entry)
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Called by `TimerHandle.cancel`; cancelled timers are dropped when they come up."""

    def run_in_executor(  # type: ignore[override]
        self,
        executor: Any,  # noqa: ARG002 - asyncio's
        func: Callback,
        *args: Any,
    ) -> asyncio.Future[Any]:
        """Threads run at once and to the end: their outcome is delivered in a later step."""
        future = self.create_future()
        try:
            self.call_soon(_settle, future, func(*args), None)
        except Exception as error:
            self.call_soon(_settle, future, None, error)
        return future

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if not self._is_over:
            self.errors.append(f"{context.get('message')}: {context.get('exception')!r}")


def _settle(future: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
