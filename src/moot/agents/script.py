"""Scripted members: what demos and tests use. They need no key, no network and no program."""

import asyncio
from collections.abc import AsyncGenerator

from moot.config.agent_specs import ScriptAgent, ScriptEntry
from moot.core.errors import AgentError
from moot.core.turns import TurnInput
from moot.runtime.ports import Clock, Output, Result, Step


class ScriptedMember:
    """Plays the entry at the number of the member's earlier turns in the log, so that a restart goes on there."""

    def __init__(self, script: ScriptAgent, clock: Clock) -> None:
        self._script = script
        self._clock = clock

    async def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        entry = self._entry(turn.index)
        if entry.nack is not None:
            raise AgentError("nack", entry.nack)
        if entry.delay_s:
            await self._clock.sleep(entry.delay_s)
        for step in entry.steps:
            yield Step(thought=step.thought, action=step.action, observation=step.observation)
        if entry.error is not None:
            raise AgentError(entry.error.type, entry.error.message)
        if entry.hang:
            await asyncio.Event().wait()
        yield Result(text=entry.text or "", usage=entry.usage)

    def _entry(self, index: int) -> ScriptEntry:
        replies = self._script.replies
        if index < len(replies):
            entry = replies[index]
        elif self._script.when_exhausted == "error":
            raise AgentError("agent", f"the script has only {len(replies)} replies")
        elif self._script.when_exhausted == "repeat" and replies:
            entry = replies[-1]
        else:
            entry = ""
        return ScriptEntry(text=entry) if isinstance(entry, str) else entry
