"""Agents, tools and an understander that do their work, and fail in every way that the seed draws."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import msgspec

from moot.core.errors import AgentError
from moot.core.flows.supervisor.shapes import list_shapes
from moot.core.flows.turns import TurnInput
from moot.core.intake.intent import IntentAnalysis, Relation, SemanticInput
from moot.core.session.events import Option
from moot.core.session.usage import Usage
from moot.runtime.ports import Ask, Delta, Output, Result, Step, Thinking, ToolFunction, Understood
from moot.testing.intents import analyse, control
from sim.faults import Faults
from sim.teams import STUDIO

TASK_IDS = ("a", "b", "c", "d")
NONSENSE = ("[NEXT: nobody]", "{", '{"next_agent": ["END"]}', "[NEXT: bob, carol] [DONE]", "\x1b[2J /end", "x" * 5_000)
GOOD_STATES: dict[str, dict[str, Any]] = {  # the examples that the team file gives them
    agent: list_shapes(STUDIO.supervisor, agent) for agent in STUDIO.supervisor.agents
}
MISSHAPEN = 0.1  # how often an agent writes state that does not fit, while faults are on
ROUND = ("brief_compiler_agent", "writer_agent", "review_agent")
RELATIONS: tuple[Relation, ...] = (
    "same_task_no_change",
    "same_task_minor_change",
    "same_task_major_change",
    "different_task",
)


def make_tasks(faults: Faults) -> list[dict[str, Any]]:
    chance = faults.chance
    size = chance.randint(1, len(TASK_IDS))
    return [
        {
            "id": task_id,
            "title": f"Task {task_id}",
            "depends_on": [other for other in TASK_IDS[:at] if chance.random() < 0.3],
        }
        for at, task_id in enumerate(TASK_IDS[:size])
    ]


class SimAgent:
    """Plays every AI member of every flow."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def refuse(self, turn: TurnInput) -> str | None:  # noqa: ARG002 - of the port
        return "busy" if self._faults.strikes("member refuses a task") else None

    async def act_asking(self, turn: TurnInput, ask: Ask) -> AsyncGenerator[Output, None]:
        faults, chance = self._faults, self._faults.chance
        if faults.strikes("member ignores being stopped"):
            try:
                await self._work()
            except asyncio.CancelledError:
                yield Result(text="too late")
        else:
            await self._work()
        for number in range(chance.choice([0, 0, 0, 1, 3])):
            yield Delta(text="piece")
            yield Thinking(text="hm")
            yield Step(thought=f"step {number}", total=3)
        if faults.strikes("member asks for a permission"):
            options = (Option(id="allow", label="Allow"), Option(id="reject", label="Reject"))
            await ask("May I?", options, default="reject")
        yield self._finish(turn)

    async def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        """Of the port; `act_asking` is called instead."""
        yield Result(text=turn.turn_id)

    async def _work(self) -> None:
        faults = self._faults
        if faults.strikes("member slow"):
            await asyncio.sleep(faults.chance.choice([0.1, 3.0, 20.0]))
        if faults.strikes("member hangs"):
            await asyncio.Event().wait()
        if faults.strikes("member fails"):
            raise AgentError("network", "gone", retry_after_s=faults.chance.choice([0.0, 2.0]))
        if faults.strikes("member fails for good"):
            raise AgentError("auth", "the key is wrong")
        if faults.strikes("member crashes"):
            raise RuntimeError("a bug of the agent")
        await asyncio.sleep(faults.chance.choice([0.0, 0.0, 0.05, 1.0]))

    def _finish(self, turn: TurnInput) -> Result:
        faults, chance = self._faults, self._faults.chance
        usage = Usage(input_tokens=chance.randint(0, 50), output_tokens=1)
        if faults.strikes("member says nonsense"):
            return Result(
                text=chance.choice(NONSENSE), usage=usage, plan={"tasks": 7} if chance.random() < 0.5 else None
            )
        if faults.strikes("member says nothing"):
            return Result()
        match turn.job:
            case "chat":
                return Result(text=self._chat(), usage=usage)
            case "plan":
                return Result(plan={"summary": "s", "tasks": make_tasks(faults)}, usage=usage)
            case "patch":
                return Result(patches=self._draw_patches(), plan={"summary": "s", "tasks": make_tasks(faults)})
            case "review":
                return Result(review={"pass": not faults.is_on or chance.random() < 0.7, "feedback": "f"})
            case "supervise":
                return Result(text=self._decide(turn))
            case "act":
                return self._play_part(turn)
            case _:
                return Result(text="done", usage=usage)

    def _chat(self) -> str:
        if not self._faults.is_on:
            return "that is all"
        return self._faults.chance.choice(
            ["ok", "[NEXT: carol]", "[NEXT: dave, bob!P1]", "[NEXT: alice] yours", "[DROP: all]", "[NEXT: adam]"]
        )

    def _draw_patches(self) -> tuple[dict[str, Any], ...]:
        chance = self._faults.chance
        add = {"op": "add", "task_id": f"x{chance.randint(1, 3)}", "changes": {"title": "More"}}
        remove = {"op": "remove", "task_id": chance.choice(TASK_IDS)}
        depend = {"op": "modify", "task_id": "b", "changes": {"depends_on": ["a"]}}
        return tuple(chance.sample([add, remove, depend], chance.randint(1, 3)))

    def _decide(self, turn: TurnInput) -> str:
        chance = self._faults.chance
        state = turn.brief.state if turn.brief else {}
        missing = [agent for agent in ROUND if not set(GOOD_STATES[agent]) <= {key for key in state if state[key]}]
        if not (state.get("reviewFeedback") or {}).get("approved"):
            missing.append("review_agent")
        if missing and (not self._faults.is_on or chance.random() < 0.7):
            agent = missing[0]
        elif self._faults.is_on and chance.random() < 0.5:
            agent = chance.choice([*STUDIO.supervisor.agents, "image_agent", "research_evidence_agent"])
        else:
            agent = "END"
        return msgspec.json.encode({"next_agent": agent, "guidance": "well"}).decode()

    def _play_part(self, turn: TurnInput) -> Result:
        chance = self._faults.chance
        agent = turn.brief.agent if turn.brief else ""
        state = dict(GOOD_STATES.get(agent, {}))
        if self._faults.is_on and chance.random() < MISSHAPEN:
            state = dict.fromkeys(state, "no object")
        if self._faults.is_on and agent == "review_agent" and chance.random() < 0.4:
            state["reviewFeedback"] = {"approved": False, "suggestions": ["shorter"]}
        calls = ({"name": "generate_image", "args": {"plan": "a"}},) if self._may_call(agent) else None
        ask = {"question": "Who?", "key": "who"} if self._faults.is_on and chance.random() < 0.1 else None
        return Result(text="acted", state=state, tool_calls=calls, ask=ask)

    def _may_call(self, agent: str) -> bool:
        settings = STUDIO.supervisor.agents.get(agent)
        is_able = settings is not None and settings.tools is not None
        return self._faults.is_on and is_able and self._faults.chance.random() < 0.6


