"""Spans of a session, its turns and tasks, and the tools and model calls in them; nothing of it unless asked for."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from msgspec.structs import replace
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import moot
from moot.agents.llm.llm_agent import LlmAgent
from moot.app import open_app
from tests.agents.fake_models import Asked, Call, Reply, fake_models
from tests.runtime.apps import run
from tests.runtime.test_supervisor_runs import call, make_desk


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setenv("MOOT_TELEMETRY", "on")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    yield exporter
    provider.shutdown()


def named(exporter: InMemorySpanExporter, name: str) -> ReadableSpan:
    (span,) = [span for span in exporter.get_finished_spans() if span.name == name]
    return span


def parent_of(span: ReadableSpan) -> int:
    assert span.parent is not None
    return int(span.parent.span_id)


def id_of(span: ReadableSpan) -> int:
    assert span.context is not None
    return int(span.context.span_id)


def run_of(exporter: InMemorySpanExporter) -> ReadableSpan:
    (span,) = [span for span in exporter.get_finished_spans() if span.name.startswith("invoke_workflow ")]
    return span


def bob(url: str, **fields: Any) -> dict[str, Any]:
    agent = {"type": "llm", "model": "openai:small", "base_url": url, **fields}
    return {"id": "bob", "name": "Bob", "kind": "ai", "agent": agent}


async def talk(url: str, text: str, **fields: Any) -> None:
    team = {"language": "en", "members": [{"id": "ann", "kind": "human"}, bob(url, **fields)]}
    async with open_app(team) as app:
        session = await app.session()
        async for _ in session.say(text):
            pass


@run
async def test_a_turn_its_tool_and_its_model_calls_are_spans(spans: InMemorySpanExporter) -> None:
    """Session over turn over tool and model call, with the GenAI names; no text in any of them."""
    with fake_models(Reply(calls=(Call("add", {"a": 1, "b": 2}),)), "It is three.") as models:
        await talk(models.url, "[NEXT: bob] one and two?", tools=["tests.agents.functions:add"])
    session, turn = run_of(spans), named(spans, "invoke_agent Bob")
    tool = named(spans, "execute_tool add")
    calls = [span for span in spans.get_finished_spans() if span.name == "chat small"]
    assert session.parent is None
    assert parent_of(turn) == id_of(session)
    assert [parent_of(each) for each in (tool, *calls)] == [id_of(turn)] * 3
    said = dict(turn.attributes or {})
    assert (said["gen_ai.operation.name"], said["gen_ai.agent.id"], said["moot.turn.id"]) == (
        "invoke_agent",
        "bob",
        "t1",
    )
    assert (said["gen_ai.usage.input_tokens"], said["gen_ai.usage.output_tokens"]) == (200, 40)
    asked = dict(calls[0].attributes or {})
    assert (asked["gen_ai.request.model"], asked["gen_ai.usage.input_tokens"]) == ("small", 100)
    assert asked["server.address"] == "127.0.0.1"
    assert {span.kind for span in (turn, *calls)} == {trace.SpanKind.CLIENT}
    assert (said["gen_ai.provider.name"], said["gen_ai.request.model"]) == ("openai", "small")
    assert "three" not in "".join(span.to_json() for span in spans.get_finished_spans())


@run
async def test_a_call_of_a_model_is_told_as_the_conventions_ask(spans: InMemorySpanExporter, monkeypatch: Any) -> None:
    """The provider's name there, as in the turn; its conversation; cached tokens and those of thinking."""
    monkeypatch.setenv("GOOGLE_API_KEY", "k")
    reply = Reply(text="Three.", input_tokens=1000, output_tokens=50, cached_tokens=600, thinking_tokens=30)
    with fake_models(reply) as models:
        await talk(models.root, "[NEXT: bob] one and two?", model="google:small")
    call, turn = named(spans, "chat small"), named(spans, "invoke_agent Bob")
    said, around = dict(call.attributes or {}), dict(turn.attributes or {})
    assert said["gen_ai.provider.name"] == around["gen_ai.provider.name"] == "gcp.gemini"
    assert said["gen_ai.conversation.id"] == around["gen_ai.conversation.id"]
    assert said["gen_ai.request.stream"] is True
    for each in (said, around):
        usage = {name: value for name, value in each.items() if name.startswith("gen_ai.usage.")}
        assert usage == {
            "gen_ai.usage.input_tokens": 1000,
            "gen_ai.usage.cache_read.input_tokens": 600,
            "gen_ai.usage.output_tokens": 50,
            "gen_ai.usage.reasoning.output_tokens": 30,
        }


@run
async def test_a_failed_turn_says_so(spans: InMemorySpanExporter) -> None:
    """The type of the error stands in the span, and the status is an error."""
    with fake_models(401) as models:
        await talk(models.url, "[NEXT: bob] hello")
    turn = named(spans, "invoke_agent Bob")
    assert (turn.attributes or {})["error.type"] == "auth"
    assert not turn.status.is_ok


