"""Opens a model by its name, `provider:name`, at its provider or at another URL.

Keys come from the environment only; `key` is always the name of the variable.
"""

import os
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec import Struct

from moot.core.errors import AgentError
from moot.core.session.attachments import IMAGES

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider

HINT = "install moot[llm] to use models"
NO_KEY = "none"  # local servers need no key, but the client libraries insist on a string
OWN_API = ("anthropic", "google", "openai-responses")  # with a base_url all others are used as OpenAI chat
KEY_NAMES = {
    "openai-chat": "OPENAI_API_KEY",
    "openai-responses": "OPENAI_API_KEY",
    "google": "GOOGLE_API_KEY",
    "cohere": "CO_API_KEY",
    "huggingface": "HF_TOKEN",
    "github": "GITHUB_API_KEY",
    "azure": "AZURE_OPENAI_API_KEY",
}  # others: the provider's name with _API_KEY
# With a base_url only these count as a provider before a colon; else it is part of the model's name, as in llama3:8b.
PROVIDERS = (
    *("openai", "openai-chat", "openai-responses", "anthropic", "google", "groq", "mistral", "deepseek", "openrouter"),
    *("ollama", "vllm", "litellm", "together", "fireworks", "cerebras", "xai", "azure"),
)
_LOOPBACK = re.compile(r"127\.\d{1,3}\.\d{1,3}\.\d{1,3}")
_ENVIRONMENT_NAME = re.compile(r"`([A-Z][A-Z0-9_]{3,})`")


class ModelAddress(Struct, frozen=True, kw_only=True):
    """Where a model is found. With `base_url` the provider may be left out; `key` is a variable's name."""

    name: str
    base_url: str | None = None
    key: str | None = None

    @property
    def provider(self) -> str:
        provider, colon, _ = self.name.partition(":")
        return provider if colon and (self.base_url is None or provider in PROVIDERS) else "openai"

    @property
    def model(self) -> str:
        return self.name.removeprefix(f"{self.provider}:")

    @property
    def sees(self) -> tuple[str, ...]:
        """The types of files that are given to the model: pictures, and PDF where the provider's own API takes it."""
        takes_documents = self.provider in OWN_API or (self.provider == "openai" and self.base_url is None)
        return (*IMAGES, "application/pdf") if takes_documents else IMAGES

    @property
    def names_provider(self) -> bool:
        provider, colon, _ = self.name.partition(":")
        return bool(colon) and provider == self.provider

    @property
    def key_name(self) -> str:
        """The variable whose value is sent as the key; empty if none is.

        A server on this machine gets a key only if the team file names the key or the provider.
        """
        if self.base_url and is_local(self.base_url) and not self.key and not self.names_provider:
            return ""
        usual = f"{self.provider.upper().replace('-', '_').replace('/', '_')}_API_KEY"
        return self.key or KEY_NAMES.get(self.provider, usual)


def is_local(url: str) -> bool:
    """Whether a URL points to this machine."""
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or _LOOPBACK.fullmatch(host) is not None


def open_model(address: ModelAddress) -> "Model":
    """Open a model. Raises AgentError: config if library or model is missing, auth if the key is."""
    os.environ.setdefault("PYDANTIC_AI_NO_BANNER", "1")  # the library prints a banner to stderr
    try:
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import infer_model
    except ImportError:
        raise AgentError("config", f"no library for models: {HINT}") from None
    try:
        if address.base_url is None and address.key is None:
            return infer_model(f"{address.provider}:{address.model}")
        kind = address.provider if address.base_url is None or address.provider in OWN_API else "openai-chat"
        return infer_model(f"{kind}:{address.model}", lambda _: _make_provider(kind, address))
    except ImportError as error:
        package = f"pip install 'pydantic-ai-slim[{address.provider}]'"
        raise AgentError("config", f"{address.name} needs a library ({error.name}): {HINT}, or {package}") from None
    except UserError as error:
        raise _explain(address, error) from None
    except ValueError as error:
        raise AgentError("config", f"{address.name} cannot be used: {type(error).__name__}; {HINT}") from None


def _make_provider(kind: str, address: ModelAddress) -> "Provider[Any]":
    from pydantic_ai.providers import infer_provider_class

    key = os.environ.get(address.key_name, "")
    if not key and address.base_url is None:
        raise AgentError("auth", f"{address.name} needs a key: set {address.key_name}")
    options: dict[str, Any] = {"api_key": key or NO_KEY}
    if address.base_url:
        options["base_url"] = address.base_url
    return infer_provider_class(kind)(**options)


def _explain(address: ModelAddress, error: Exception) -> AgentError:
    """Find the missing variable in the library's message."""
    names = [name for name in _ENVIRONMENT_NAME.findall(str(error)) if not os.environ.get(name)]
    if names:
        return AgentError("auth", f"{address.name} needs a key: set {names[0]}")
    return AgentError("config", f"{address.name} cannot be used: no such provider or model; {HINT}")
