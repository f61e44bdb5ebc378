"""A model whose calls are traced. Used only if telemetry is on."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext

from moot.core.session.usage import Usage
from moot.runtime import telemetry


class TracedModel(WrapperModel):
    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse, None]:
        with telemetry.model_call(self.system, self.model_name, self.base_url) as span:
            stream = super().request_stream(messages, model_settings, model_request_parameters, run_context)
            async with stream as response:
                yield response
                answer = response.get()
                spent = answer.usage
                usage = Usage(
                    input_tokens=spent.input_tokens,
                    output_tokens=spent.output_tokens,
                    cached_tokens=spent.cache_read_tokens,
                    thinking_tokens=spent.output_reasoning_tokens or 0,
                )
                model = answer.model_name or self.model_name
                span.note(usage=usage, model=model, finish=answer.finish_reason or "unknown")
