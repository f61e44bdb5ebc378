"""OpenTelemetry spans for runs of sessions, turns, tasks, tools and model calls, after the GenAI conventions.

Only this module knows the names of the conventions, because they still change. OpenTelemetry is imported only if the
switch is on. Spans never contain what people and agents write. See docs/agents.md#spans.
"""

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec import Struct

from moot.core.errors import ConfigError, Refused
from moot.core.flows.turns import TurnInput
from moot.core.session.commands import CompleteTool, CompleteTurn, FailTurn, NackDispatch, ReportStep, WorkerCommand
from moot.core.session.state import Message
from moot.core.session.tool_use import ToolUse
from moot.core.session.usage import Usage
from moot.runtime.ports import Detachable, Dispatch, Handle, Report, Show, ToolJob, Worker

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer, TracerProvider

SWITCH = "MOOT_TELEMETRY"

OPERATION, PROVIDER = "gen_ai.operation.name", "gen_ai.provider.name"
CONVERSATION, AGENT_ID, AGENT_NAME = "gen_ai.conversation.id", "gen_ai.agent.id", "gen_ai.agent.name"
REQUEST_MODEL, RESPONSE_MODEL = "gen_ai.request.model", "gen_ai.response.model"
STREAM = "gen_ai.request.stream"
INPUT_TOKENS, OUTPUT_TOKENS = "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"
FINISH_REASONS, TOOL_NAME, TOOL_CALL_ID = "gen_ai.response.finish_reasons", "gen_ai.tool.name", "gen_ai.tool.call.id"
CACHED_TOKENS, THINKING_TOKENS = "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.reasoning.output_tokens"
WORKFLOW, ADDRESS, PORT = "gen_ai.workflow.name", "server.address", "server.port"
ERROR_TYPE = "error.type"
TEAM, TURN, JOB, TASK, COST = "moot.team", "moot.turn.id", "moot.job", "moot.task.id", "moot.cost_usd"

_PROVIDERS = {  # as the conventions call them, where it is not the same
    **dict.fromkeys(("openai-chat", "openai-responses"), "openai"),
    "google": "gcp.gemini",
    "mistral": "mistral_ai",
    "azure": "azure.ai.openai",
    "xai": "x_ai",
}


class _Scope(Struct, frozen=True):
    """What the spans of tools and model calls in a task need to know of the turn around them."""

    tracer: "Tracer"
    conversation: str


_scope: ContextVar[_Scope | None] = ContextVar("moot_scope", default=None)


class Player(Struct, frozen=True, kw_only=True):
    """What plays a member: the provider and name of its model where they are known.

    `traces_tools`: the agent makes spans of its tools itself.
    """

    provider: str = ""
    model: str = ""
    traces_tools: bool = False


FindPlayer = Callable[[str, str], Player]  # by the names of a team and of its member


def find_provider() -> "TracerProvider | None":
    """Return the tracer provider of the process, None if the switch is off.

    Raises:
        ConfigError: the switch is on and OpenTelemetry is not installed.
    """
    if os.environ.get(SWITCH, "").lower() not in ("1", "on", "true", "yes"):
        return None
    try:
        from opentelemetry import trace
    except ImportError:
        raise ConfigError(f"{SWITCH} is on, but there is no library for it: install moot[otel]") from None
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider):  # nobody has set up an export
        _export()
        provider = trace.get_tracer_provider()
    return provider


def _export() -> None:
    """Export spans by OTLP over HTTP, as the variables `OTEL_…` say, if the exporter of moot[otel] is installed."""
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        return
    name = os.environ.get("OTEL_SERVICE_NAME", "moot")
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def traced(dispatch: Dispatch, find_player: FindPlayer) -> Dispatch:
    """Wrap a dispatch so that it makes spans, if the switch is on."""
    provider = find_provider()
    return TracedDispatch(dispatch, provider, find_player) if provider else dispatch


def end_spans(dispatch: Dispatch) -> None:
    if isinstance(dispatch, TracedDispatch):
        dispatch.close()


def is_on() -> bool:
    """Whether this task is traced."""
    return _scope.get() is not None


def name_provider(provider: str) -> str:
    """Return what the conventions call a provider of models, given its name in a team file."""
    return _PROVIDERS.get(provider, provider)


class OptionalSpan:
    """A span, or nothing if tracing is off."""

    def __init__(self, span: "Span | None" = None) -> None:
        self._span = span

    def note(self, **values: Any) -> None:
        """Set attributes by their keys in `_ATTRIBUTES` (`usage`, `model`, `finish`)."""
        if self._span is not None:
            for name, value in values.items():
                self._span.set_attributes(_ATTRIBUTES[name](value))


_ATTRIBUTES: dict[str, Any] = {
    "usage": lambda usage: _usage_of(usage),
    "model": lambda name: {RESPONSE_MODEL: name},
    "finish": lambda reason: {FINISH_REASONS: [reason]},
}


