"""Asks a model one question; used by the understander."""

import asyncio
from typing import TYPE_CHECKING, Any

from moot.agents.llm.model_failures import explain
from moot.agents.llm.models import ModelAddress, open_model
from moot.agents.prices import add_cost
from moot.core.errors import AgentError
from moot.core.session.attachments import HandedFile
from moot.core.session.usage import Usage
from moot.runtime.ports import Result

if TYPE_CHECKING:
    from pydantic_ai.models import Model

TIMEOUT_S = 60.0


class ModelClient:
    """A model that answers single prompts.

    Args:
        model: `provider:name`; the provider may be left out with `base_url`.
        base_url: an OpenAI-compatible endpoint.
        key: the name of the environment variable with its key.
        timeout_s: for one answer.
    """

    def __init__(
        self, model: str, base_url: str | None = None, key: str | None = None, timeout_s: float = TIMEOUT_S
    ) -> None:
        self._address = ModelAddress(name=model, base_url=base_url, key=key)
        self._timeout_s = timeout_s
        self._model: Model | None = None

    async def complete_json(self, prompt: str, schema: dict[str, Any], images: tuple[HandedFile, ...] = ()) -> Result:
        """Return the model's text with what it cost, which should be JSON of this schema but is not checked.

        Raises:
            AgentError: config, auth, rate_limit, timeout, network or agent.
        """
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._request(prompt, schema, images)
        except TimeoutError:
            raise AgentError("timeout", f"{self._address.name} did not answer in {self._timeout_s:g} s") from None

    async def _request(self, prompt: str, schema: dict[str, Any], images: tuple[HandedFile, ...]) -> Result:
        if self._model is None:
            # The library takes a second to load; other sessions must not wait for it.
            self._model = await asyncio.to_thread(self._open)
        from pydantic_ai import ModelRequest, UserPromptPart
        from pydantic_ai.direct import model_request
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition
        from pydantic_ai.settings import ModelSettings

        parameters = ModelRequestParameters(
            output_mode="prompted",
            output_object=OutputObjectDefinition(json_schema=schema, name="answer"),
            prompted_output_template=False,  # our prompts carry the schema themselves
            allow_text_output=True,
        )
        # The library must not retry: the caller does, and knows the budget.
        settings = ModelSettings(max_retries=0, timeout=self._timeout_s)
        from moot.agents.llm.model_files import attach

        parts = attach(images, self._address)
        messages = [ModelRequest(parts=[UserPromptPart([prompt, *parts] if parts else prompt)])]
        try:
            async with self._model:
                answer = await model_request(
                    self._model, messages, model_settings=settings, model_request_parameters=parameters
                )
        except Exception as error:  # the library does not check everything that a server may send
            raise explain(error, self._address) from None
        spent = answer.usage
        usage = Usage(
            input_tokens=spent.input_tokens, output_tokens=spent.output_tokens, cached_tokens=spent.cache_read_tokens
        )
        return Result(text=answer.text or "", usage=await add_cost(usage, self._address.name))

    def _open(self) -> "Model":
        model = open_model(self._address)  # first: it raises AgentError when the library is not installed
        import pydantic_ai.direct  # noqa: F401 - a request then has nothing left to import on the event loop

        return model
