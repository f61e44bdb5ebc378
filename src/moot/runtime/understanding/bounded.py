"""The last resort of the front door: whoever understands is foreign code, and a person waits for the answer."""

import asyncio
import logging
from collections.abc import Callable

from moot.core.intent import SemanticInput
from moot.runtime.ports import Clock, Understander, Understood
from moot.runtime.understanding.rules.understand import analyse

logger = logging.getLogger(__name__)

TIMEOUT_S = 30.0
DETAIL_CHARS = 300


async def understand(find: Callable[[], Understander], given: SemanticInput, clock: Clock) -> Understood:
    """What the understander says. For one that cannot be found, raises, or says nothing in time, the rules answer."""
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - this is a coroutine
    is_late = False

    def interrupt() -> None:
        nonlocal is_late
        is_late = True
        task.cancel()

    timer = clock.call_later(TIMEOUT_S, interrupt)
    try:
        return await find().understand(given)
    except asyncio.CancelledError:
        if not is_late or task.uncancel() > 0:
            raise
        reason = f"timeout: no answer in {TIMEOUT_S:g} s"
    except Exception as error:
        logger.warning("an understander failed", exc_info=True)
        reason = f"{type(error).__name__}: {error}"[:DETAIL_CHARS]
    finally:
        timer.cancel()
    return Understood(analysis=analyse(given), fallback_reason=reason)
