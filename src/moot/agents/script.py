"""Scripted members: what demos and tests use. They need no key, no network and no program."""

import asyncio
import re
from collections.abc import AsyncGenerator

import msgspec
from msgspec.structs import replace

from moot.config.agent_specs import Reply, ScriptAgent, ScriptEntry, ScriptError
from moot.core.errors import AgentError
from moot.core.turns import TurnInput
from moot.runtime.ports import Clock, Output, Result, Step

MOCK = re.compile(r"/mock (fail|slow)\b")
MOCK_SLOW_S = 5.0


class ScriptedMember:
    """Plays the entry at the number of the member's earlier turns in the log, so that a restart goes on there.

    A task that has a list of its own (`by_task`) has its own position in it, and does not move that in `replies`.
    A human who says `/mock fail` or `/mock slow` to it sees what that looks like.
    """

    def __init__(self, script: ScriptAgent, clock: Clock) -> None:
        self._script = script
        self._clock = clock

    def refuse(self, turn: TurnInput) -> str | None:
        """Why the task is not taken, if the script says so."""
        return self._entry(turn).nack

    async def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        entry = self._entry(turn)
        if entry.nack is not None:
            raise AgentError("nack", entry.nack)
        if entry.delay_s:
            await self._clock.sleep(entry.delay_s)
        for step in entry.steps:
            yield Step(thought=step.thought, action=step.action, observation=step.observation, total=len(entry.steps))
        if entry.error is not None:
            raise AgentError(entry.error.type, entry.error.message)
        if entry.hang:
            await asyncio.Event().wait()
        yield Result(
            text=entry.text or "",
            usage=entry.usage,
            plan=msgspec.to_builtins(entry.plan) if entry.plan else None,
            patches=entry.patches,
            review=msgspec.to_builtins(entry.review) if entry.review else None,
            state=entry.state,
            tool_calls=entry.tool_calls,
            ask=msgspec.to_builtins(entry.ask) if entry.ask else None,
        )

    def _entry(self, turn: TurnInput) -> ScriptEntry:
        entry = self._scripted(turn)
        match find_mock(turn):
            case "fail":
                return ScriptEntry(error=ScriptError(type="agent", message="/mock fail: it was told to fail"))
            case "slow":
                return replace(entry, delay_s=entry.delay_s + MOCK_SLOW_S)
        return entry

    def _scripted(self, turn: TurnInput) -> ScriptEntry:
        script = self._script
        if turn.task_id in script.by_task:
            return self._pick(script.by_task[turn.task_id], turn.task_index)
        elsewhere = sum(turn.task_turns.get(task_id, 0) for task_id in script.by_task)
        return self._pick(script.replies, turn.index - elsewhere)

    def _pick(self, entries: tuple[Reply, ...], index: int) -> ScriptEntry:
        if index < len(entries):
            entry = entries[index]
        elif self._script.when_exhausted == "error":
            fault = ScriptError(type="agent", message=f"the script has only {len(entries)} replies")
            return ScriptEntry(error=fault)  # the turn fails: a script that has ended refuses no task
        elif self._script.when_exhausted == "repeat" and entries:
            entry = entries[-1]
        else:
            entry = ""
        return ScriptEntry(text=entry) if isinstance(entry, str) else entry


def find_mock(turn: TurnInput) -> str | None:
    """What the newest message tells it to play, if a human said it."""
    humans = {member.id for member in turn.addressable if member.is_human}
    found = MOCK.search(turn.message.text) if turn.message and turn.message.member in humans else None
    return found[1] if found else None
