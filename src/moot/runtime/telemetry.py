"""OpenTelemetry spans for sessions, turns, tasks, tools and model calls, after the GenAI conventions.

Only this module knows the names of the conventions, because they still change. OpenTelemetry is imported only if the
switch is on. Spans never contain what people and agents write. See docs/agents.md#spans.
"""

import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from moot.core.errors import ConfigError
from moot.core.flows.turns import TurnInput
from moot.core.session.commands import CompleteTool, CompleteTurn, FailTurn, NackDispatch, ReportStep, WorkerCommand
from moot.core.session.usage import Usage
from moot.runtime.ports import Dispatch, Handle, Report, Show, ToolJob, Worker

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer, TracerProvider

SWITCH = "MOOT_TELEMETRY"
SESSIONS = 1_000  # with an open span; beyond that the least recently used span is ended

OPERATION, PROVIDER = "gen_ai.operation.name", "gen_ai.provider.name"
CONVERSATION, AGENT_ID, AGENT_NAME = "gen_ai.conversation.id", "gen_ai.agent.id", "gen_ai.agent.name"
REQUEST_MODEL, RESPONSE_MODEL = "gen_ai.request.model", "gen_ai.response.model"
INPUT_TOKENS, OUTPUT_TOKENS = "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"
FINISH_REASONS, TOOL_NAME, TOOL_CALL_ID = "gen_ai.response.finish_reasons", "gen_ai.tool.name", "gen_ai.tool.call.id"
ERROR_TYPE = "error.type"
TEAM, TURN, JOB, TASK, COST = "moot.team", "moot.turn.id", "moot.job", "moot.task.id", "moot.cost_usd"

_tracer: ContextVar["Tracer | None"] = ContextVar("moot_tracer", default=None)


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
    return trace.get_tracer_provider()


def traced(dispatch: Dispatch) -> Dispatch:
    """Wrap a dispatch so that it makes spans, if the switch is on."""
    provider = find_provider()
    return TracedDispatch(dispatch, provider) if provider else dispatch


def end_spans(dispatch: Dispatch) -> None:
    if isinstance(dispatch, TracedDispatch):
        dispatch.close()


def is_on() -> bool:
    """Whether this task is traced."""
    return _tracer.get() is not None


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
def model_call(provider: str, model: str) -> Iterator[OptionalSpan]:
    with _child(f"chat {model}", {OPERATION: "chat", PROVIDER: provider, REQUEST_MODEL: model}) as span:
        yield span


@contextmanager
def tool_call(name: str, call_id: str = "") -> Iterator[OptionalSpan]:
    with _child(f"execute_tool {name}", {OPERATION: "execute_tool", TOOL_NAME: name, TOOL_CALL_ID: call_id}) as span:
        yield span


@contextmanager
def _child(name: str, attributes: Mapping[str, str]) -> Iterator[OptionalSpan]:
    """Make a child of the turn's span. It does not become the current span: generators outlive contexts."""
    tracer = _tracer.get()
    if tracer is None:
        yield OptionalSpan()
        return
    span = tracer.start_span(name, attributes=attributes)
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
    cost = {COST: usage.cost_usd} if usage.cost_usd else {}
    return {INPUT_TOKENS: usage.input_tokens, OUTPUT_TOKENS: usage.output_tokens, **cost}


