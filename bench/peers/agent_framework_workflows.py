"""Microsoft Agent Framework: workflows of executors that send each other messages; in memory, and with a file after
every step."""

import tempfile
from pathlib import Path
from typing import Any

from agent_framework import Executor, FileCheckpointStorage, WorkflowBuilder, WorkflowContext, handler
from workload import ROUNDS, TURNS, Clock, decide, read_decision, read_next, report, speak


class Speaker(Executor):
    """A member of the chat."""

    def __init__(self, name: str, clock: Clock) -> None:
        super().__init__(id=name)
        self._clock = clock

    @handler
    async def hear(self, message: str, context: WorkflowContext[str]) -> None:
        if self._clock.tick() < TURNS:
            text = speak(self.id)
            await context.send_message(text, target_id=read_next(text))


class Lead(Executor):
    """The supervisor."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(id="lead")
        self._clock = clock

    @handler
    async def hear(self, message: str, context: WorkflowContext[str]) -> None:
        number = self._clock.tick()
        if number < ROUNDS:
            text = decide(number)
            await context.send_message(text, target_id=read_decision(text))


class Worker(Executor):
    """Somebody whom the supervisor sends."""

    @handler
    async def hear(self, message: str, context: WorkflowContext[str]) -> None:
        await context.send_message("Written.", target_id="lead")


async def run(start: Executor, others: list[Executor], steps: int, *, durable: bool) -> None:
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as folder:
        storage: Any = FileCheckpointStorage(folder) if durable else None
        builder = WorkflowBuilder(max_iterations=steps, start_executor=start, checkpoint_storage=storage)
        for other in others:
            builder.add_edge(start, other)
            builder.add_edge(other, start)
        await builder.build().run("[NEXT: bob] go")


async def turns(*, durable: bool) -> float:
    clock = Clock(TURNS, durable=durable)
    await run(Speaker("bob", clock), [Speaker("carol", clock)], TURNS + 10, durable=durable)
    return clock.seconds()


async def rounds(*, durable: bool) -> float:
    clock = Clock(ROUNDS, durable=durable)
    await run(Lead(clock), [Worker(id="writer"), Worker(id="noter")], 2 * ROUNDS + 10, durable=durable)
    return clock.seconds()


async def turn() -> float:
    return await turns(durable=False)


async def turn_durable() -> float:
    return await turns(durable=True)


async def round_() -> float:
    return await rounds(durable=False)


async def round_durable() -> float:
    return await rounds(durable=True)


report(
    "agent-framework-core",
    {"turn": turn, "round": round_, "turn, durable": turn_durable, "round, durable": round_durable},
)
