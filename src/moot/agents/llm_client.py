"""The one place that talks to models: pydantic-ai behind a function that takes a prompt and gives text.

Imported when a model is first asked: the library is an optional extra (`pip install moot[llm]`) and slow to load.
Keys come from the environment only and appear in no message.
"""

import asyncio
import os
from typing import TYPE_CHECKING, Any

from moot.core.errors import AgentError

if TYPE_CHECKING:
    from pydantic_ai.models import Model

TIMEOUT_S = 60.0
NO_KEY = "none"  # endpoints on one's own machine want none, the client library insists on a string
_HINT = "install moot[llm] to use models"


class ModelClient:
    """A model `provider:name`. `base_url` is an OpenAI-compatible endpoint; then the provider may be left out."""

    def __init__(
        self, model: str, base_url: str | None = None, key_name: str = "OPENAI_API_KEY", timeout_s: float = TIMEOUT_S
    ) -> None:
        self._name = model
        self._base_url = base_url
        self._key_name = key_name
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
            raise AgentError("timeout", f"{self._name} did not answer in {self._timeout_s:g} s") from None

    async def _request(self, prompt: str, schema: dict[str, Any]) -> str:
        try:
            from pydantic_ai import ModelRequest, exceptions
            from pydantic_ai.direct import model_request
            from pydantic_ai.models import ModelRequestParameters
            from pydantic_ai.output import OutputObjectDefinition
        except ImportError:
            raise AgentError("config", f"no library for models: {_HINT}") from None
        wanted = ModelRequestParameters(
            output_mode="prompted",
            output_object=OutputObjectDefinition(json_schema=schema, name="answer"),
            prompted_output_template=False,  # our prompts carry the schema themselves
            allow_text_output=True,
        )
        model = self._find_model()
        try:
            said = await model_request(model, [ModelRequest.user_text_prompt(prompt)], model_request_parameters=wanted)
        except exceptions.ModelHTTPError as error:
            raise self._explain(error.status_code, error.retry_after) from None
        except exceptions.ModelConnectionError:
            raise AgentError("network", f"{self._name} cannot be reached") from None
        except Exception as error:  # the library does not check all that a server may send
            raise AgentError("agent", f"{self._name} failed: {type(error).__name__}") from None
        return said.text or ""

    def _find_model(self) -> "Model":
        if self._model is None:
            self._model = self._make_model()
        return self._model

    def _make_model(self) -> "Model":
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import infer_model

        provider, _, name = self._name.rpartition(":")
        try:
            if self._base_url is None and provider not in ("", "openai"):
                return infer_model(self._name)
            return self._openai(name)
        except (ImportError, UserError, ValueError) as error:
            raise AgentError("config", f"{self._name} cannot be used: {type(error).__name__}; {_HINT}") from None

    def _openai(self, name: str) -> "Model":
        from openai import AsyncOpenAI
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        key = os.environ.get(self._key_name, "")
        if not key and self._base_url is None:
            raise AgentError("auth", f"{self._name} needs a key: set {self._key_name}")
        # Retrying is the plan's business, not the library's: it knows the budget and says what it does.
        client = AsyncOpenAI(api_key=key or NO_KEY, base_url=self._base_url, max_retries=0, timeout=self._timeout_s)
        return OpenAIChatModel(name, provider=OpenAIProvider(openai_client=client))

    def _explain(self, status: int, retry_after_s: float | None) -> AgentError:
        match status:
            case 401 | 403:
                return AgentError("auth", f"{self._name} refused the key ({status}): check {self._key_name}")
            case 429:
                return AgentError("rate_limit", f"{self._name} is busy (429)", retry_after_s or 0.0)
            case 404 | 400 | 422:
                return AgentError("config", f"{self._name} does not take this request ({status})")
            case _:
                return AgentError("agent", f"{self._name} failed ({status})", retry_after_s or 0.0)
