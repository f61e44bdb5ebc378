"""Agent type `script`: members of demos and tests. They need no key, no network and no program."""

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from pathlib import Path as FilePath
from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta, Struct, field
from msgspec.structs import replace

from moot.agents.agent_type import AgentType, Seat
from moot.config.agent_specs import Json
from moot.config.phrase import Phrase
from moot.config.problem import Problem
from moot.config.quantities import Delay, Text
from moot.config.trust import Start
from moot.core.errors import AgentError
from moot.core.flows.plan.plan_slice import EVALUATIONS
from moot.core.flows.turns import TurnInput
from moot.core.session.events import Option
from moot.core.session.team import Path
from moot.core.session.usage import Usage
from moot.runtime.ports import Clock, Output, Result, Step

MOCK = re.compile(r"/mock (fail|slow)\b")
MOCK_SLOW_S = 5.0


class ScriptStep(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something the agent thinks, does or sees on the way."""

    thought: str | None = None
    action: str | None = None
    observation: str | None = None


class ScriptError(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The turn fails with this error type."""

    type: Text
    message: str = ""


class ScriptPlan(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A planner's result; its tasks are checked like any plan, not here: a script may play a broken one."""

    summary: str = ""
    tasks: tuple[Json, ...] = ()


class ScriptReview(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A reviewer's result."""

    passed: bool = field(name="pass")
    feedback: str = ""


class ScriptEvaluation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a planner decides when a failure or a change makes its plan doubtful."""

    decision: Literal["replan", "continue", "ask", "abort"]
    reason: str = ""


class ScriptQuestion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question to the human (docs/supervisor.md)."""

    question: Text
    options: tuple[Option, ...] = ()
    selection: Literal["single", "multiple", "none"] = "single"
    allow_custom_input: bool = False
    key: str | None = None


class ScriptEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One turn, played in this order: nack, delay, steps, files, then error or hang or the result."""

    nack: Annotated[str | None, Meta(description="refuses before the start, with this reason")] = None
    delay_s: Annotated[Delay, Meta(description="waits")] = 0.0
    steps: Annotated[
        tuple[ScriptStep, ...], Meta(description="each is logged: plan.step_completed, solver.progress or turn.step")
    ] = ()
    files: Annotated[
        dict[str, str | None], Meta(description="written into the member's tree, by path; null deletes (workspace)")
    ] = {}
    error: Annotated[ScriptError | None, Meta(description="fails the turn")] = None
    hang: Annotated[bool, Meta(description="never ends, until the timeout")] = False
    text: Annotated[str | None, Meta(description="what is said; the decision of a supervisor")] = None
    plan: Annotated[ScriptPlan | None, Meta(description="the result of a planner")] = None
    patches: Annotated[
        tuple[Json, ...] | None, Meta(description="the result of a planner for a small change: op, task_id, changes")
    ] = None
    review: Annotated[ScriptReview | None, Meta(description="the result of a reviewer")] = None
    evaluate: Annotated[
        ScriptEvaluation | None,
        Meta(description="a planner's decision about a plan in doubt; such entries have a position of their own"),
    ] = None
    state: Annotated[Json | None, Meta(description="supervisor flow: keys that the agent writes")] = None
    tool_calls: Annotated[tuple[Json, ...] | None, Meta(description="supervisor flow: name and args of each")] = None
    ask: Annotated[ScriptQuestion | None, Meta(description="supervisor flow: a question to people")] = None
    usage: Annotated[Usage, Meta(description="recorded as given")] = Usage()


Reply = str | ScriptEntry


class ScriptAgent(
    AgentType, Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag="script"
):
    """Plays entries in order; needs no key and starts no program."""

    replies: Annotated[
        tuple[Reply, ...], Meta(description="one a turn; the position is the number of the member's earlier turns")
    ] = ()
    by_task: Annotated[
        dict[str, tuple[Reply, ...]], Meta(description="plan flow: a task's own script, with a position of its own")
    ] = {}
    when_exhausted: Annotated[
        Literal["repeat", "empty", "error"], Meta(description="the last entry again, nothing, or a failed turn")
    ] = "repeat"

    is_scripted: ClassVar[bool] = True
    is_told_tools: ClassVar[bool] = False

    def starts(self, member: str) -> tuple[Start, ...]:  # noqa: ARG002
        return ()

    @property
    def may_edit(self) -> bool:
        entries = [*self.replies, *(entry for entries in self.by_task.values() for entry in entries)]
        return any(isinstance(entry, ScriptEntry) and entry.files for entry in entries)

    def make(self, seat: Seat) -> "ScriptedMember":
        return ScriptedMember(self, seat.clock)

    @classmethod
    def check(cls, entry: Mapping[str, object]) -> Iterator[Problem]:
        for path, reply in _list_replies(entry):
            for number, step in enumerate(_as_list(reply.get("steps"))):
                if step == {}:
                    empty = Phrase("team.agent.step")
                    yield Problem(path=(*path, "steps", number), text=empty)


def _list_replies(entry: Mapping[str, object]) -> Iterator[tuple[Path, dict[str, object]]]:
    """The entries that are mappings, each with its path."""
    by_task = entry.get("by_task")
    scripts: list[tuple[Path, object]] = [(("replies",), entry.get("replies"))]
    if isinstance(by_task, dict):
        scripts += [(("by_task", task), replies) for task, replies in by_task.items()]
    for path, replies in scripts:
        for position, reply in enumerate(_as_list(replies)):
            if isinstance(reply, dict):
                yield (*path, position), reply


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


class ScriptedMember:
    """Plays the next entry of a script. The position is the number of earlier turns in the log: it survives a restart.

    A task with a list of its own (`by_task`) has its own position and does not advance the one in `replies`. So have
    entries with `evaluate`; a script that has none left leaves the decision to people.
    `/mock fail` and `/mock slow` in a human's message make the turn fail or take long.
    """

    def __init__(self, script: ScriptAgent, clock: Clock) -> None:
        self._script = script
        self._clock = clock

    def refuse(self, turn: TurnInput) -> str | None:
        """Return why the script refuses the task, None if it accepts."""
        return self._entry(turn).nack

    async def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        entry = self._entry(turn)
        if entry.nack is not None:
            raise AgentError("nack", entry.nack)
        if entry.delay_s:
            await self._clock.sleep(entry.delay_s)
        for step in entry.steps:
            yield Step(thought=step.thought, action=step.action, observation=step.observation, total=len(entry.steps))
        if entry.files:
            await asyncio.to_thread(_write_files, turn.folder, entry.files)
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
            evaluation=msgspec.to_builtins(entry.evaluate) if entry.evaluate else None,
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
        decisions = [entry for entry in script.replies if isinstance(entry, ScriptEntry) and entry.evaluate]
        if turn.job == "evaluate":
            is_left = turn.task_index < len(decisions)
            return decisions[turn.task_index] if is_left else ScriptEntry(evaluate=ScriptEvaluation(decision="ask"))
        if turn.task_id in script.by_task:
            return self._pick(script.by_task[turn.task_id], turn.task_index)
        elsewhere = sum(turn.task_turns.get(task_id, 0) for task_id in (*script.by_task, EVALUATIONS))
        replies = tuple(entry for entry in script.replies if entry not in decisions) if decisions else script.replies
        return self._pick(replies, turn.index - elsewhere)

    def _pick(self, entries: tuple[Reply, ...], index: int) -> ScriptEntry:
        if index < len(entries):
            entry = entries[index]
        elif self._script.when_exhausted == "error":
            fault = ScriptError(type="agent", message=f"the script has no entry after its {len(entries)}")
            return ScriptEntry(error=fault)  # accept the task, then fail
        elif self._script.when_exhausted == "repeat" and entries:
            entry = entries[-1]
        else:
            entry = ""
        return ScriptEntry(text=entry) if isinstance(entry, str) else entry


def _write_files(folder: str, files: Mapping[str, str | None]) -> None:
    """Write files of a script into the tree of a turn, and nowhere else. Raises AgentError."""
    if not folder:
        raise AgentError("config", "a script writes files only in a tree: the team needs workspace: {type: worktree}")
    top = FilePath(folder).resolve()
    for name, text in files.items():
        target = top / name
        if not target.parent.resolve().is_relative_to(top) or target.is_symlink() or ".git" in target.parts:
            raise AgentError("config", f"{name!r} leads out of the tree")
        if text is None:
            target.unlink(missing_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)


def find_mock(turn: TurnInput) -> str | None:
    """Return the mock that the newest message asks for, if a human wrote it."""
    humans = {member.id for member in turn.addressable if member.is_human}
    match = MOCK.search(turn.message.text) if turn.message and turn.message.member in humans else None
    return match[1] if match else None