class TracedDispatch:
    """Wraps a dispatch and makes a span for each session, turn, task and tool call."""

    def __init__(self, inner: Dispatch, provider: "TracerProvider") -> None:
        self._inner = inner
        self._tracer = provider.get_tracer("moot")
        self._sessions: OrderedDict[str, Span] = OrderedDict()

    def start(self, turn: TurnInput, team: str, report: Report, show: Show) -> Worker:
        span = self._begin_turn(turn, self._session(turn.session_id, team))
        with self._inside(span):
            return _TracedWorker(self._inner.start(turn, team, _observe(report, span), show), (span,))

    def offer(self, turn: TurnInput, team: str, report: Report, show: Show) -> Worker:
        attributes = {CONVERSATION: turn.session_id, TASK: turn.task_id}
        task = self._begin(f"task {turn.task_id}", self._session(turn.session_id, team), attributes)
        span = self._begin_turn(turn, task)
        with self._inside(span):
            return _TracedWorker(self._inner.offer(turn, team, _observe(report, span, task), show), (span, task))

    def call(self, job: ToolJob, report: Report) -> Handle:
        attributes = {
            OPERATION: "execute_tool",
            CONVERSATION: job.session_id,
            AGENT_ID: job.member,
            TOOL_NAME: job.call.name,
            TOOL_CALL_ID: job.call.call_id,
        }
        span = self._begin(f"execute_tool {job.call.name}", self._session(job.session_id, job.team), attributes)
        with self._inside(span):
            return _TracedHandle(self._inner.call(job, _observe(report, span)), (span,))

    def close(self) -> None:
        """End the spans of all sessions."""
        for span in self._sessions.values():
            span.end()
        self._sessions.clear()

    def _session(self, session_id: str, team: str) -> "Span":
        if session_id not in self._sessions:
            while len(self._sessions) >= SESSIONS:
                self._sessions.popitem(last=False)[1].end()
            self._sessions[session_id] = self._begin("session", None, {CONVERSATION: session_id, TEAM: team})
        self._sessions.move_to_end(session_id)
        return self._sessions[session_id]

    def _begin_turn(self, turn: TurnInput, parent: "Span") -> "Span":
        attributes = {
            OPERATION: "invoke_agent",
            CONVERSATION: turn.session_id,
            AGENT_ID: turn.member.id,
            AGENT_NAME: turn.member.display_name,
            TURN: turn.turn_id,
            JOB: turn.job,
        }
        return self._begin(f"invoke_agent {turn.member.display_name}", parent, attributes)

    def _begin(self, name: str, parent: "Span | None", attributes: Mapping[str, str]) -> "Span":
        from opentelemetry import trace
        from opentelemetry.context import Context

        context = trace.set_span_in_context(parent, Context()) if parent else Context()
        return self._tracer.start_span(name, context, attributes=attributes)

    @contextmanager
    def _inside(self, span: "Span") -> Iterator[None]:
        """Make the span current, so that tools and model calls of tasks created in the block become its children."""
        from opentelemetry import trace

        token = _tracer.set(self._tracer)
        try:
            with trace.use_span(span, end_on_exit=False):
                yield
        finally:
            _tracer.reset(token)


class _TracedHandle:
    def __init__(self, handle: Handle, spans: tuple["Span", ...]) -> None:
        self._handle = handle
        self._spans = spans

    def cancel(self) -> None:
        self._handle.cancel()
        for span in self._spans:
            if span.is_recording():  # not ended by a report
                _fail(span, "cancelled")
                span.end()


class _TracedWorker(_TracedHandle):
    def __init__(self, worker: Worker, spans: tuple["Span", ...]) -> None:
        super().__init__(worker, spans)
        self._worker = worker

    @property
    def is_alive(self) -> bool:
        return self._worker.is_alive

    @property
    def is_in_line(self) -> bool:
        return self._worker.is_in_line

    def answer(self, step_id: str, choice: str | None) -> None:
        self._worker.answer(step_id, choice)


def _observe(report: Report, *spans: "Span") -> Report:
    """Wrap a report function so that it also updates the spans, and ends them with the turn."""

    async def report_observed(*commands: WorkerCommand) -> None:
        for command in commands:
            _update_spans(command, spans)
        await report(*commands)

    return report_observed


def _update_spans(command: WorkerCommand, spans: tuple["Span", ...]) -> None:
    match command:
        case ReportStep():
            kind = "thought" if command.thought else "action" if command.action else "observation"
            spans[0].add_event("moot.step", {"moot.step.kind": kind})
            return
        case CompleteTurn(usage=usage):
            spans[0].set_attributes(_usage_of(usage))
        case FailTurn(error_type=error_type, usage=usage):
            spans[0].set_attributes(_usage_of(usage))
            for span in spans:
                _fail(span, error_type)
        case NackDispatch():
            for span in spans:
                _fail(span, "refused")
        case CompleteTool(error=error):
            if error:
                _fail(spans[0], "tool")
        case _:
            return
    for span in spans:
        span.end()