@contextmanager
def model_call(provider: str, model: str, url: str | None = None) -> Iterator[OptionalSpan]:
    named = {OPERATION: "chat", PROVIDER: name_provider(provider), REQUEST_MODEL: model}
    attributes: dict[str, str | int] = {**named, STREAM: True}
    server = urlsplit(url or "")
    if server.hostname:
        port = server.port or (80 if server.scheme == "http" else 443)
        attributes |= {ADDRESS: server.hostname, PORT: port}
    with _child(f"chat {model}", attributes, is_client=True) as span:
        yield span


@contextmanager
def tool_call(name: str, call_id: str = "") -> Iterator[OptionalSpan]:
    with _child(f"execute_tool {name}", {OPERATION: "execute_tool", TOOL_NAME: name, TOOL_CALL_ID: call_id}) as span:
        yield span


@contextmanager
def _child(name: str, attributes: Mapping[str, str | int], *, is_client: bool = False) -> Iterator[OptionalSpan]:
    """Make a child of the turn's span. It does not become the current span: generators outlive contexts."""
    scope = _scope.get()
    if scope is None:
        yield OptionalSpan()
        return
    from opentelemetry.trace import SpanKind

    kind = SpanKind.CLIENT if is_client else SpanKind.INTERNAL
    span = scope.tracer.start_span(name, kind=kind, attributes={CONVERSATION: scope.conversation, **attributes})
    try:
        yield OptionalSpan(span)
    except BaseException as error:
        _fail(span, type(error).__name__)
        raise
    finally:
        span.end()


