"""LangGraph: graphs whose nodes say where to go; without a checkpointer, and with SQLite after every step."""

import operator
import tempfile
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, RetryPolicy, Send
from workload import (
    AT_ONCE,
    EVERY,
    PLANS,
    RESULT,
    ROUNDS,
    TASKS,
    TURNS,
    Clock,
    decide,
    read_decision,
    read_next,
    report,
    speak,
)


class Chat(TypedDict):
    messages: Annotated[list[str], operator.add]


class Plan(TypedDict):
    results: Annotated[list[str], operator.add]


async def run(graph: StateGraph, given: dict[str, Any], steps: int, *, durable: bool, times: int = 1) -> None:
    config: Any = {"recursion_limit": steps, "max_concurrency": AT_ONCE}
    if not durable:
        compiled = graph.compile()
        for _ in range(times):
            await compiled.ainvoke(given, config)
        return
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as folder:
        async with AsyncSqliteSaver.from_conn_string(f"{folder}/graph.db") as saver:
            compiled = graph.compile(checkpointer=saver)
            for number in range(times):
                settings = {**config, "configurable": {"thread_id": str(number)}}
                await compiled.ainvoke(given, settings, durability="sync")


async def turns(*, durable: bool) -> float:
    clock = Clock(TURNS, durable=durable)

    def make_node(member: str) -> Any:
        async def node(_state: Chat) -> Command:
            text = speak(member)
            is_over = clock.tick() >= TURNS
            return Command(update={"messages": [text]}, goto=END if is_over else read_next(text))

        return node

    graph = StateGraph(Chat)
    for name in ("bob", "carol"):
        graph.add_node(name, make_node(name), destinations=("bob", "carol", END))
    graph.add_edge(START, "bob")
    await run(graph, {"messages": ["go"]}, TURNS + 10, durable=durable)
    return clock.seconds()


async def rounds(*, durable: bool) -> float:
    clock = Clock(ROUNDS, durable=durable)

    async def lead(_state: Chat) -> Command:
        number = clock.tick()
        text = decide(number)
        return Command(update={"messages": [text]}, goto=END if number >= ROUNDS else read_decision(text))

    async def write(_state: Chat) -> Command:
        return Command(update={"messages": ["Written."]}, goto="lead")

    graph = StateGraph(Chat)
    graph.add_node("lead", lead, destinations=("writer", "noter", END))
    graph.add_node("writer", write, destinations=("lead",))
    graph.add_node("noter", write, destinations=("lead",))
    graph.add_edge(START, "lead")
    await run(graph, {"messages": ["go"]}, 2 * ROUNDS + 10, durable=durable)
    return clock.seconds()


async def tasks(*, durable: bool) -> float:
    now, failed = Clock(PLANS, durable=durable).now, set[int]()

    def fan_out(_state: Plan) -> list[Send]:
        failed.clear()
        return [Send("work", {"number": number}) for number in range(TASKS)]

    async def work(state: Any) -> dict[str, list[str]]:
        number = state["number"]
        if number % EVERY == 0 and number not in failed:
            failed.add(number)
            raise ConnectionError("the first time it fails")
        return {"results": [RESULT]}

    graph = StateGraph(Plan)
    retry = RetryPolicy(initial_interval=0, backoff_factor=1, max_interval=0, jitter=False, retry_on=ConnectionError)
    graph.add_node("work", work, retry_policy=retry)
    graph.add_conditional_edges(START, fan_out, ["work"])
    graph.add_edge("work", END)
    await run(graph, {"results": []}, 10, durable=durable)
    start = now()
    await run(graph, {"results": []}, 10, durable=durable, times=PLANS)
    return (now() - start) / PLANS / TASKS


async def turn() -> float:
    return await turns(durable=False)


async def turn_durable() -> float:
    return await turns(durable=True)


async def round_() -> float:
    return await rounds(durable=False)


async def round_durable() -> float:
    return await rounds(durable=True)


async def task() -> float:
    return await tasks(durable=False)


async def task_durable() -> float:
    return await tasks(durable=True)


report(
    "langgraph",
    {
        "turn": turn,
        "round": round_,
        "task": task,
        "turn, durable": turn_durable,
        "round, durable": round_durable,
        "task, durable": task_durable,
    },
)
