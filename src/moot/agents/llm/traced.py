"""A model whose calls are spans. Used only where somebody looks at them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext

from moot.core.usage import Usage
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
        with telemetry.model_call(self.system, self.model_name) as noted:
            opened = super().request_stream(messages, model_settings, model_request_parameters, run_context)
            async with opened as response:
                yield response
                said = response.get()
                used = Usage(input_tokens=said.usage.input_tokens, output_tokens=said.usage.output_tokens)
                noted.note(usage=used, model=said.model_name or self.model_name, finish=said.finish_reason or "unknown")