def _fail(span: "Span", error_type: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute(ERROR_TYPE, error_type)
    span.set_status(Status(StatusCode.ERROR))


def _usage_of(usage: Usage) -> dict[str, Any]:
    parts = {CACHED_TOKENS: usage.cached_tokens, THINKING_TOKENS: usage.thinking_tokens, COST: usage.cost_usd}
    known = {name: value for name, value in parts.items() if value}
    return {INPUT_TOKENS: usage.input_tokens, OUTPUT_TOKENS: usage.output_tokens, **known}


class _Run:
    """One run of a session: from its first turn until nothing of it is under way. Its span holds those of the run."""

    def __init__(self, span: "Span") -> None:
        self.span = span
        self.under_way: set[_Work] = set()


class TracedDispatch:
    """Wraps a dispatch and makes a span for each run of a session, each turn, task and tool call."""

    def __init__(self, inner: Dispatch, provider: "TracerProvider", find_player: FindPlayer) -> None:
        self._inner = inner
        self._tracer = provider.get_tracer("moot")
        self._find_player = find_player
        self._runs: dict[str, _Run] = {}

    def start(self, turn: TurnInput, team: str, report: Report, show: Show) -> Worker:
        run = self._find_run(turn.session_id, team)
        work = self._begin_turn(turn, team, run, run.span)
        with self._inside(work):
            return _TracedWorker(self._inner.start(turn, team, self._observe(report, work), show), self, work)

    def offer(self, turn: TurnInput, team: str, report: Report, show: Show) -> Worker:
        run = self._find_run(turn.session_id, team)
        attributes = {CONVERSATION: turn.session_id, TASK: turn.task_id}
        task = self.begin(f"task {turn.task_id}", run.span, attributes)
        work = self._begin_turn(turn, team, run, task, task)
        with self._inside(work):
            return _TracedWorker(self._inner.offer(turn, team, self._observe(report, work), show), self, work)

    def release(self, session_id: str) -> None:
        self._inner.release(session_id)

    async def list_live(self, session_id: str) -> Collection[str]:
        return await self._inner.list_live(session_id)

    def call(self, job: ToolJob, report: Report) -> Handle:
        run = self._find_run(job.session_id, job.team)
        attributes = {
            OPERATION: "execute_tool",
            CONVERSATION: job.session_id,
            AGENT_ID: job.member,
            TOOL_NAME: job.call.name,
            TOOL_CALL_ID: job.call.call_id,
        }
        span = self.begin(f"execute_tool {job.call.name}", run.span, attributes)
        work = self._add(_Work(self, job.session_id, (span,)), run)
        with self._inside(work):
            return _TracedHandle(self._inner.call(job, self._observe(report, work)), self, work)

    def close(self) -> None:
        """End the spans of all runs."""
        for run in self._runs.values():
            for work in run.under_way:
                work.end("cancelled")
            run.span.end()
        self._runs.clear()

    def settle(self, work: "_Work") -> None:
        """End the run that this was part of, if it has ended and nothing else of the run is under way."""
        run = self._runs.get(work.session_id)
        if run is None or not work.is_over:
            return
        run.under_way.discard(work)
        if not run.under_way:
            self._runs.pop(work.session_id).span.end()

    def _find_run(self, session_id: str, team: str) -> _Run:
        if session_id not in self._runs:
            attributes = {OPERATION: "invoke_workflow", WORKFLOW: team, CONVERSATION: session_id, TEAM: team}
            self._runs[session_id] = _Run(self.begin(f"invoke_workflow {team}", None, attributes))
        return self._runs[session_id]

    def _add(self, work: "_Work", run: _Run) -> "_Work":
        run.under_way.add(work)
        return work

    def _begin_turn(self, turn: TurnInput, team: str, run: _Run, parent: "Span", *around: "Span") -> "_Work":
        player = self._find_player(team, turn.member.id)
        attributes = {
            OPERATION: "invoke_agent",
            CONVERSATION: turn.session_id,
            AGENT_ID: turn.member.id,
            AGENT_NAME: turn.member.display_name,
            TURN: turn.turn_id,
            JOB: turn.job,
        }
        known = {PROVIDER: player.provider, REQUEST_MODEL: player.model}
        attributes |= {name: value for name, value in known.items() if value}
        span = self.begin(f"invoke_agent {turn.member.display_name}", parent, attributes, is_client=True)
        return self._add(_Work(self, turn.session_id, (span, *around), has_own_tools=player.traces_tools), run)

    def begin(
        self, name: str, parent: "Span | None", attributes: Mapping[str, str], *, is_client: bool = False
    ) -> "Span":
        from opentelemetry import trace
        from opentelemetry.context import Context

        context = trace.set_span_in_context(parent, Context()) if parent else Context()
        kind = trace.SpanKind.CLIENT if is_client else trace.SpanKind.INTERNAL
        return self._tracer.start_span(name, context, kind=kind, attributes=attributes)

    def _observe(self, report: Report, work: "_Work") -> Report:
        """Wrap a report function so that it also updates the spans, and ends them with the turn.

        What follows from a report has begun when it returns: only then is it known whether the run goes on.
        """

        async def report_observed(*commands: WorkerCommand) -> Refused | None:
            for command in commands:
                work.update(command)
            refused = await report(*commands)
            self.settle(work)
            return refused

        return report_observed

    @contextmanager
    def _inside(self, work: "_Work") -> Iterator[None]:
        """Make a span current, so that tools and model calls of tasks created in the block become its children."""
        from opentelemetry import trace

        token = _scope.set(_Scope(self._tracer, work.session_id))
        try:
            with trace.use_span(work.span, end_on_exit=False):
                yield
        finally:
            _scope.reset(token)


class _Work:
    """The spans of one turn, with those around it and those of the tools that its agent uses; or of one tool call."""

    def __init__(
        self, dispatch: TracedDispatch, session_id: str, spans: tuple["Span", ...], *, has_own_tools: bool = False
    ) -> None:
        self.session_id = session_id
        self.is_over = False
        self._dispatch = dispatch
        self._spans = spans
        self._has_own_tools = has_own_tools
        self._tools: dict[str, Span] = {}

    @property
    def span(self) -> "Span":
        return self._spans[0]

    def update(self, command: WorkerCommand) -> None:
        match command:
            case ReportStep(tool=ToolUse() as tool) if not self._has_own_tools:
                self._see_tool(tool)
            case ReportStep():
                kind = "thought" if command.thought else "action" if command.action else "observation"
                self.span.add_event("moot.step", {"moot.step.kind": kind})
            case CompleteTurn(usage=usage):
                self.span.set_attributes(_usage_of(usage))
                self.end()
            case FailTurn(error_type=error_type, usage=usage):
                self.span.set_attributes(_usage_of(usage))
                self.end(error_type)
            case NackDispatch():
                self.end("refused")
            case CompleteTool(error=error):
                self.end("tool" if error else "")
            case _:
                return

    def end(self, error_type: str = "") -> None:
        if self.is_over:
            return
        self.is_over = True
        for span in (*self._tools.values(), *self._spans):
            if error_type:
                _fail(span, error_type)
            span.end()

    def _see_tool(self, tool: ToolUse) -> None:
        """Make a span of a tool that a program uses, from its first step to its last, named by its kind."""
        if tool.id not in self._tools:
            attributes = {OPERATION: "execute_tool", TOOL_NAME: tool.kind, TOOL_CALL_ID: tool.id}
            self._tools[tool.id] = self._dispatch.begin(f"execute_tool {tool.kind}", self.span, attributes)
        if tool.is_over:
            span = self._tools.pop(tool.id)
            if tool.status == "failed":
                _fail(span, "tool")
            span.end()


class _TracedHandle:
    def __init__(self, handle: Handle, dispatch: TracedDispatch, work: _Work) -> None:
        self._handle = handle
        self._dispatch = dispatch
        self._work = work

    def cancel(self) -> None:
        self._handle.cancel()
        self._give_up()

    def detach(self) -> None:
        (self._handle.detach if isinstance(self._handle, Detachable) else self._handle.cancel)()
        self._give_up()

    def _give_up(self) -> None:
        if not self._work.is_over:  # not ended by a report
            self._work.end("cancelled")
            self._dispatch.settle(self._work)


class _TracedWorker(_TracedHandle):
    def __init__(self, worker: Worker, dispatch: TracedDispatch, work: _Work) -> None:
        super().__init__(worker, dispatch, work)
        self._worker = worker

    @property
    def is_alive(self) -> bool:
        return self._worker.is_alive

    @property
    def is_in_line(self) -> bool:
        return self._worker.is_in_line

    def answer(self, step_id: str, choice: str | None, answer: str | None = None) -> None:
        self._worker.answer(step_id, choice, answer)

    def bring(self, number: int, message: Message) -> None:
        self._worker.bring(number, message)
