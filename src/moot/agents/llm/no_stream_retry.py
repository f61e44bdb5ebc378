"""Keeps the library from requesting an answer again when a stream ends before it began."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext

from moot.core.errors import AgentError


class NoStreamRetry(WrapperModel):
    """Fails such a request. The library would take it for a background job and fetch it up to ten times more."""

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse, None]:
        if isinstance(messages[-1], ModelResponse):
            raise AgentError("network", f"{self.model_name}: the stream ended before the answer did")
        async with super().request_stream(messages, model_settings, model_request_parameters, run_context) as response:
            yield response
