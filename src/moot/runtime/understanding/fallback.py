"""Calls an understander, which may be foreign code, with a deadline and a fallback: a person is waiting."""

import asyncio
import logging
from collections.abc import Callable

from moot.core.intake.intent import (
    ContextDependency,
    IntentAnalysis,
    NormalizedIntent,
    SemanticInput,
    SuggestedRoute,
    TaskRelation,
)
from moot.runtime.ports import Clock, Understander, Understood
from moot.runtime.understanding.rules.understand import analyse

logger = logging.getLogger(__name__)

TIMEOUT_S = 30.0
DETAIL_CHARS = 300


async def understand(find: Callable[[], Understander], request: SemanticInput, clock: Clock) -> Understood:
    """Ask an understander. If it cannot be found, raises or takes longer than `TIMEOUT_S`, the rules answer instead."""
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - this is a coroutine
    is_late = False

    def interrupt() -> None:
        nonlocal is_late
        is_late = True
        task.cancel()

    timer = clock.call_later(TIMEOUT_S, interrupt)
    try:
        return await find().understand(request)
    except asyncio.CancelledError:
        if not is_late or task.uncancel() > 0:
            raise
        reason = f"timeout: no answer in {TIMEOUT_S:g} s"
    except Exception as error:  # an understander may be foreign code
        logger.warning("an understander failed", exc_info=True)
        reason = f"{type(error).__name__}: {error}"[:DETAIL_CHARS]
    finally:
        timer.cancel()
    return Understood(analysis=_analyse(request), fallback_reason=reason)


def _analyse(request: SemanticInput) -> IntentAnalysis:
    """Apply the rules. If they raise too, return an analysis without confidence, which makes Moot ask the person."""
    try:
        return analyse(request)
    except Exception:  # a person must be asked rather than get no answer
        logger.exception("the rules failed")
    return IntentAnalysis(
        normalized_intent=NormalizedIntent(goal="", action="modify", scope="partial_task", urgency="medium"),
        task_relation=TaskRelation(type="same_task_no_change", confidence=0.0, reasoning=""),
        context_dependency=ContextDependency(
            needs_current_task_context=True, needs_execution_history=False, needs_resource_status=False
        ),
        suggested_route=SuggestedRoute(next_phase="wait_user", reason="", requires_user_confirmation=True),
    )