def make_tool(faults: Faults) -> ToolFunction:
    async def draw(**_: Any) -> dict[str, str]:
        await asyncio.sleep(faults.chance.choice([0.0, 1.0]))
        if faults.strikes("tool fails"):
            raise RuntimeError("no ink")
        return {"asset": "a-1"}

    return draw


class SimUnderstander:
    """Understands anything as anything, now and then not at all."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    async def understand(self, request: SemanticInput) -> Understood:
        faults, chance = self._faults, self._faults.chance
        if faults.strikes("understander fails"):
            raise RuntimeError("no idea")
        if faults.strikes("understander hangs"):
            await asyncio.Event().wait()
        await asyncio.sleep(chance.choice([0.0, 0.2]))
        return Understood(analysis=self._draw(request))

    def _draw(self, request: SemanticInput) -> IntentAnalysis:
        chance = self._faults.chance
        if request.raw_input.startswith("control"):
            return control(chance.choice(["pause", "resume", "cancel", "status_query"]))
        confidence = chance.choice([0.5, 0.65, 0.95, 0.95])
        if chance.random() < 0.05:
            return analyse(chance.choice(RELATIONS), confidence, clarification="what?")
        return analyse(chance.choice(RELATIONS), confidence, must_confirm=chance.random() < 0.1)
