"""One question to a model and its answer, for whoever needs no member: the understander."""

import asyncio
from typing import TYPE_CHECKING, Any

from moot.agents.llm.failures import explain
from moot.agents.llm.models import HINT, ModelAddress, open_model
from moot.core.errors import AgentError

if TYPE_CHECKING:
    from pydantic_ai.models import Model

TIMEOUT_S = 60.0


class ModelClient:
    """A model `provider:name`. `base_url` is an OpenAI-compatible endpoint; then the provider may be left out."""

    def __init__(
        self, model: str, base_url: str | None = None, key: str | None = None, timeout_s: float = TIMEOUT_S
    ) -> None:
        self._address = ModelAddress(name=model, base_url=base_url, key=key)
        self._timeout_s = timeout_s
        self._model: Model | None = None

    async def complete_json(self, prompt: str, schema: dict[str, Any]) -> str:
        """The model's text, hopefully JSON of this schema.

        AgentError of type config, auth, rate_limit, timeout, network or agent.
        """
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._request(prompt, schema)
        except TimeoutError:
            raise AgentError("timeout", f"{self._address.name} did not answer in {self._timeout_s:g} s") from None

    async def _request(self, prompt: str, schema: dict[str, Any]) -> str:
        try:
            from pydantic_ai import ModelRequest
            from pydantic_ai.direct import model_request
            from pydantic_ai.models import ModelRequestParameters
            from pydantic_ai.output import OutputObjectDefinition
            from pydantic_ai.settings import ModelSettings
        except ImportError:
            raise AgentError("config", f"no library for models: {HINT}") from None
        wanted = ModelRequestParameters(
            output_mode="prompted",
            output_object=OutputObjectDefinition(json_schema=schema, name="answer"),
            prompted_output_template=False,  # our prompts carry the schema themselves
            allow_text_output=True,
        )
        if self._model is None:
            self._model = open_model(self._address)
        # Retrying is the plan's business, not the library's: it knows the budget and says what it does.
        settings = ModelSettings(max_retries=0, timeout=self._timeout_s)
        asked = [ModelRequest.user_text_prompt(prompt)]
        try:
            async with self._model:
                said = await model_request(self._model, asked, model_settings=settings, model_request_parameters=wanted)
        except Exception as error:  # the library does not check all that a server may send
            raise explain(error, self._address) from None
        return said.text or ""
