"""A model that is asked once for an answer. The library goes on asking where a stream ends without having begun."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext

from moot.core.errors import AgentError


class AskedOnce(WrapperModel):
    """It takes such a stream for a job in the background, which we never start, and fetches it up to ten times more."""

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