@run
async def test_a_task_is_a_span_around_its_turn(spans: InMemorySpanExporter) -> None:
    """A task of a plan, from its offer to its end."""

    def work(asked: Asked) -> str:
        is_plan = "Plan the work" in asked.prompt
        return json.dumps({"tasks": [{"id": "a", "title": "Collect"}]}) if is_plan else "Done."

    with fake_models(work) as models:
        team = {
            "flow": "plan",
            "language": "en",
            "members": [
                {"id": "ann", "kind": "human"},
                {**bob(models.url), "role": "planner"},
                {**bob(models.url), "id": "w", "name": "W"},
            ],
            "plan": {"confirm": "never"},
        }
        async with open_app(team) as app:
            session = await app.session()
            async for _ in session.say("make a poster"):
                pass
    task, turn = named(spans, "task a"), named(spans, "invoke_agent W")
    assert parent_of(turn) == id_of(task)
    assert parent_of(task) == id_of(run_of(spans))
    assert (turn.attributes or {})["moot.job"] == "solve"


@run
async def test_a_turn_that_is_stopped_ends_its_span(spans: InMemorySpanExporter) -> None:
    """No span stays open."""
    with fake_models(Reply(text="Once upon a time", stall_after=1)) as models:
        team = {"language": "en", "members": [{"id": "ann", "kind": "human"}, bob(models.url)]}
        async with open_app(team) as app:
            session = await app.session()
            telling = session.say("[NEXT: bob] tell")
            async for event in telling:
                if event.name == "turn.started":
                    break
    assert (named(spans, "invoke_agent Bob").attributes or {})["error.type"] == "cancelled"


def test_nothing_is_imported_unless_asked_for() -> None:
    """Off, it costs nothing; models cost nothing before they are used either."""
    heavy = ("opentelemetry", "pydantic_ai", "openai", "fastmcp")
    code = f"import sys, moot.app, moot.cli.run; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@run
async def test_a_tool_between_turns_is_a_span(spans: InMemorySpanExporter) -> None:
    """Tools that Moot runs for an agent of the supervisor flow, also when they fail."""

    def draw(what: str) -> str:
        raise ValueError(what)

    async with open_app(make_desk(call("draw", what="fox"), "drawn"), tools={"draw": draw}) as app:
        session = await app.session()
        async for _ in session.say("a fox, please"):
            pass
    tool, whole = named(spans, "execute_tool draw"), run_of(spans)
    assert ((tool.attributes or {})["gen_ai.agent.id"], tool.status.is_ok) == ("artist", False)
    assert tool.parent is not None
    assert tool.parent.span_id == whole.context.span_id


@run
async def test_a_run_is_one_span_and_tools_of_programs_have_names(spans: InMemorySpanExporter) -> None:
    """Turns that follow each other are one run; what people say next begins another. Titles of tools stay out."""
    use = moot.ToolUse(id="call_1", kind="execute", title="cat secret.txt")

    async def work(turn: moot.Turn) -> AsyncIterator[Any]:
        yield moot.Step(action="x", tool=use)
        yield moot.Step(observation="y", tool=replace(use, status="completed"))
        yield moot.Result(text="[NEXT: bob] go on" if turn.member.id == "al" else "done")

    async def answer(_turn: moot.Turn) -> str:
        return "ok"

    team = moot.team(moot.human("ann"), moot.ai("al", work), moot.ai("bob", answer))
    async with moot.open(team) as app:
        session = await app.session()
        for text in ("[NEXT: al] hello", "[NEXT: bob] and again"):
            async for _ in session.say(text):
                pass
        done = [span.name for span in spans.get_finished_spans()]
        assert sum(name.startswith("invoke_workflow") for name in done) == 2  # exported while the process goes on
    tool = named(spans, "execute_tool execute")
    assert parent_of(tool) == id_of(named(spans, "invoke_agent al"))
    assert "secret" not in "".join(span.to_json() for span in spans.get_finished_spans())


@pytest.mark.parametrize(
    ("model", "url", "named"),
    [
        ("openai:gpt-5-mini", None, ("openai", "gpt-5-mini")),
        ("openai-chat:x", "http://127.0.0.1:9/v1", ("openai", "x")),
        ("llama3:8b", "http://127.0.0.1:9/v1", ("openai", "llama3:8b")),
        ("google:gemini-3.5-flash", None, ("gcp.gemini", "gemini-3.5-flash")),
    ],
)
def test_a_provider_has_its_name_of_the_conventions(model: str, url: str | None, named: tuple[str, str]) -> None:
    """That of the API that is spoken; a colon in the name of a local model is part of it."""
    assert LlmAgent(model=model, base_url=url).name_model() == named
